package webhook

import (
	"errors"
	"fmt"
	"slices"

	"github.com/signforms/signforms-go/internal/jsonscan"
)

// Parse decodes a payload, which is an array of events or one event as an object. Parse verifies
// nothing: give it the Verified.Payload that a [Verifier] returned. Parse copies the payload, so
// the caller may use the slice again.
//
// Every error of Parse matches [ErrPayload]. The error of malformed JSON names the position of the
// byte and never quotes the text. Two defects are not errors:
//
//   - A field that cannot be read is zero in the event, and FieldErrors of the event names it.
//   - An array element that is not an event becomes an [UnknownEvent] among the other events.
func Parse(payload []byte) ([]Event, error) {
	d := decoder{src: payload, text: string(payload), scan: jsonscan.New(payload)}
	events := d.payload()
	if err := d.scan.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPayload, err)
	}
	if d.notObject {
		return nil, ErrPayload
	}
	return events, nil
}

// decoder reads one payload in one pass. The payload has to be strict JSON. If a key occurs twice,
// its last value counts, as in JavaScript. Keys are case-sensitive. A null value counts as missing.
type decoder struct {
	src       []byte // the payload
	text      string // a copy of src, which the events refer to
	scan      jsonscan.Scanner
	notObject bool // the payload is neither an object nor an array
	signers   chunk[Signer]
	answers   chunk[FormAnswer]
	fields    chunk[Field]
	cur       element
}

func (d *decoder) payload() []Event {
	var events []Event
	switch d.scan.Next() {
	case '{':
		events = []Event{d.event()}
	case '[':
		events = make([]Event, 0, 1+len(d.text)/512)
		d.scan.Open()
		for first := true; d.scan.More(first); first = false {
			events = append(events, d.element())
		}
	default:
		d.notObject = true
		d.scan.Skip()
	}
	d.scan.End()
	return events
}

var (
	errNotObject = errors.New("webhook: element is not a JSON object")
	errNoType    = errors.New("webhook: event has no webhookEvent, and its fields do not tell its type")
)

// element reads one element of an array. An element that is not an object is kept as an event,
// because the other elements of the delivery are genuine.
func (d *decoder) element() Event {
	if d.scan.Next() == '{' {
		return d.event()
	}
	start := d.scan.Pos()
	d.scan.Skip()
	return &UnknownEvent{meta: meta{raw: d.text[start:d.scan.Pos()]}, Err: errNotObject}
}

// event reads one object.
func (d *decoder) event() Event {
	d.cur = element{}
	d.cur.index = -1
	start := d.scan.Pos()
	d.scan.Open()
	for key, more := d.scan.Member(true); more; key, more = d.scan.Member(false) {
		d.member(d.content(key))
	}
	d.cur.meta.raw = d.text[start:d.scan.Pos()]
	return d.cur.build()
}

// member reads the value of one member of an event. For an unknown key, member only checks that the
// value is JSON; the value stays in Raw.
func (d *decoder) member(key string) {
	e := &d.cur
	switch key {
	case "webhookEvent":
		d.typeMember(key)
	case "documentName":
		d.stringMember(memberDocumentName, key, &e.document.DocumentName)
	case "documentId":
		d.stringMember(memberDocumentID, key, &e.document.DocumentID)
	case "documentUrl":
		d.stringMember(memberDocumentURL, key, &e.document.DocumentURL)
	case "authorEmail":
		d.stringMember(memberAuthorEmail, key, &e.document.AuthorEmail)
	case "finishedPdfUrl":
		d.stringMember(memberFinishedPDFURL, key, &e.finishedPDFURL)
	case "isSigningOrder":
		d.topLevel(memberIsSigningOrder)
		if !d.boolean(&e.isSigningOrder) {
			d.misfit(key, wantBoolean)
		}
	case "signers":
		d.topLevel(memberSigners)
		d.signerList(key)
	case "viewedBy":
		d.topLevel(memberViewedBy)
		d.actor(key, "viewedAt", &e.viewedBy.Signer, &e.viewedBy.ViewedAt)
	case "signedBy":
		d.topLevel(memberSignedBy)
		d.actor(key, "signedAt", &e.signedBy.Signer, &e.signedBy.SignedAt)
	case "formId":
		d.stringMember(memberFormID, key, &e.formID)
	case "formResponseId":
		d.stringMember(memberFormResponseID, key, &e.formResponseID)
	case "formTitle":
		d.stringMember(memberFormTitle, key, &e.formTitle)
	case "respondentEmail":
		d.stringMember(memberRespondentEmail, key, &e.respondentEmail)
	case "response":
		d.topLevel(memberResponse)
		d.answerList(key)
	default:
		d.dynamic(key)
	}
}

// typeMember reads webhookEvent, which must be a string. If typeMember took a number as text, as
// the decoder does for other strings, the event would have an unknown type. With no type, infer can
// still find the type by the fields.
func (d *decoder) typeMember(key string) {
	d.topLevel(memberWebhookEvent)
	if c := d.scan.Next(); c == '"' || c == 'n' {
		d.str((*string)(&d.cur.eventType))
		return
	}
	d.scan.Skip()
	d.cur.eventType = ""
	d.misfit(key, wantString)
}

func (d *decoder) stringMember(m member, key string, dst *string) {
	d.topLevel(m)
	if !d.str(dst) {
		d.misfit(key, wantString)
	}
}

// topLevel records which member is read next. The member counts as given unless its value is null.
// topLevel drops the misfits of an earlier value under the same key.
func (d *decoder) topLevel(m member) {
	e := &d.cur
	e.reading = m
	e.given |= m
	if d.scan.Next() == 'n' {
		e.given &^= m
	}
	e.ofPDF, e.ofTemplate = e.ofPDF&^m, e.ofTemplate&^m
	if len(e.misfits) > 0 {
		e.misfits = slices.DeleteFunc(e.misfits, func(x misfit) bool { return x.member == m })
	}
}
