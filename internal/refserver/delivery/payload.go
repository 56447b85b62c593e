package delivery

import (
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Body returns the body of a delivery of one event: an array with the event, or the event alone if
// object is true. Equal inputs give equal bytes.
func Body(e signing.Event, links signing.Links, object bool) []byte {
	if object {
		return AppendJSON(nil, payload(e, links))
	}
	return Bodies([]signing.Event{e}, links)
}

// Bodies returns one body with several events in an array.
func Bodies(events []signing.Event, links signing.Links) []byte {
	var all Array
	for _, e := range events {
		all = append(all, payload(e, links))
	}
	return AppendJSON(nil, all)
}

// payload lists an event's members in the order of the interface description.
func payload(e signing.Event, links signing.Links) Object {
	o := Object{{"webhookEvent", string(e.Type)}}
	if e.Type == signing.EventFormResponse {
		return append(o, formResponse(e, links)...)
	}
	d := e.Document
	o = append(o, Object{
		{"documentName", d.Name},
		{"documentId", d.SourceID()},
		{"documentUrl", links.Document(d.ID)},
		{"authorEmail", d.AuthorEmail},
	}...)
	switch e.Type {
	case signing.EventSignatureViewed, signing.EventTemplateViewed:
		s := d.Signers[e.Signer]
		by := signer(d, s, false)
		return append(o, Member{"signers", signers(d, false)}, Member{"viewedBy", append(by, Member{"viewedAt", stamp(s.ViewedAt)})})
	case signing.EventSignatureSigned, signing.EventTemplateSigned:
		s := d.Signers[e.Signer]
		by := append(signer(d, s, true), Member{"signedAt", stamp(s.SignedAt)})
		return append(o, Member{"isSigningOrder", d.Ordered}, Member{"signers", signers(d, true)}, Member{"signedBy", by})
	}
	o = append(o, Member{"finishedPdfUrl", links.Finished(d.ID)}, Member{"signers", signers(d, false)})
	for _, v := range d.Values {
		if !v.Drawn() {
			o = append(o, Member{fmt.Sprintf("%s(page%d)[%s]", v.Kind, v.Page, v.Label), v.Value})
		}
	}
	return o
}

func formResponse(e signing.Event, links signing.Links) Object {
	answers := Array{}
	for _, a := range e.Response.Answers {
		answers = append(answers, Object{{"id", a.FieldID}, {"question", a.Question}, {"answer", a.Answer}})
	}
	return Object{
		{"formId", e.Form.ID},
		{"formResponseId", e.Response.ID},
		{"formTitle", e.Form.Title},
		{"finishedPdfUrl", links.Finished(e.Response.ID)},
		{"respondentEmail", e.Response.RespondentEmail},
		{"response", answers},
	}
}

func signers(d *signing.Document, order bool) Array {
	all := Array{}
	for _, s := range d.Signers {
		all = append(all, signer(d, s, order))
	}
	return all
}

// signer returns the JSON of one signer. order adds signingOrderNo, which only the signed events
// have.
func signer(d *signing.Document, s signing.Signer, order bool) Object {
	var o Object
	if d.Kind == signing.KindTemplate {
		o = Object{
			{"roleTitle", s.RoleTitle},
			{"email", s.Email},
			{"name", s.Name},
			{"status", string(s.Status())},
			{"signerId", s.ID},
			{"hasDeclined", s.HasDeclined()},
		}
	} else {
		o = Object{
			{"email", s.Email},
			{"name", s.Name},
			{"status", string(s.Status())},
			{"signerIp", s.IP},
			{"hasDeclined", s.HasDeclined()},
		}
	}
	if order {
		o = append(o, Member{"signingOrderNo", s.Order})
	}
	return o
}

// stamp prints t as JavaScript's Date.toISOString does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
