package signformstest

import (
	"testing"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/fieldtest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A field of this package that the service does not get, and one that it shows by mistake, fail the test.
func TestConvert_everyField(t *testing.T) {
	options := func(o Options) refserver.Options {
		out, _ := (&o).internal()
		return *out
	}
	profile := func(p Profile) refserver.Profile {
		out, _ := p.internal()
		return out
	}
	for _, c := range []struct {
		convert any    // a function of one record
		unread  string // fields of the record that the result does not show
		unset   string // fields of the result that come from elsewhere
	}{
		{convert: options, unset: "Addr PublicURL Behind Prefix APIKey WorkspaceID WebhookSecret Storage Keep Finish CheckValues DialWebhook Middleware Logger"},
		{convert: profile},
		{convert: Template.internal, unset: "Fields AuthorEmail"},
		{convert: Role.internal},
		{convert: Form.internal},
		{convert: Question.internal},
		{convert: Document.internal, unset: "Fields AuthorEmail"},
		{convert: Signer.internal},
		{convert: Webhook.internal, unset: "Object"},
		{convert: FieldValue.internal, unset: "Name Image"},
		{convert: Submission.internal, unset: "From"},
		{convert: Fault.internal},
		{convert: WebhookFault.internal},
		{convert: publicRequest, unread: "ID WorkspaceID RawQuery BodySize IsCut Missing Counted AnswerHeader Answer"},
		{convert: publicMessage, unread: "ID"},
		{convert: publicDelivery, unread: "Test NextAttemptAt"},
		{convert: publicAttempt, unread: "Took AnswerHeader Answer Duplicate"},
		{convert: publicDocument, unread: "AuthorEmail SigningOrder Archived Fields Values CreatedAt SentAt ExpiresAt HasPDF Finished PDF"},
		{convert: publicSigner, unread: "Order InTurn InvitedAt ViewedAt IP"},
	} {
		t.Run(c.unread, func(t *testing.T) {
			fieldtest.Check(t, c.convert, c.unread, c.unset, &Network{refserver.NewNetwork()},
				map[signforms.Operation]signforms.Endpoint{signforms.OpSend: {Path: "/send"}})
		})
	}
}
