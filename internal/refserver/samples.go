package refserver

import (
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TestWebhook does the same as the "Test Webhook" button of the service. It sends one array to this
// webhook only. The array has a sample event for each tracked document, or for an invented document
// if the webhook tracks everything. The delivery is signed and logged like any other, and its body
// is the same each time. TestWebhook returns the delivery's id.
func (s *Server) TestWebhook(webhookID string) (deliveryID string, err error) {
	err = s.store.Update(func(tx *store.Tx) error {
		w, err := tx.Webhook(webhookID)
		if err != nil {
			return err
		}
		events := samples(tx, w)
		body := delivery.Edit(delivery.Bodies(events, s.links), delivery.Changes{OmitType: s.options.Profile.UntypedSamples})
		deliveryID = tx.Enqueue(store.Delivery{
			WebhookID: w.ID, Events: convertAll(events, signing.Event.Stub), Test: true, Body: body, NextAttemptAt: tx.Now, CreatedAt: tx.Now,
		}).ID
		return nil
	})
	return deliveryID, err
}

// samples returns the events of a test of the webhook.
func samples(tx *store.Tx, w store.Webhook) (events []signing.Event) {
	ids := w.Sources
	if len(ids) == 0 {
		ids = []string{sampleID(w.ID)}
	}
	for _, id := range ids {
		events = append(events, sample(tx, w, id))
	}
	return events
}

// sample returns the final event of the webhook's family for the document, template or form with the id.
func sample(tx *store.Tx, w store.Webhook, id string) signing.Event {
	e := signing.Event{SourceID: id, Signer: -1}
	switch w.Family {
	case signing.FamilyFormResponse:
		e.Type = signing.EventFormResponse
		e.Form, e.Response = sampleResponse(tx, id)
	case signing.FamilyTemplate:
		e.Type, e.Document = signing.EventTemplateResponse, sampleFromTemplate(tx, id)
	default:
		e.Type, e.Document = signing.EventSignatureCompleted, samplePDF(tx, id)
	}
	return e
}

func sampleResponse(tx *store.Tx, id string) (*signing.Form, *signing.FormResponse) {
	f, err := tx.Form(id)
	if err != nil { // the webhook tracks everything
		f = signing.Form{ID: id, Title: "Sample form", Fields: []signing.FormField{{ID: "q1", Question: "Sample question"}}}
	}
	r := &signing.FormResponse{ID: sampleID(f.ID), FormID: f.ID, RespondentEmail: sampleEmail}
	for _, field := range f.Fields {
		r.Answers = append(r.Answers, signing.FormAnswer{FieldID: field.ID, Question: field.Question, Answer: "Sample answer"})
	}
	return &f, r
}

func sampleFromTemplate(tx *store.Tx, id string) *signing.Document {
	t, err := tx.Template(id)
	if err != nil {
		t = signing.Template{ID: id, Name: "Sample template", AuthorEmail: authorEmail, Roles: []signing.Role{{Title: "Sample role"}}}
	}
	u := uuid.NewSHA1(uuid.Nil, []byte(id))
	d := &signing.Document{
		ID: hex.EncodeToString(u[:12]), Kind: signing.KindTemplate, TemplateID: t.ID, Name: t.Name, AuthorEmail: t.AuthorEmail, Ordered: t.Ordered,
	}
	for i, role := range t.Roles {
		d.Signers = append(d.Signers, signing.Signer{ID: sampleID(role.Title), RoleTitle: role.Title, Order: i + 1})
		d.Values = append(d.Values, signing.FieldValue{Kind: "contact_field", Page: 1, Label: role.Title, Value: "Sample value"})
	}
	signAll(d)
	return d
}

func samplePDF(tx *store.Tx, id string) *signing.Document {
	d, err := tx.Document(id)
	if err != nil {
		d = signing.Document{ID: id, Kind: signing.KindPDF, Name: "Sample document", AuthorEmail: authorEmail, Signers: []signing.Signer{{Order: 1}}}
	}
	d = d.Clone()
	signAll(&d)
	return &d
}

// signAll turns every signer into an invented person who has signed.
func signAll(d *signing.Document) {
	for i := range d.Signers {
		s := &d.Signers[i]
		s.Name, s.Email, s.IP, s.SignedAt, s.DeclinedAt = "Sample Signer", sampleEmail, signerIP, time.Unix(0, 0), time.Time{}
	}
}

const sampleEmail = "sample@example.com"

// sampleID derives an id from a name, so that samples are the same each time.
func sampleID(name string) string { return uuid.NewSHA1(uuid.Nil, []byte(name)).String() }
