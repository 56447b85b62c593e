package refserver

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Every field of a record must affect the result of its conversion, and every field of the result must come from a field of the
// record, except those that the case names. A new field that convert.go does not handle fails the test.
func TestNoFieldIsForgotten(t *testing.T) {
	for _, c := range []struct {
		convert any    // a function of one record
		unread  string // fields of the record that the result does not show
		unset   string // fields of the result that come from elsewhere
	}{
		{convert: internalTemplate, unset: "ID OwnerID Archived CreatedAt UpdatedAt"},
		{convert: internalRole},
		{convert: internalField},
		{convert: internalForm, unset: "ID CreatedAt"},
		{convert: internalDocument, unread: "Draft", unset: "ID Kind TemplateID OwnerID Status Archived Variables Values Mail " +
			"ExpiresAt CreatedAt UpdatedAt SentAt CompletedAt Finished"},
		{convert: internalSigner, unset: "ID Token RoleTitle RoleColour Order Subject Message IP InvitedAt ViewedAt SignedAt DeclinedAt Reason"},
		{convert: internalFieldValue, unset: "Signer"},
		{convert: internalWebhook, unset: "ID Secret Disabled Relay CreatedAt Seq"},
		{convert: Profile.internal, unread: "Timestamps UntypedSamples"},
		{convert: publicRequest, unread: "reason"},
		{convert: func(m signing.Message) Message { return publicMessage(m, "link") }, unread: "Token"},
		{convert: func(e signing.AuditEntry) AuditEntry { return publicAuditEntry(e, signing.Document{}) }},
		{convert: publicDelivery, unread: "Delayed", unset: "DocumentID"},
		{convert: publicAttempt},
		{convert: publicRole},
		{convert: publicField},
		{convert: func(t signing.Template) TemplateState { return publicTemplate(t, 1) }, unread: "OwnerID"},
		{convert: (&Server{}).publicDocument, unread: "OwnerID Variables Mail ExpiresFor UpdatedAt", unset: "PDF"},
		{convert: func(s signing.Signer) SignerState { return publicSigner(s, true, "link") }, unread: "Token RoleColour Subject Message"},
		{convert: publicValue, unread: "Image"},
		{convert: func(f signing.Form) FormState { return publicForm(f, 1) }},
		{convert: publicQuestion, unread: "ID"},
		{convert: publicResponse},
		{convert: publicAnswer, unread: "FieldID"},
		{convert: publicWebhook, unread: "Seq"},
	} {
		convert := reflect.ValueOf(c.convert)
		t.Run(convert.Type().In(0).String(), func(t *testing.T) {
			everyFieldIsRead(t, convert, strings.Fields(c.unread))
			everyFieldIsSet(t, convert, strings.Fields(c.unset))
		})
	}
}

// everyFieldIsRead clears the fields of a filled record one after the other. The result must change each time.
func everyFieldIsRead(t *testing.T, convert reflect.Value, except []string) {
	t.Helper()
	for i := range convert.Type().In(0).NumField() {
		record := filled(convert.Type().In(0))
		whole := convert.Call([]reflect.Value{record})[0].Interface()
		field := convert.Type().In(0).Field(i)
		if !field.IsExported() {
			continue
		}
		record.Field(i).SetZero()
		changed := !reflect.DeepEqual(convert.Call([]reflect.Value{record})[0].Interface(), whole)
		require.Equal(t, !contains(except, field.Name), changed, "%s of %s has an effect on the result", field.Name, record.Type())
	}
}

func everyFieldIsSet(t *testing.T, convert reflect.Value, except []string) {
	t.Helper()
	result := convert.Call([]reflect.Value{filled(convert.Type().In(0))})[0]
	for i := range result.NumField() {
		name := result.Type().Field(i).Name
		require.Equal(t, !contains(except, name), !result.Field(i).IsZero(), "%s of %s is set", name, result.Type())
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// filled returns a settable record with a value in every exported field, at every depth except in maps.
func filled(of reflect.Type) reflect.Value {
	v := reflect.New(of).Elem()
	fill(v)
	return v
}

func fill(v reflect.Value) {
	switch special := v.Addr().Interface().(type) {
	case *time.Time:
		*special = time.Unix(1, 0)
		return
	case *store.DeliveryStatus:
		*special = store.DeliveryPending // the only status with which NextAttemptAt is shown
		return
	case *signforms.Inputs:
		*special = signforms.InputsBody
		return
	case *map[string]any:
		*special = map[string]any{"key": "value"}
		return
	case *map[Operation]Route:
		*special = map[Operation]Route{Send: {Path: "/send"}}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("filled")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	default:
		panic(fmt.Sprintf("no value for a %s", v.Type()))
	}
}

// The client and the service each have their own list of statuses.
func TestStatusesOfClientAndServiceAgree(t *testing.T) {
	ours := convertAll(signforms.DocumentStatuses(), func(s signforms.DocumentStatus) signing.Status { return signing.Status(s) })
	require.Equal(t, signing.Statuses[:], ours)
}
