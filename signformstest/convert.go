package signformstest

import (
	"errors"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

// This file has the only conversion of each record. The types of this package differ from those of
// the service, whose fields would not show in the documentation.

func convertAll[From, To any](all []From, convert func(From) To) []To {
	out := make([]To, 0, len(all))
	for _, v := range all {
		out = append(out, convert(v))
	}
	return out
}

func (o *Options) internal() (*refserver.Options, error) {
	if o == nil {
		return nil, nil
	}
	profile, err := o.Profile.internal()
	out := &refserver.Options{
		Seed: o.Seed, Start: o.StartTime, VirtualTimestamps: o.VirtualTimestamps, ReminderLimit: refserver.ReminderLimit(o.ReminderLimit),
		Profile: profile,
	}
	if o.Network != nil {
		out.Network = o.Network.memory
	}
	return out, err
}

func (p Profile) internal() (refserver.Profile, error) {
	out := refserver.Profile{
		PageSize: p.PageSize, MaxLimit: p.MaxLimit, NoPagination: p.NoPagination, CountPage: p.CountPage, OldestFirst: p.OldestFirst,
		InProgress: p.InProgress, RefusalStatus: p.RefusalStatus, KeyStatus: p.KeyStatus, ErrorLayout: refserver.ErrorLayout(p.ErrorLayout),
		Timestamps: refserver.TimestampFormat(p.Timestamps), UntypedSamples: p.UntypedSamples, SignOnce: p.SignOnce,
		Endpoints: make(map[refserver.Operation]refserver.Route),
	}
	for op, e := range p.Endpoints {
		var place refserver.Place
		_ = place.UnmarshalText([]byte(e.Inputs)) // the call of New below refuses an unknown word
		out.Endpoints[refserver.Operation(op)] = refserver.Route{Method: e.Method, Path: e.Path, Inputs: place}
	}
	// The client gives the best error for invalid endpoints.
	_, err := signforms.New("http://service.test", "key", &signforms.Options{Endpoints: p.Endpoints})
	if e, ok := errors.AsType[*signforms.Error](err); ok {
		return out, asSDK(&refserver.InvalidError{Field: "Options.Profile." + strings.TrimPrefix(e.Fields[0].Field, "Options."), Problem: e.Fields[0].Problem})
	}
	return out, nil
}

func (t Template) internal() refserver.Template {
	return refserver.Template{
		Name: t.Name, Roles: convertAll(t.Roles, Role.internal), SigningOrder: t.SigningOrder, Variables: t.Variables, PDF: t.PDF, ExpiresFor: t.ExpiresFor,
	}
}

func (r Role) internal() refserver.Role { return refserver.Role{Title: r.Title, Colour: r.Colour} }

func (f Form) internal() refserver.Form {
	return refserver.Form{Title: f.Title, Fields: convertAll(f.Questions, Question.internal)}
}

func (q Question) internal() refserver.Field {
	return refserver.Field{Question: q.Question, Kind: refserver.QuestionKind(q.Kind), Required: q.Required, Choices: q.Choices}
}

func (d Document) internal() refserver.Document {
	return refserver.Document{
		Name: d.Name, Signers: convertAll(d.Signers, Signer.internal), SigningOrder: d.SigningOrder, PDF: d.PDF, ExpiresFor: d.ExpiresFor, Draft: d.Draft,
	}
}

func (s Signer) internal() refserver.Signer { return refserver.Signer{Name: s.Name, Email: s.Email} }

func (w Webhook) internal() refserver.Webhook {
	return refserver.Webhook{URL: w.URL, Event: refserver.EventFamily(w.Event), Documents: w.Documents}
}

func (v FieldValue) internal() refserver.FieldValue {
	return refserver.FieldValue{Kind: v.Kind, Page: v.Page, Label: v.Label, Value: v.Value}
}

func (s Submission) internal() refserver.Submission {
	return refserver.Submission{RespondentEmail: s.RespondentEmail, Answers: s.Answers}
}

func (f Fault) internal() refserver.Fault {
	return refserver.Fault{
		Operation: refserver.Operation(f.Operation), DocumentID: f.DocumentID, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		AfterWork: f.AfterWork, Latency: f.Latency, Reset: f.Reset, Status: f.Status, Body: f.Body, RetryAfter: f.RetryAfter, Cut: f.Cut, Unknown: f.Odd,
	}
}

func (f WebhookFault) internal() refserver.WebhookFault {
	return refserver.WebhookFault{
		WebhookID: f.WebhookID, DocumentID: f.DocumentID, EventType: string(f.EventType), Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		Drop: f.Drop, Delay: f.Delay, Duplicate: f.Duplicate, Secret: f.Secret, Shift: f.Shift, Type: f.Type, OmitType: f.OmitType, Reencode: f.Reencode,
	}
}

func publicRequest(r refserver.Request) Request {
	return Request{
		At: r.At, Operation: signforms.Operation(r.Operation), Method: r.Method, Path: r.Path, RequestID: r.RequestID, Header: r.Header,
		Query: r.Query, Body: r.Body, Notes: r.Notes, StatusCode: r.StatusCode, Code: r.Code, Message: r.Message, AnswerLost: r.AnswerLost,
		line: r.String(),
	}
}

func publicMessage(m refserver.Message) Message {
	return Message{
		Kind: MessageKind(m.Kind), DocumentID: m.DocumentID, To: m.To, Subject: m.Subject, Body: m.Body, Link: signforms.SigningLink(m.Link), At: m.At,
		line: m.String(),
	}
}

func publicDelivery(d refserver.Delivery) Delivery {
	return Delivery{
		ID: d.ID, WebhookID: d.WebhookID, DocumentID: d.DocumentID, Status: DeliveryStatus(d.Status), Body: d.Body, CreatedAt: d.CreatedAt,
		EventTypes: convertAll(d.EventTypes, func(t string) EventType { return EventType(t) }), Attempts: convertAll(d.Attempts, publicAttempt),
		line: d.String(),
	}
}

func publicAttempt(a refserver.Attempt) Attempt {
	return Attempt{At: a.At, Header: a.Header, Body: a.Body, StatusCode: a.StatusCode, Error: a.Error}
}

func publicDocument(d refserver.DocumentState) DocumentState {
	return DocumentState{
		ID: d.ID, Type: signforms.SigningType(d.Type), TemplateID: d.TemplateID, Name: d.Name, Status: signforms.DocumentStatus(d.Status),
		Signers:     convertAll(d.Signers, publicSigner),
		CompletedAt: d.CompletedAt,
	}
}

func publicSigner(s refserver.SignerState) SignerState {
	return SignerState{
		ID: s.ID, Name: s.Name, Email: s.Email, Role: s.Role, Status: signforms.SignerStatus(s.Status), Link: signforms.SigningLink(s.Link),
		SignedAt: s.SignedAt, DeclinedAt: s.DeclinedAt, Reason: s.Reason,
	}
}
