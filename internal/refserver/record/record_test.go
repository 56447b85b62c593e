package record_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/record"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

var at = time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC)

// records holds one of each kind, with something in every field.
func records() []store.Write {
	document := &signing.Document{
		ID: "7d1b", Kind: signing.KindTemplate, WorkspaceID: "w", TemplateID: "t", OwnerID: "o", Name: "Offer <1>", AuthorEmail: "author@example.com",
		Status: signing.StatusSigned, Ordered: true, Archived: true,
		Signers: []signing.Signer{{
			ID: "s", Token: "secret", Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer", RoleColour: "#fff", Order: 1, Subject: "Su",
			Message: "Me", IP: "192.0.2.1", InvitedAt: at, ViewedAt: at, SignedAt: at, DeclinedAt: at, Reason: "no",
		}},
		Variables: []signing.Variable{{Name: "[v1]", Value: "1"}},
		Fields: []signing.Field{{
			Name: "Name", Role: "Buyer", Kind: signing.FieldText, Required: true, Page: 1, X: 0.5, Y: 0.25, Width: 0.125, Height: 0.1,
		}},
		Values: []signing.FieldValue{{Signer: "s", Name: "Name", Kind: "text", Page: 1, Label: "Name", Value: "Ann", Image: signing.File{SHA256: "ab"}}},
		Mail:   signing.Mail{Subject: "S", Message: "M"}, PDF: signing.File{SHA256: "cd"}, ExpiresFor: time.Hour, ExpiresAt: at, CreatedAt: at, UpdatedAt: at,
		SentAt: at, CompletedAt: at, Finishing: signing.FileMade, Finished: signing.File{SHA256: "ef"}, FinishTries: 2, FinishAt: at,
	}
	return []store.Write{
		{Kind: store.KindService, ID: "service", Value: &store.Service{
			WorkspaceID: "w", APIKey: "k", WebhookSecret: "s", Offset: time.Hour, Latest: at, Deliveries: 1, Audit: 2, Messages: 3, Webhooks: 4,
		}},
		{Kind: store.KindWorkspace, ID: "w", Value: &store.Workspace{ID: "w", OwnerID: "o"}},
		{Kind: store.KindKey, ID: "hash", Value: &store.Key{APIKey: "k", WorkspaceID: "w"}},
		{Kind: store.KindTemplate, ID: "t", Value: &signing.Template{
			ID: "t", WorkspaceID: "w", OwnerID: "o", Name: "Offer", AuthorEmail: "author@example.com", Roles: []signing.Role{{Title: "Buyer", Colour: "#fff"}},
			Ordered: true, Variables: []string{"[v1]"}, PDF: signing.File{SHA256: "cd"}, Fields: document.Fields, Archived: true, ExpiresFor: time.Hour,
			CreatedAt: at, UpdatedAt: at,
		}},
		{Kind: store.KindForm, ID: "f", Value: &signing.Form{
			ID: "f", WorkspaceID: "w", Title: "Intake", CreatedAt: at,
			Fields: []signing.FormField{{ID: "q1", Question: "Name?", Kind: signing.QuestionChoice, Required: true, Choices: []string{"Ann"}}},
		}},
		{Kind: store.KindFormLink, ID: "token", Value: &store.FormLink{FormID: "f", Email: "ann@example.com"}},
		{Kind: store.KindDocument, ID: "7d1b", Value: document},
		{Kind: store.KindResponse, ID: "r", Value: &signing.FormResponse{
			ID: "r", ObjectID: "o", FormID: "f", WorkspaceID: "w", RespondentEmail: "ann@example.com", SubmittedAt: at,
			Answers: []signing.FormAnswer{{FieldID: "q1", Question: "Name?", Answer: "Ann"}},
		}},
		{Kind: store.KindWebhook, ID: "h", Value: &store.Webhook{
			ID: "h", WorkspaceID: "w", URL: "http://app.test", Secret: "s", Family: signing.FamilyTemplate, Sources: []string{"t"}, Bare: true,
			Disabled: true, Relay: "r", CreatedAt: at, Seq: 3,
		}},
		{Kind: store.KindDelivery, ID: "dlv_1", Value: &store.Delivery{
			ID: "dlv_1", WebhookID: "h", Test: true, Body: []byte("[{}]"), Status: store.DeliveryPending, NextAttemptAt: at, CreatedAt: at,
			Events: []signing.Event{{
				Type: signing.EventTemplateResponse, At: at, WorkspaceID: "w", SourceID: "t", Document: &signing.Document{ID: "7d1b"}, Signer: -1, NoFile: true,
			}},
			Attempts: []store.Attempt{{
				At: at, Took: time.Second, RequestHeader: http.Header{"X-Timestamp": {"1"}}, RequestBody: []byte("[{}]"), StatusCode: 500,
				ResponseHeader: http.Header{"Date": {"now"}}, ResponseBody: []byte("no"), Error: "cut", Duplicate: true,
			}, {At: at, RequestBody: []byte("[{ }]")}},
		}},
		{Kind: store.KindAudit, ID: "000000000001", Value: []*signing.AuditEntry{{
			Seq: 1, RecordID: "7d1b", At: at, Action: signing.ActionSign, Actor: "s", From: signing.StatusPending, To: signing.StatusPending, Note: "n",
			Origin: signing.Origin{IP: "192.0.2.1", UserAgent: "browser"},
		}, {Seq: 2}}},
		{Kind: store.KindMessage, ID: "000000000001", Value: []*signing.Message{{
			Seq: 1, Kind: signing.MessageInvitation, DocumentID: "7d1b", To: "ann@example.com", Subject: "S", Body: "B", Token: "secret", At: at,
		}}},
		{Kind: store.KindLimit, ID: "hash", Value: &store.Limit{APIKey: "k", State: []byte(`["2026-11-20T12:00:00Z"]`)}},
	}
}

