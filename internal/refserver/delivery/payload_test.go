package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
	"github.com/signforms/signforms-go/internal/refserver/signing"
)

var links = signing.Links{Base: "https://service.test"}

func document(kind signing.Kind) *signing.Document {
	at := time.Date(2026, 11, 19, 7, 0, 0, 5_000_000, time.UTC)
	return &signing.Document{
		ID: "d1", TemplateID: "t1", Kind: kind, Name: `A & B <c> "d"` + " \u2028 é 😀", AuthorEmail: "olga@example.com", Ordered: true,
		Signers: []signing.Signer{
			{ID: "s1", Token: "secret-token", Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer & Co", Order: 1, IP: "203.0.113.7", ViewedAt: at, SignedAt: at},
			{ID: "s2", Token: "secret-token", Name: "Ben", Email: "ben@example.com", RoleTitle: "Seller", Order: 2, DeclinedAt: at},
		},
		Values: []signing.FieldValue{{Kind: "contact_field", Page: 1, Label: "Buyer & Co", Value: "+41 <0>"}, {Kind: "date", Page: 12, Label: "[1]", Value: ""}},
	}
}

func TestBody_eachEvent(t *testing.T) {
	const (
		name      = `"documentName":"A & B <c> \"d\"` + " \u2028 é 😀" + `",`
		pdf       = name + `"documentId":"d1","documentUrl":"https://service.test/documents/d1.pdf","authorEmail":"olga@example.com",`
		template  = name + `"documentId":"t1","documentUrl":"https://service.test/documents/d1.pdf","authorEmail":"olga@example.com",`
		finished  = `"finishedPdfUrl":"https://service.test/finished/d1.pdf",`
		annPDF    = `"email":"ann@example.com","name":"Ann","status":"SIGNED","signerIp":"203.0.113.7","hasDeclined":false`
		benPDF    = `"email":"ben@example.com","name":"Ben","status":"PENDING","signerIp":"","hasDeclined":true`
		annRole   = `"roleTitle":"Buyer & Co","email":"ann@example.com","name":"Ann","status":"SIGNED","signerId":"s1","hasDeclined":false`
		benRole   = `"roleTitle":"Seller","email":"ben@example.com","name":"Ben","status":"PENDING","signerId":"s2","hasDeclined":true`
		one, two  = `,"signingOrderNo":1`, `,"signingOrderNo":2`
		moment    = `"2026-11-19T07:00:00.005Z"`
		dynamic   = `"contact_field(page1)[Buyer & Co]":"+41 <0>","date(page12)[[1]]":""`
		pdfBoth   = `"signers":[{` + annPDF + one + `},{` + benPDF + two + `}]`
		roleBoth  = `"signers":[{` + annRole + one + `},{` + benRole + two + `}]`
		pdfPlain  = `"signers":[{` + annPDF + `},{` + benPDF + `}]`
		rolePlain = `"signers":[{` + annRole + `},{` + benRole + `}]`
		isOrdered = `"isSigningOrder":true,`
	)
	for _, c := range []struct {
		event signing.EventType
		kind  signing.Kind
		want  string
	}{
		{event: signing.EventSignatureViewed, kind: signing.KindPDF,
			want: pdf + pdfPlain + `,"viewedBy":{` + annPDF + `,"viewedAt":` + moment + `}`},
		{event: signing.EventSignatureSigned, kind: signing.KindPDF,
			want: pdf + isOrdered + pdfBoth + `,"signedBy":{` + annPDF + one + `,"signedAt":` + moment + `}`},
		{event: signing.EventSignatureCompleted, kind: signing.KindPDF, want: pdf + finished + pdfPlain + `,` + dynamic},
		{event: signing.EventTemplateViewed, kind: signing.KindTemplate,
			want: template + rolePlain + `,"viewedBy":{` + annRole + `,"viewedAt":` + moment + `}`},
		{event: signing.EventTemplateSigned, kind: signing.KindTemplate,
			want: template + isOrdered + roleBoth + `,"signedBy":{` + annRole + one + `,"signedAt":` + moment + `}`},
		{event: signing.EventTemplateResponse, kind: signing.KindTemplate, want: template + finished + rolePlain + `,` + dynamic},
	} {
		t.Run(string(c.event), func(t *testing.T) {
			e := signing.Event{Type: c.event, Document: document(c.kind), Signer: 0}
			typed := `"webhookEvent":"` + string(c.event) + `",`
			require.Equal(t, `[{`+typed+c.want+`}]`, string(delivery.Body(e, links, false)))
			require.Equal(t, `{`+typed+c.want+`}`, string(delivery.Body(e, links, true)))
		})
	}
}

func TestBody_formResponse(t *testing.T) {
	form := &signing.Form{ID: "f1", Title: "Intake"}
	e := signing.Event{Type: signing.EventFormResponse, Signer: -1, Form: form, Response: &signing.FormResponse{ID: "r1", RespondentEmail: "ann@example.com"}}
	require.Equal(t, `[{"webhookEvent":"new_form_response","formId":"f1","formResponseId":"r1","formTitle":"Intake",`+
		`"finishedPdfUrl":"https://service.test/finished/r1.pdf","respondentEmail":"ann@example.com","response":[]}]`,
		string(delivery.Body(e, links, false)))

	e.Response.Answers = []signing.FormAnswer{{FieldID: "q1", Question: "Why?", Answer: "a\nb"}, {FieldID: "q2"}}
	require.Contains(t, string(delivery.Body(e, links, false)),
		`"response":[{"id":"q1","question":"Why?","answer":"a\nb"},{"id":"q2","question":"","answer":""}]`)
}

func TestBody_severalEvents(t *testing.T) {
	form := &signing.Form{ID: "f1"}
	e := signing.Event{Type: signing.EventFormResponse, Form: form, Response: &signing.FormResponse{ID: "r1"}}
	one := string(delivery.Body(e, links, true))
	require.Equal(t, "["+one+","+one+"]", string(delivery.Bodies([]signing.Event{e, e}, links)))
	require.Equal(t, "[]", string(delivery.Bodies(nil, links)))
}

// TestBody_withoutSignatures: what a signer drew or typed as a signature is in the finished PDF, and in no event.
func TestBody_withoutSignatures(t *testing.T) {
	d := document(signing.KindTemplate)
	d.Values = []signing.FieldValue{
		{Name: "Buyer signs", Kind: "signature", Page: 1, Label: "Buyer signs", Value: "Ann", Image: signing.NewFile([]byte("PNG"))},
		{Name: "Initials", Kind: "initials", Page: 1, Label: "Initials", Value: "A."},
		{Name: "Company", Kind: "text", Page: 2, Label: "Company", Value: "A & B"},
		{Kind: "signature", Page: 3, Label: "free", Value: "kept"},
	}
	body := string(delivery.Body(signing.Event{Type: signing.EventTemplateResponse, Signer: -1, Document: d}, links, false))
	require.Contains(t, body, `,"text(page2)[Company]":"A & B","signature(page3)[free]":"kept"}`)
	require.NotContains(t, body, "page1")
}
