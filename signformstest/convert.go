package signformstest

import (
	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver"
)

func (f Fault) internal() refserver.Fault {
	return refserver.Fault{
		Operation: refserver.Operation(f.Operation), DocumentID: f.DocumentID, Nth: f.Nth, Times: f.Times, Probability: f.Probability,
		AfterWork: f.AfterWork, Latency: f.Latency, Reset: f.Reset, Status: f.Status, Body: f.Body, ContentType: f.ContentType,
		RetryAfter: f.RetryAfter, Cut: f.Cut, Drip: f.Drip, Unknown: f.Unknown, WrongTypes: f.WrongTypes,
	}
}

func publicRequest(r refserver.Request) Request {
	return Request{
		ID: r.ID, At: r.At, Operation: signforms.Operation(r.Operation), Method: r.Method, Path: r.Path, WorkspaceID: r.WorkspaceID,
		RequestID: r.RequestID, Header: r.Header, Query: r.Query, RawQuery: r.RawQuery, Body: r.Body, BodySize: r.BodySize, Cut: r.Cut,
		Missing: r.Missing, Notes: r.Notes, Rule: r.Rule, StatusCode: r.StatusCode, Code: r.Code, Message: r.Message, Counted: r.Counted,
		AnswerHeader: r.AnswerHeader, Answer: r.Answer, AnswerLost: r.AnswerLost, line: r.String(),
	}
}

func publicMessage(m refserver.Message) Message {
	return Message{
		ID: m.ID, Kind: m.Kind, DocumentID: m.DocumentID, To: m.To, Subject: m.Subject, Body: m.Body, Link: signforms.SigningLink(m.Link), At: m.At,
	}
}

func publicDocument(d refserver.DocumentState) DocumentState {
	return DocumentState{
		ID: d.ID, Type: signforms.SigningType(d.Type), TemplateID: d.TemplateID, Name: d.Name, AuthorEmail: d.AuthorEmail,
		Status: signforms.DocumentStatus(d.Status), SigningOrder: d.SigningOrder, Archived: d.Archived,
		Signers: convertAll(d.Signers, publicSigner), Fields: d.Fields, Values: d.Values,
		CreatedAt: d.CreatedAt, SentAt: d.SentAt, CompletedAt: d.CompletedAt, ExpiresAt: d.ExpiresAt, HasPDF: d.HasPDF,
	}
}

func publicSigner(s refserver.SignerState) SignerState {
	return SignerState{
		ID: s.ID, Name: s.Name, Email: s.Email, Role: s.Role, Order: s.Order, Status: signforms.SignerStatus(s.Status),
		InTurn: s.InTurn, Link: signforms.SigningLink(s.Link), InvitedAt: s.InvitedAt, ViewedAt: s.ViewedAt, SignedAt: s.SignedAt, DeclinedAt: s.DeclinedAt,
		Reason: s.Reason, IP: s.IP,
	}
}

func convertAll[From, To any](all []From, convert func(From) To) []To {
	out := make([]To, 0, len(all))
	for _, v := range all {
		out = append(out, convert(v))
	}
	return out
}
