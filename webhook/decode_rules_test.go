package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// parseOne decodes a payload of one event.
func parseOne(t *testing.T, payload string) webhook.Event {
	t.Helper()
	events, err := webhook.Parse([]byte(payload))
	require.NoError(t, err, payload)
	require.Len(t, events, 1, payload)
	return events[0]
}

func TestParseRefuses(t *testing.T) {
	for _, row := range []struct{ payload, reason string }{
		{payload: ``, reason: "byte 0: unexpected end"},
		{payload: `null`, reason: ""},
		{payload: `"secret"`, reason: ""},
		{payload: `1`, reason: ""},
		{payload: `{}{}`, reason: "byte 2: text after the value"},
		{payload: `[{}] x`, reason: "byte 5: text after the value"},
		{payload: `[{},]`, reason: "byte 4: expected a value"},
		{payload: `{"documentName":secret}`, reason: "byte 16: expected a value"},
		{payload: `{"documentName":"secret`, reason: "byte 23: unexpected end"},
		{payload: "\ufeff{}", reason: "byte 0: expected a value"},
		{payload: "{\"a\":\"\xff\",}", reason: "byte 6: text is not UTF-8"},
		{payload: "[{\"a\":\"\xff\"},{]", reason: "byte 7: text is not UTF-8"},
		{payload: `{"x":{"y":[1,{"secret":01}`, reason: "byte 24: expected a comma or the end of the object or array"},
		{payload: `{"signers":[{"email":"a",}]}`, reason: "byte 25: expected a key in double quotes"},
		{payload: strings.Repeat(`{"a":`, 600), reason: "byte 2560: nested more than 512 levels deep"},
		{payload: `{"a":"\ud800`, reason: "byte 12: unexpected end"},
		{payload: `{"contact_field(page1)[x]":{"a":tru}}`, reason: "byte 32: expected a value"},
	} {
		t.Run(fmt.Sprintf("%.60s", row.payload), func(t *testing.T) {
			events, err := webhook.Parse([]byte(row.payload))
			require.ErrorIs(t, err, webhook.ErrPayload)
			require.ErrorContains(t, err, row.reason)
			require.NotContains(t, err.Error(), "secret")
			require.Nil(t, events)
		})
	}
}

// An element that is no object is genuine, and so are its neighbours.
func TestParseElementThatIsNotAnObject(t *testing.T) {
	for _, element := range []string{`null`, `"text"`, `1`, `false`, `[{}]`} {
		t.Run(element, func(t *testing.T) {
			events, err := webhook.Parse([]byte(`[` + form + `, ` + element + ` ,` + unknown + `]`))
			require.NoError(t, err)
			require.Len(t, events, 3)
			require.IsType(t, &webhook.FormResponse{}, events[0])
			e := events[1].(*webhook.UnknownEvent)
			require.EqualError(t, e.Err, "webhook: element is not a JSON object")
			require.Equal(t, element, string(e.Raw()))
			require.Empty(t, e.EventType())
			require.Empty(t, e.SubjectID())
			require.Equal(t, webhook.EventType("new_thing"), events[2].EventType())
		})
	}
}

// An event without a type could be of any: it is undecodable, and says what it is about.
func TestParseWithoutType(t *testing.T) {
	for _, row := range []struct{ body, subject string }{
		{body: `{}`, subject: ""}, {body: `{"webhookEvent":null,"documentId":"d"}`, subject: "d"}, {body: `{"webhookEvent":"","formId":"f"}`, subject: ""},
		{body: `{"documentId":"d","other":1}`, subject: "d"},
	} {
		t.Run(row.body, func(t *testing.T) {
			e := parseOne(t, row.body).(*webhook.UnknownEvent)
			require.EqualError(t, e.Err, "webhook: event has no webhookEvent, and its fields do not tell its type")
			require.Empty(t, e.EventType())
			require.Equal(t, row.subject, e.SubjectID())
		})
	}
	e := parseOne(t, `{"webhookEvent":"new_thing","formResponseId":"r","documentId":"d"}`).(*webhook.UnknownEvent)
	require.Equal(t, "r", e.SubjectID())
}

