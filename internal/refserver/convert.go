package refserver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// This file has the only conversion of each record of the public API. The public types differ from
// those of the packages below, whose fields would not show in the documentation. The JSON names of
// the public types are those of the control API (docs/control.yaml).

// convertAll converts a list. The result is empty, not nil, if the list is empty, so that it is []
// as JSON.
func convertAll[From, To any](all []From, convert func(From) To) []To {
	out := make([]To, 0, len(all))
	for _, v := range all {
		out = append(out, convert(v))
	}
	return out
}

// convertRecords is convertAll for records of the store.
func convertRecords[From, To any](all store.Records[From], convert func(From) To) []To {
	out := make([]To, 0, all.Len())
	for v := range all.All() {
		out = append(out, convert(*v))
	}
	return out
}

func internalTemplate(t Template) signing.Template {
	return signing.Template{
		Name: t.Name, AuthorEmail: cmp.Or(t.AuthorEmail, authorEmail), Roles: slices.Clone(t.Roles), Ordered: t.SigningOrder,
		Variables: slices.Clone(t.Variables), PDF: signing.NewFile(t.PDF), Fields: slices.Clone(t.Fields), ExpiresFor: t.ExpiresFor,
	}
}

// internalForm numbers the fields q1, q2 and so on.
func internalForm(f Form) signing.Form {
	out := signing.Form{Title: f.Title}
	for i, field := range f.Fields {
		out.Fields = append(out.Fields, signing.FormField{
			ID: fmt.Sprintf("q%d", i+1), Question: field.Question, Kind: field.Kind, Required: field.Required,
			Choices: field.Choices,
		})
	}
	return out
}

// internalDocument converts all fields but Draft, which only decides whether the document is sent.
func internalDocument(d Document) signing.Document {
	return signing.Document{
		Name: d.Name, AuthorEmail: cmp.Or(d.AuthorEmail, authorEmail), Signers: convertAll(d.Signers, internalSigner),
		Ordered: d.SigningOrder, PDF: signing.NewFile(d.PDF), Fields: slices.Clone(d.Fields), ExpiresFor: d.ExpiresFor,
	}
}

func internalSigner(s Signer) signing.Signer { return signing.Signer{Name: s.Name, Email: s.Email} }

func internalFieldValue(v FieldValue) signing.FieldValue {
	return signing.FieldValue{Name: v.Name, Kind: v.Kind, Page: v.Page, Label: v.Label, Value: v.Value, Image: signing.NewFile(v.Image)}
}

func internalWebhook(w Webhook) store.Webhook {
	return store.Webhook{URL: w.URL, Family: w.Event, Sources: w.Documents, Bare: w.Object}
}

// publicMessage converts m. The link replaces the token of m.
func publicMessage(m signing.Message, link Link) Message {
	return Message{
		ID: m.Seq, Kind: string(m.Kind), DocumentID: m.DocumentID, To: m.To, Subject: m.Subject, Body: m.Body, Link: link, At: m.At,
	}
}

// publicDelivery keeps only the types of the events, because the body contains the rest.
func publicDelivery(d store.Delivery) Delivery {
	out := Delivery{
		ID: d.ID, WebhookID: d.WebhookID, Test: d.Test, Status: d.Status, Body: d.Body,
		Attempts: append([]Attempt{}, d.Attempts...), CreatedAt: d.CreatedAt,
		EventTypes: convertAll(d.Events, func(e signing.Event) string { return string(e.Type) }),
	}
	if len(d.Events) > 0 { // all events are about one record
		if out.DocumentID = d.Events[0].SourceID; d.Events[0].Document != nil {
			out.DocumentID = d.Events[0].Document.ID
		}
	}
	if d.Status == store.DeliveryPending {
		out.NextAttemptAt = d.NextAttemptAt
	}
	return out
}

// publicTemplate converts t, with the number of documents made from it.
func publicTemplate(t signing.Template, documents int) TemplateState {
	return TemplateState{
		ID: t.ID, Name: t.Name, Roles: slices.Clone(t.Roles), SigningOrder: t.Ordered, Fields: append([]TemplateField{}, t.Fields...),
		Variables: slices.Clone(t.Variables), AuthorEmail: t.AuthorEmail, Archived: t.Archived, ExpiresFor: t.ExpiresFor, CreatedAt: t.CreatedAt,
		UpdatedAt: t.UpdatedAt, HasPDF: t.PDF.SHA256 != "", Documents: documents,
	}
}

func (s *Server) publicDocument(d signing.Document) DocumentState {
	out := DocumentState{
		ID: d.ID, Type: d.Kind, TemplateID: d.TemplateID, Name: d.Name, AuthorEmail: d.AuthorEmail,
		Status: d.Status, SigningOrder: d.Ordered, Archived: d.Archived,
		Signers: []SignerState{}, Fields: append([]TemplateField{}, d.Fields...), Values: convertAll(d.Values, publicValue),
		CreatedAt: d.CreatedAt, SentAt: d.SentAt, CompletedAt: d.CompletedAt, ExpiresAt: d.ExpiresAt,
		HasPDF: d.PDF.SHA256 != "", Finished: d.Finished.SHA256 != "",
	}
	for i, signer := range d.Signers {
		out.Signers = append(out.Signers, publicSigner(signer, d.InTurn(i), Link(s.links.Sign(signer.Token))))
	}
	return out
}

// publicSigner converts s. inTurn reports whether it is the signer's turn. The link replaces the
// token of s.
func publicSigner(s signing.Signer, inTurn bool, link Link) SignerState {
	return SignerState{
		ID: s.ID, Name: s.Name, Email: s.Email, Role: s.RoleTitle, Order: s.Order, Status: s.Status(),
		InTurn: inTurn, Link: link, InvitedAt: s.InvitedAt, ViewedAt: s.ViewedAt, SignedAt: s.SignedAt, DeclinedAt: s.DeclinedAt,
		Reason: s.Reason, IP: s.IP,
	}
}

// publicValue converts v without its Image; see Server.images.
func publicValue(v signing.FieldValue) SignedValue {
	return SignedValue{
		SignerID:   v.Signer,
		FieldValue: FieldValue{Name: v.Name, Kind: v.Kind, Page: v.Page, Label: v.Label, Value: v.Value},
	}
}

// publicForm converts f, with the number of its responses.
func publicForm(f signing.Form, responses int) FormState {
	return FormState{ID: f.ID, Title: f.Title, Fields: convertAll(f.Fields, publicQuestion), CreatedAt: f.CreatedAt, Responses: responses}
}

func publicQuestion(f signing.FormField) Field {
	return Field{Question: f.Question, Kind: cmp.Or(f.Kind, TextQuestion), Required: f.Required, Choices: f.Choices}
}

func publicResponse(r signing.FormResponse) ResponseState {
	return ResponseState{
		ID: r.ID, ObjectID: r.ObjectID, FormID: r.FormID, RespondentEmail: r.RespondentEmail,
		Answers: convertAll(r.Answers, publicAnswer), SubmittedAt: r.SubmittedAt,
	}
}

func publicAnswer(a signing.FormAnswer) Answer { return Answer{Question: a.Question, Answer: a.Answer} }

func publicWebhook(w store.Webhook) WebhookState {
	return WebhookState{
		ID: w.ID, Webhook: Webhook{URL: w.URL, Event: w.Family, Documents: w.Sources, Object: w.Bare},
		Secret: w.Secret, Disabled: w.Disabled, Relay: w.Relay, CreatedAt: w.CreatedAt,
	}
}
