package webhook_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// TestParseLikeEncodingJSON compares what fuzzing finds late: whole events with keys in any order, values of any type,
// repeated keys, escapes and white space.
func TestParseLikeEncodingJSON(t *testing.T) {
	r := randomEvents{rand.New(rand.NewPCG(1, 0))}
	seen := map[string]int{}
	const payloads = 2000
	for range payloads {
		payload := r.payload()
		elements, ok := plainElements([]byte(payload))
		require.True(t, ok, payload)
		events, err := webhook.Parse([]byte(payload))
		require.NoError(t, err, payload)
		require.Len(t, events, len(elements), payload)
		for i, e := range events {
			comparePlain(t, e, elements[i])
			seen[kindOf(e)]++
		}
		if t.Failed() {
			t.Fatal(payload)
		}
	}
	require.Len(t, seen, 9, "seven types, unknown and undecodable: %v", seen)
	for kind, n := range seen {
		require.Greater(t, n, payloads/40, kind)
	}
}

func kindOf(e webhook.Event) string {
	if u, ok := e.(*webhook.UnknownEvent); ok {
		if u.Err != nil {
			return "undecodable"
		}
		return "unknown"
	}
	return string(e.EventType())
}

type randomEvents struct{ *rand.Rand }

func (r randomEvents) payload() string {
	if r.IntN(4) == 0 {
		return r.object(r.IntN(8), eventKeys)
	}
	var events []string
	for range r.IntN(4) {
		events = append(events, r.object(r.IntN(8), eventKeys))
	}
	return "[" + strings.Join(events, ",") + "]"
}

var (
	eventKeys = []string{`"webhookEvent"`, `"webhookEvent"`, `"webhookEvent"`, `"documentName"`, `"documentId"`, `"documentUrl"`, `"authorEmail"`,
		`"finishedPdfUrl"`, `"isSigningOrder"`, `"signers"`, `"signers"`, `"viewedBy"`, `"signedBy"`, `"formId"`, `"formResponseId"`, `"formTitle"`, `"respondentEmail"`,
		`"response"`, `"unknown"`, `"DocumentName"`, `"signer\u0073"`, `"x(page1)[y]"`, `"x(page1)[\u0079]"`, `"x(page2)[y z]"`}
	signerKeys = []string{`"email"`, `"name"`, `"status"`, `"signerIp"`, `"roleTitle"`, `"signerId"`, `"hasDeclined"`, `"signingOrderNo"`,
		`"viewedAt"`, `"signedAt"`, `"unknown"`, `"na\u006de"`, `"Email"`}
	answerKeys = []string{`"id"`, `"question"`, `"answer"`, `"unknown"`, `"\u0069d"`}
	eventTypes = []string{`"new_form_response"`, `"new_signature_pdf_individual_viewed"`, `"new_signature_pdf_individual_signed"`, `"new_signature_pdf_completed"`,
		`"new_template_response_individual_viewed"`, `"new_template_response_individual_signed"`, `"new_template_respons\u0065"`, `"new_template_response"`, `"new"`, `""`}
	strs   = []string{`""`, `"a"`, `"a longer text, é 😀"`, `"escaped \n\u0041\ud800\ud83d\ude00"`, `null`}
	others = []string{`1`, `-1.5e3`, `true`, `{}`, `[]`, `[{"a":[null]}]`, `12345678901234567890`, `"x"`, `null`}
	times  = []string{`"2026-11-20T12:00:00Z"`, `"2026-11-20T12:00:00.5+01:00"`, `null`}
)

func (r randomEvents) pick(of []string) string { return of[r.IntN(len(of))] }

func (r randomEvents) space() string {
	if r.IntN(10) == 0 {
		return r.pick([]string{" ", "\n", "\t\r\n "})
	}
	return ""
}

func (r randomEvents) object(members int, keys []string) string {
	var list []string
	for range members {
		key := r.pick(keys)
		list = append(list, r.space()+key+r.space()+":"+r.space()+r.value(key)+r.space())
	}
	return "{" + r.space() + strings.Join(list, ",") + "}"
}

// value mostly has the type that fits the key.
func (r randomEvents) value(key string) string {
	if r.IntN(40) == 0 {
		return r.pick(others)
	}
	switch key {
	case `"webhookEvent"`:
		return r.pick(eventTypes)
	case `"isSigningOrder"`, `"hasDeclined"`:
		return r.pick([]string{"true", "false", "null"})
	case `"signingOrderNo"`:
		return r.pick([]string{"0", "1", "25", "-3", "null"})
	case `"viewedAt"`, `"signedAt"`:
		return r.pick(times)
	case `"viewedBy"`, `"signedBy"`:
		return r.object(r.IntN(5), signerKeys)
	case `"signers"`, `"signer\u0073"`:
		return r.list(signerKeys)
	case `"response"`:
		return r.list(answerKeys)
	case `"unknown"`:
		return r.pick(others)
	}
	return r.pick(strs)
}

func (r randomEvents) list(keys []string) string {
	var list []string
	for range r.IntN(7) {
		list = append(list, r.object(r.IntN(5), keys))
	}
	return r.space() + "[" + r.space() + strings.Join(list, ",") + r.space() + "]"
}
