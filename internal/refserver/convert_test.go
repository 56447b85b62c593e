package refserver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/fieldtest"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// A new field that convert.go does not handle fails the test.
func TestConvert_everyField(t *testing.T) {
	for _, c := range []struct {
		convert any    // a function of one record
		unread  string // fields of the record that the result does not show
		unset   string // fields of the result that come from elsewhere
	}{
		{convert: internalTemplate, unset: "ID OwnerID Archived CreatedAt UpdatedAt"},
		{convert: internalForm, unset: "ID CreatedAt"},
		{convert: internalDocument, unread: "Draft", unset: "ID Kind TemplateID OwnerID Status Archived Variables Values Mail " +
			"ExpiresAt CreatedAt UpdatedAt SentAt CompletedAt Finished"},
		{convert: internalSigner, unset: "ID Token RoleTitle RoleColour Order Subject Message IP InvitedAt ViewedAt SignedAt DeclinedAt Reason"},
		{convert: internalFieldValue, unset: "Signer"},
		{convert: internalWebhook, unset: "ID Secret Disabled Relay CreatedAt Seq"},
		{convert: func(m signing.Message) Message { return publicMessage(m, "link") }, unread: "Token"},
		{convert: publicDelivery, unread: "Delayed", unset: "DocumentID"},
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
		t.Run(c.unread, func(t *testing.T) {
			fieldtest.Check(t, c.convert, c.unread, c.unset, store.DeliveryPending) // the only status with which NextAttemptAt is shown
		})
	}
}

// The client and the service each have their own statuses.
func TestStatus_clientAndServiceAgree(t *testing.T) {
	require.Equal(t, convertAll([]signforms.DocumentStatus{
		signforms.StatusDraft, signforms.StatusPending, signforms.StatusSigned, signforms.StatusPaid, signforms.StatusDeclined,
		signforms.StatusExpired, signforms.StatusDeleted, signforms.StatusVoid,
	}, func(s signforms.DocumentStatus) signing.Status { return signing.Status(s) }), signing.Statuses[:])
}