// Each member at a time is given every JSON type that it does not have.
func TestParseMisfits(t *testing.T) {
	for _, c := range []struct{ eventType, member, field, want, bad string }{
		{eventType: "new_form_response", member: `"formId":%s`, field: "formId", want: "a string", bad: `{} [] [1]`},
		{eventType: "new_form_response", member: `"finishedPdfUrl":%s`, field: "finishedPdfUrl", want: "a string", bad: `{} []`},
		{eventType: "new_form_response", member: `"response":%s`, field: "response", want: "an array of objects", bad: `1 "a" {} false`},
		{eventType: "new_form_response", member: `"response":[{},%s]`, field: "response[1]", want: "an object", bad: `1 "a" [] false`},
		{eventType: "new_form_response", member: `"response":[{},{},{"id":%s}]`, field: "response[2].id", want: "a string", bad: `{} []`},
		{eventType: "new_template_response", member: `"signers":%s`, field: "signers", want: "an array of objects", bad: `1 "a" {} false`},
		{eventType: "new_template_response", member: `"signers":[%s]`, field: "signers[0]", want: "an object", bad: `1 "a" [] false`},
		{eventType: "new_signature_pdf_individual_signed", member: `"isSigningOrder":%s`, field: "isSigningOrder", want: "true or false", bad: `2 "maybe" {}`},
		{eventType: "new_signature_pdf_individual_signed", member: `"signers":[{},{"email":%s}]`, field: "signers[1].email", want: "a string", bad: `[] {}`},
		{eventType: "new_signature_pdf_individual_signed", member: `"signers":[{"hasDeclined":%s}]`, field: "signers[0].hasDeclined", want: "true or false", bad: `-1 "no" []`},
		{eventType: "new_signature_pdf_individual_signed", member: `"signers":[{"signingOrderNo":%s}]`, field: "signers[0].signingOrderNo", want: "a whole number", bad: `1.5 "one" true {} 99999999999999999999 1e400 "0x"`},
		{eventType: "new_signature_pdf_individual_signed", member: `"signedBy":%s`, field: "signedBy", want: "an object", bad: `1 "a" []`},
		{eventType: "new_template_response_individual_signed", member: `"signedBy":{"signedAt":%s}`, field: "signedBy.signedAt", want: "a time in RFC 3339 or Unix seconds or milliseconds",
			bad: `"yesterday" "2026-13-01T00:00:00Z" "2026-11-31" "+123456789" 1 1.5 true {}`},
		{eventType: "new_template_response_individual_viewed", member: `"viewedBy":{"viewedAt":%s}`, field: "viewedBy.viewedAt", want: "a time in RFC 3339 or Unix seconds or milliseconds", bad: `"x" -1795176000`},
	} {
		t.Run(c.member, func(t *testing.T) {
			for bad := range strings.FieldsSeq(c.bad) {
				body := `{"webhookEvent":"` + c.eventType + `",` + fmt.Sprintf(c.member, bad) + `,"other":[1]}`
				e := parseOne(t, body)
				_, unknown := e.(*webhook.UnknownEvent)
				require.False(t, unknown, body)
				require.Equal(t, webhook.EventType(c.eventType), e.EventType())
				require.False(t, e.Inferred())
				require.Equal(t, body, string(e.Raw()))
				require.Equal(t, []*webhook.FieldError{{Field: c.field, Want: c.want}}, e.FieldErrors(), body)
				require.EqualError(t, e.FieldErrors()[0], "webhook: field "+c.field+" is not "+c.want)
			}
		})
	}
}

// A value of another JSON type that loses nothing is read, as the client reads it.
func TestParseConverts(t *testing.T) {
	e := parseOne(t, `{"webhookEvent":"new_template_response_individual_signed","documentName":2026,"documentId":true,"isSigningOrder":"true",
		"signers":[{"signerId":5,"hasDeclined":1,"signingOrderNo":1.0},{"signerId":1.50,"hasDeclined":"FALSE","signingOrderNo":"2"},
		{"hasDeclined":"","signingOrderNo":"","email":""},{"signingOrderNo":1e1,"hasDeclined":0}],"signedBy":{"signedAt":"2026-11-20"}}`).(*webhook.TemplateSigned)
	require.Nil(t, e.FieldErrors())
	require.Equal(t, webhook.Document{DocumentName: "2026", DocumentID: "true"}, e.Document)
	require.True(t, e.IsSigningOrder)
	require.Equal(t, []webhook.Signer{{ID: "5", HasDeclined: true, SigningOrderNo: 1}, {ID: "1.50", SigningOrderNo: 2}, {}, {SigningOrderNo: 10}}, e.Signers)
	require.Equal(t, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), e.SignedBy.SignedAt)
}

