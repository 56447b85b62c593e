package webhooktest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/signforms/signforms-go/webhook"
)

//go:embed samples/*.json
var samples embed.FS

// Sample returns the payload of a delivery of one event: an array with one object, byte for byte as
// the service prints it. To change fields of the event, use [webhook.Parse] and [Payload]. Sample
// panics if eventType is not one of the seven types.
func Sample(eventType webhook.EventType) []byte {
	payload, err := samples.ReadFile("samples/" + string(eventType) + ".json")
	if err != nil {
		panic(fmt.Sprintf("webhooktest: Sample: no sample of event type %q: want one of the webhook.Type constants", eventType))
	}
	return payload
}

// Payload returns the payload of a delivery of these events, as JavaScript's JSON.stringify prints
// it. Payload prints the fields of the structs, so a program may parse events, change them and
// print them again. Payload omits zero fields, except the fields that each signer and each answer
// has.
//
// If a [webhook.Field] has no Key, Payload builds the key from Kind, Page and Label. For a
// [webhook.UnknownEvent], Payload prints Raw, or only the type if Raw is empty. Payload panics if
// an event is nil.
func Payload(events ...webhook.Event) []byte {
	for i, ev := range events {
		if v := reflect.ValueOf(ev); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
			panic(fmt.Sprintf("webhooktest: Payload: event %d is nil", i))
		}
	}
	payload := []byte{'['}
	for i, ev := range events {
		if i > 0 {
			payload = append(payload, ',')
		}
		payload = append(payload, object(ev)...)
	}
	return append(payload, ']')
}

// wireEvent has the fields of all events, in an order that suits each.
type wireEvent struct {
	WebhookEvent    webhook.EventType `json:"webhookEvent"`
	FormID          string            `json:"formId,omitempty"`
	FormResponseID  string            `json:"formResponseId,omitempty"`
	FormTitle       string            `json:"formTitle,omitempty"`
	DocumentName    string            `json:"documentName,omitempty"`
	DocumentID      string            `json:"documentId,omitempty"`
	DocumentURL     string            `json:"documentUrl,omitempty"`
	AuthorEmail     string            `json:"authorEmail,omitempty"`
	FinishedPDFURL  string            `json:"finishedPdfUrl,omitempty"`
	RespondentEmail string            `json:"respondentEmail,omitempty"`
	Response        []wireAnswer      `json:"response,omitempty"`
	IsSigningOrder  bool              `json:"isSigningOrder,omitempty"`
	Signers         []wireSigner      `json:"signers,omitempty"`
	ViewedBy        *wireSigner       `json:"viewedBy,omitempty"`
	SignedBy        *wireSigner       `json:"signedBy,omitempty"`
}

type wireAnswer struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

type wireSigner struct {
	RoleTitle      string               `json:"roleTitle,omitempty"`
	Email          string               `json:"email"`
	Name           string               `json:"name"`
	Status         webhook.SignerStatus `json:"status"`
	SignerIP       string               `json:"signerIp,omitempty"`
	SignerID       string               `json:"signerId,omitempty"`
	HasDeclined    bool                 `json:"hasDeclined"`
	SigningOrderNo int                  `json:"signingOrderNo,omitempty"`
	ViewedAt       string               `json:"viewedAt,omitempty"`
	SignedAt       string               `json:"signedAt,omitempty"`
}

func object(ev webhook.Event) []byte {
	w := wireEvent{WebhookEvent: ev.EventType()}
	var fields []webhook.Field
	switch e := ev.(type) {
	case *webhook.FormResponse:
		w.FormID, w.FormResponseID, w.FormTitle = e.FormID, e.FormResponseID, e.FormTitle
		w.FinishedPDFURL, w.RespondentEmail = e.FinishedPDFURL, e.RespondentEmail
		for _, a := range e.Answers {
			w.Response = append(w.Response, wireAnswer(a))
		}
	case *webhook.SignatureViewed:
		w.document(e.Document, e.Signers)
		w.ViewedBy = actor(e.ViewedBy.Signer)
		w.ViewedBy.ViewedAt = instant(e.ViewedBy.ViewedAt)
	case *webhook.SignatureSigned:
		w.document(e.Document, e.Signers)
		w.SignedBy, w.IsSigningOrder = actor(e.SignedBy.Signer), e.IsSigningOrder
		w.SignedBy.SignedAt = instant(e.SignedBy.SignedAt)
	case *webhook.SignatureCompleted:
		w.document(e.Document, e.Signers)
		w.FinishedPDFURL, fields = e.FinishedPDFURL, e.Fields
	case *webhook.TemplateViewed:
		w.document(e.Document, e.Signers)
		w.ViewedBy = actor(e.ViewedBy.Signer)
		w.ViewedBy.ViewedAt = instant(e.ViewedBy.ViewedAt)
	case *webhook.TemplateSigned:
		w.document(e.Document, e.Signers)
		w.SignedBy, w.IsSigningOrder = actor(e.SignedBy.Signer), e.IsSigningOrder
		w.SignedBy.SignedAt = instant(e.SignedBy.SignedAt)
	case *webhook.TemplateResponse:
		w.document(e.Document, e.Signers)
		w.FinishedPDFURL, fields = e.FinishedPDFURL, e.Fields
	case *webhook.UnknownEvent:
		if raw := e.Raw(); raw != nil {
			return raw
		}
	}
	return appendFields(stringify(w), fields)
}

func (w *wireEvent) document(d webhook.Document, signers []webhook.Signer) {
	w.DocumentName, w.DocumentID, w.DocumentURL, w.AuthorEmail = d.DocumentName, d.DocumentID, d.DocumentURL, d.AuthorEmail
	for _, s := range signers {
		w.Signers = append(w.Signers, newWireSigner(s))
	}
}

func newWireSigner(s webhook.Signer) wireSigner {
	return wireSigner{
		RoleTitle: s.RoleTitle, Email: s.Email, Name: s.Name, Status: s.Status, SignerIP: s.IP,
		SignerID: s.ID, HasDeclined: s.HasDeclined, SigningOrderNo: s.SigningOrderNo,
	}
}

func actor(s webhook.Signer) *wireSigner { return new(newWireSigner(s)) }

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// appendFields appends the dynamic keys to an object that is not empty.
func appendFields(object []byte, fields []webhook.Field) []byte {
	object = object[:len(object)-1]
	for _, f := range fields {
		if f.Key == "" {
			f.Key = fmt.Sprintf("%s(page%d)[%s]", f.Kind, f.Page, f.Label)
		}
		object = append(object, ',')
		object = append(object, stringify(f.Key)...)
		object = append(object, ':')
		object = append(object, stringify(f.Value)...)
	}
	return append(object, '}')
}

// stringify prints v without the escapes that encoding/json adds and JavaScript does not. A setting
// of the encoder omits the escapes of <, > and &. stringify replaces the escapes of U+2028 and
// U+2029.
func stringify(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("webhooktest: Payload: " + err.Error())
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] != '\\':
			out = append(out, text[i])
		case bytes.HasPrefix(text[i:], []byte(`\u2028`)), bytes.HasPrefix(text[i:], []byte(`\u2029`)):
			out = append(out, "\u2028"[:2]...)
			out = append(out, text[i+5]-'8'+0xa8)
			i += 5
		default:
			out = append(out, text[i], text[i+1])
			i++
		}
	}
	return out
}