// TestRecordsOfEveryVersionAreRead decodes what each version wrote; vN.json holds the kinds that have a version N. A change of the
// records that makes the newest ones differ needs a new version: see the package comment.
func TestRecordsOfEveryVersionAreRead(t *testing.T) {
	codec, saved := record.New(), map[int]map[string]json.RawMessage{}
	for version := 1; version <= 2; version++ {
		text, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.json", version)))
		require.NoError(t, err)
		kinds := map[string]json.RawMessage{}
		require.NoError(t, json.Unmarshal(text, &kinds))
		saved[version] = kinds
	}
	for _, w := range records() {
		data, err := codec.Encode(at, w)
		require.NoError(t, err)
		version, kind := 1, string(w.Kind)
		for ; saved[version+1][kind] != nil; version++ {
			requireDecodes(t, codec, older(w, version), saved[version][kind])
		}
		require.JSONEq(t, string(saved[version][kind]), string(data), "%s: records are written otherwise than by the version before", kind)
		requireDecodes(t, codec, w, saved[version][kind])
	}
	require.Len(t, saved[1], len(records()))
}

// older returns a record without what its version did not have.
func older(w store.Write, version int) store.Write {
	if hook, ok := w.Value.(*store.Webhook); ok && version < 2 {
		without := *hook
		without.Relay = ""
		w.Value = &without
	}
	return w
}

func requireDecodes(t *testing.T, codec *record.Codec, want store.Write, data []byte) {
	t.Helper()
	got, when, err := codec.Decode(want.Kind, want.ID, data)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, at, when)
}

func TestTheRecordsHereHaveEveryField(t *testing.T) {
	for _, w := range records() {
		v := reflect.Indirect(reflect.ValueOf(w.Value))
		if v.Kind() == reflect.Slice {
			v = v.Index(0).Elem()
		}
		for field, value := range v.Fields() {
			require.Equal(t, field.Tag.Get("json") == "-", value.IsZero(), "%s.%s", v.Type(), field.Name)
		}
	}
}

// A record whose Data was read back must not hold more than what was given: [store.Tx] leaves no content in it.
func TestBlobsAreTheirContent(t *testing.T) {
	data, err := record.New().Encode(at, store.Write{Kind: store.KindBlob, ID: "hash", Value: []byte("%PDF")})
	require.NoError(t, err)
	require.Equal(t, "%PDF", string(data))
	data, err = record.New().Encode(at, store.Write{Kind: store.KindDocument, ID: "d", Value: &signing.Document{PDF: signing.NewFile([]byte("%PDF"))}})
	require.NoError(t, err)
	require.NotContains(t, string(data), "Data")
}

func TestOlderRecordsAreMigrated(t *testing.T) {
	renamed := func(data json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.Replace(string(data), `"Title"`, `"Name"`, 1)), nil
	}
	again := func(data json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(strings.Replace(string(data), `"Name"`, `"Title"`, 1)), nil
	}
	third := record.WithSteps(map[store.Kind][]record.Step{store.KindForm: {renamed, again}})
	for text, want := range map[string]string{
		`{"v":1,"at":7,"d":{"ID":"f","Title":"of 1"}}`: "of 1",
		`{"v":2,"at":7,"d":{"ID":"f","Name":"of 2"}}`:  "of 2",
		`{"v":3,"at":7,"d":{"ID":"f","Title":"of 3"}}`: "of 3",
	} {
		w, when, err := third.Decode(store.KindForm, "f", []byte(text))
		require.NoError(t, err)
		require.Equal(t, &signing.Form{ID: "f", Title: want}, w.Value)
		require.Equal(t, int64(7), when.UnixMilli())
	}
	data, err := third.Encode(at, store.Write{Kind: store.KindForm, ID: "f", Value: &signing.Form{}})
	require.NoError(t, err)
	require.Contains(t, string(data), `"v":3`)

	broken := record.WithSteps(map[store.Kind][]record.Step{store.KindForm: {func(json.RawMessage) (json.RawMessage, error) {
		return nil, errors.New("no such thing")
	}}})
	_, _, err = broken.Decode(store.KindForm, "f", []byte(`{"v":1,"at":7,"d":{}}`))
	require.EqualError(t, err, "reading form f: migrating it from version 1: no such thing")
}

func TestRecordsThatCannotBeReadAreRefused(t *testing.T) {
	for _, c := range []struct{ name, kind, data, want string }{
		{"newer", "form", `{"v":2,"at":7,"d":{}}`, "reading form f: it has version 2, and this version of the program knows up to 1: use a newer one"},
		{"newer in another form", "form", `{"v":2,"at":7,"d":[1]}`, "reading form f: it has version 2, and this version of the program knows up to 1: use a newer one"},
		{"no version", "form", `{}`, "reading form f: it has no version"},
		{"unknown kind", "folder", `{"v":1,"at":7,"d":{}}`, `a record of the kind "folder", which this version of the program does not know: use a newer one`},
		{"no entries", "audit", `{"v":1,"at":7,"d":[]}`, "reading audit f: an entry is missing"},
		{"damaged", "form", `{"v":1,"at":7,"d":{`, "reading form f: unexpected end of JSON input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := record.New().Decode(store.Kind(c.kind), "f", []byte(c.data))
			require.EqualError(t, err, c.want)
		})
	}
	_, err := record.New().Encode(at, store.Write{Kind: "folder"})
	require.Error(t, err)
}