// fieldsOf names the fields of an event that could not be read.
func fieldsOf(e webhook.Event) (fields []string) {
	for _, f := range e.FieldErrors() {
		fields = append(fields, f.Field)
	}
	return fields
}

// The path of an unreadable value is relative to its own list or object. All unreadable values of an object are named, in the payload's
// order. If a key occurs twice, its last value counts.
func TestParseMisfitAfterOthers(t *testing.T) {
	e := parseOne(t, `{"signers":[{},{}],"viewedBy":{"name":"n"},"documentName":[],"webhookEvent":"new_template_response_individual_viewed"}`)
	require.Equal(t, []string{"documentName"}, fieldsOf(e))
	e = parseOne(t, `{"signers":[{"email":"e"}],"viewedBy":{"name":{},"viewedAt":"x","email":[]},"webhookEvent":"new_template_response_individual_viewed"}`)
	require.Equal(t, []string{"viewedBy.name", "viewedBy.viewedAt", "viewedBy.email"}, fieldsOf(e))
	e = parseOne(t, `{"viewedBy":{"name":{},"viewedAt":"x","name":{},"viewedAt":null},"webhookEvent":"new_template_response_individual_viewed"}`)
	require.Equal(t, []string{"viewedBy.name"}, fieldsOf(e))
	e = parseOne(t, `{"signers":[{},{"email":{},"signerId":[]},{"name":{}}],"webhookEvent":"new_template_response"}`)
	require.Equal(t, []string{"signers[1].email", "signers[1].signerId"}, fieldsOf(e))
	e = parseOne(t, `{"response":[{}],"formTitle":{},"webhookEvent":"new_form_response"}`)
	require.Equal(t, []string{"formTitle"}, fieldsOf(e))
}

// A member that the event's type does not have is an unknown key, whatever it holds.
func TestParseMisfitOfAnotherType(t *testing.T) {
	e := parseOne(t, `{"signers":1,"viewedBy":2,"isSigningOrder":3,"formId":"f","documentName":{},"webhookEvent":"new_form_response"}`)
	require.Equal(t, "f", e.(*webhook.FormResponse).FormID)
	require.Nil(t, e.FieldErrors())
	e = parseOne(t, `{"webhookEvent":"new_signature_pdf_individual_viewed","formId":{},"response":2,"signedBy":3,"isSigningOrder":4,"finishedPdfUrl":[],"documentId":"d"}`)
	require.Equal(t, "d", e.(*webhook.SignatureViewed).DocumentID)
	require.Nil(t, e.FieldErrors())
	e = parseOne(t, `{"webhookEvent":"new_thing","documentId":{},"signers":2}`)
	require.NoError(t, e.(*webhook.UnknownEvent).Err)
	require.Nil(t, e.FieldErrors())
}

// A webhookEvent that is no string counts as missing, and is named.
func TestParseUnreadableType(t *testing.T) {
	for _, value := range []string{`7`, `true`, `{}`, `["new_form_response"]`} {
		t.Run(value, func(t *testing.T) {
			e := parseOne(t, `{"webhookEvent":`+value+`,"formResponseId":"r"}`)
			require.Equal(t, "r", e.(*webhook.FormResponse).FormResponseID)
			require.True(t, e.Inferred())
			require.Equal(t, []string{"webhookEvent"}, fieldsOf(e))
			for _, body := range []string{`{"webhookEvent":` + value + `}`, `{"webhookEvent":"new_form_response","webhookEvent":` + value + `}`} {
				t.Run(body, func(t *testing.T) {
					e = parseOne(t, body)
					require.EqualError(t, e.(*webhook.UnknownEvent).Err, "webhook: field webhookEvent is not a string", "the last value counts, also where it does not fit")
					require.Empty(t, e.EventType())
					require.Nil(t, e.FieldErrors())
				})
			}
		})
	}
}

func TestParseUnreadableURLIsNotReplaced(t *testing.T) {
	e := parseOne(t, `{"webhookEvent":"new_form_response","finishedPdfUrl":[],"documentUrl":"older"}`)
	require.Equal(t, []string{"finishedPdfUrl"}, fieldsOf(e))
	require.Empty(t, e.(*webhook.FormResponse).FinishedPDFURL)
}

func TestParseTimes(t *testing.T) {
	want := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		text string
		want time.Time
	}{
		{text: `"2026-11-20T12:00:00Z"`, want: want},
		{text: `"2026-11-20T13:00:00.000+01:00"`, want: want},
		{text: `"2026-11-20T12:00:00.123456789Z"`, want: want.Add(123456789)},
		{text: `"1795176000"`, want: want},
		{text: `1795176000`, want: want},
		{text: `1795176000123`, want: want.Add(123 * time.Millisecond)},
		{text: `"1795176000123"`, want: want.Add(123 * time.Millisecond)},
		{text: `"2026-11-20T13:00:00.000+0100"`, want: want},
		{text: `"2026-11-20T12:00:00"`, want: want},
		{text: `"2026-11-20T12:00:00.123"`, want: want.Add(123 * time.Millisecond)},
		{text: `"2026-11-20"`, want: want.Add(-12 * time.Hour)},
		{text: `""`, want: time.Time{}},
		{text: `null`, want: time.Time{}},
	} {
		t.Run(row.text, func(t *testing.T) {
			e := parseOne(t, `{"webhookEvent":"new_signature_pdf_individual_viewed","viewedBy":{"viewedAt":`+row.text+`}}`)
			require.Equal(t, row.want, e.(*webhook.SignatureViewed).ViewedBy.ViewedAt)
		})
	}
}

// If a key occurs twice, its last value counts, as in JavaScript, even if it cannot be read.
func TestParseDuplicateKeys(t *testing.T) {
	e := parseOne(t, `{"webhookEvent":"new_signature_pdf_individual_signed","signers":[{"email":{},"hasDeclined":"x","email":"a","hasDeclined":true}],
		"signedBy":{"signedAt":"yesterday","name":[],"name":"n","signedAt":"2026-11-20T12:00:00Z"}}`).(*webhook.SignatureSigned)
	require.Equal(t, []webhook.Signer{{Email: "a", HasDeclined: true}}, e.Signers)
	require.Equal(t, webhook.SignedBy{Signer: webhook.Signer{Name: "n"}, SignedAt: noon}, e.SignedBy)
	require.Nil(t, e.FieldErrors())
	for _, row := range []struct{ body, field string }{
		{body: `{"webhookEvent":"new_template_response","signers":[{},{"name":{},"email":"a","email":[],"name":"n"}]}`, field: "signers[1].email"},
		{body: `{"webhookEvent":"new_template_response_individual_viewed","viewedBy":{"viewedAt":"","viewedAt":"x"}}`, field: "viewedBy.viewedAt"},
		{body: `{"webhookEvent":"new_form_response","response":[{"id":{},"question":"q","question":[],"id":"i"}]}`, field: "response[0].question"},
	} {
		t.Run(row.body, func(t *testing.T) {
			require.Equal(t, []string{row.field}, fieldsOf(parseOne(t, row.body)))
		})
	}
	answer := parseOne(t, `{"webhookEvent":"new_form_response","response":[{"id":{},"id":"i","question":{},"question":null}]}`)
	require.Equal(t, []webhook.FormAnswer{{ID: "i"}}, answer.(*webhook.FormResponse).Answers)
}

func TestParseCopiesThePayload(t *testing.T) {
	payload := []byte(`{"webhookEvent":"new_form_response","formTitle":"title","response":[{"id":"q"}]}`)
	events, err := webhook.Parse(payload)
	require.NoError(t, err)
	clear(payload)
	e := events[0].(*webhook.FormResponse)
	require.Equal(t, "title", e.FormTitle)
	raw := e.Raw()
	require.Contains(t, string(raw), `"formTitle":"title"`)
	clear(raw)
	require.Equal(t, "title", e.FormTitle)
	require.Equal(t, "q", e.Answers[0].ID)
	require.Nil(t, (&webhook.FormResponse{}).Raw())
}
