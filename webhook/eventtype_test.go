package webhook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
)

// The parts of events without webhookEvent.
const (
	document = `"documentName":"n","documentId":"d","documentUrl":"u","authorEmail":"a"`
	ofPDF    = `{"email":"e","signerIp":"192.0.2.1"}`
	ofRole   = `{"email":"e","roleTitle":"r","signerId":"s"}`
	ofBoth   = `{"email":"e","signerId":"s","signerIp":"192.0.2.1"}`
	ofNone   = `{"email":"e","signerIp":null,"roleTitle":null}`
	emptyPDF = `{"email":"e","status":"PENDING","signerIp":"","hasDeclined":false}`
	emptyTwo = `{"email":"e","signerIp":"","signerId":""}`

	publicSample = `{"roleTitle":"r","email":"e","name":"n","status":"SIGNED","signerIp":"","hasDeclined":false}`
)

func TestParse_infersTheType(t *testing.T) {
	const unknown webhook.EventType = ""
	for _, c := range []struct {
		fields string
		want   webhook.EventType
	}{
		// Forms.
		{fields: `"formResponseId":"r"`, want: webhook.TypeFormResponse},
		{fields: `"formId":"f","formTitle":"t","finishedPdfUrl":"p","response":[{"id":"1"}]`, want: webhook.TypeFormResponse},
		{fields: `"formId":"f","formTitle":"t","finishedPdfUrl":"p"`, want: unknown},
		{fields: `"formId":"f","response":[],"finishedPdfUrl":"p"`, want: webhook.TypeFormResponse},
		{fields: `"formResponseId":[],"formTitle":"t"`, want: webhook.TypeFormResponse},
		{fields: `"formResponseId":null,"formTitle":"t"`, want: unknown},
		{fields: `"formResponseId":"r","documentUrl":"u","documentId":null,"signers":null`, want: webhook.TypeFormResponse},
		{fields: `"formResponseId":"r","documentId":"d"`, want: unknown},
		{fields: `"formResponseId":"r","contact_field(page1)[x]":"y"`, want: unknown},
		{fields: document + `,"formTitle":"t","finishedPdfUrl":"p","signers":[` + ofPDF + `]`, want: unknown},

		// The kind of signer.
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + ofNone + `,` + ofRole + `]`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + ofPDF + `,` + ofRole + `]`, want: unknown},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + ofBoth + `]`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + ofBoth + `,` + ofPDF + `]`, want: unknown},
		{fields: document + `,"signers":[` + ofBoth + `],"viewedBy":` + ofPDF, want: unknown},
		{fields: document + `,"signers":[` + ofBoth + `],"viewedBy":` + ofRole, want: webhook.TypeTemplateViewed},
		{fields: document + `,"signers":[],"viewedBy":` + ofBoth, want: webhook.TypeTemplateViewed},
		{fields: document + `,"signers":[` + ofPDF + `],"signedBy":` + ofBoth, want: unknown},
		{fields: document + `,"signers":[` + ofNone + `],"signedBy":` + emptyTwo, want: webhook.TypeTemplateSigned},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + publicSample + `,` + publicSample + `],"contact_field(page1)[x]":"y"`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + ofNone + `]`, want: unknown},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + emptyPDF + `,` + emptyPDF + `]`, want: webhook.TypeSignatureCompleted},
		{fields: document + `,"finishedPdfUrl":"p","signers":[{"email":"e","signerId":[]}]`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"finishedPdfUrl":"p","signers":[` + emptyTwo + `]`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"signers":[` + ofRole + `],"signers":[` + emptyPDF + `],"viewedBy":` + emptyPDF, want: webhook.TypeSignatureViewed},
		{fields: document + `,"signers":[` + emptyPDF + `],"signedBy":` + emptyPDF + `,"isSigningOrder":false`, want: webhook.TypeSignatureSigned},
		{fields: document + `,"finishedPdfUrl":"p","signers":null,"contact_field(page1)[x]":"y"`, want: unknown},
		{fields: document + `,"signers":[],"viewedBy":` + ofPDF, want: webhook.TypeSignatureViewed},
		{fields: document + `,"isSigningOrder":null,"signers":[],"viewedBy":` + ofPDF, want: webhook.TypeSignatureViewed},
		{fields: document + `,"signers":[],"signedBy":` + ofRole, want: webhook.TypeTemplateSigned},
		{fields: document + `,"signers":[` + ofPDF + `],"signedBy":` + ofRole, want: unknown},

		// Which step.
		{fields: document + `,"signers":[` + ofPDF + `],"viewedBy":7`, want: webhook.TypeSignatureViewed},
		{fields: document + `,"signers":[` + ofPDF + `],"viewedBy":{"email":"e","viewedAt":"?"}`, want: webhook.TypeSignatureViewed},
		{fields: document + `,"signers":[` + ofPDF + `],"signedBy":{"email":"e"},"isSigningOrder":false`, want: webhook.TypeSignatureSigned},
		{fields: document + `,"signers":[` + ofPDF + `],"signedBy":7,"isSigningOrder":false`, want: webhook.TypeSignatureSigned},
		{fields: document + `,"signers":[` + ofPDF + `],"isSigningOrder":false`, want: unknown},
		{fields: document + `,"signers":[` + ofPDF + `],"signedBy":{"email":"e"},"finishedPdfUrl":null,"viewedBy":null`, want: webhook.TypeSignatureSigned},
		{fields: document + `,"signers":[` + ofRole + `],"signedBy":{"email":"e"},"viewedBy":{"email":"e"}`, want: unknown},
		{fields: document + `,"signers":[` + ofRole + `],"signedBy":{"email":"e"},"finishedPdfUrl":""`, want: unknown},
		{fields: document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"isSigningOrder":true`, want: unknown},
		{fields: document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"contact_field(page1)[x]":"y"`, want: unknown},
		{fields: document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"contact_field(page1)[x]":null`, want: webhook.TypeTemplateViewed},
		{fields: document + `,"signers":[` + ofRole + `],"finishedPdfUrl":""`, want: webhook.TypeTemplateResponse},
		{fields: document + `,"signers":[` + ofRole + `],"finishedPdfUrl":null`, want: unknown},
		{fields: document + `,"signers":[` + ofRole + `],"finishedPdfUrl":"p","contact_field(page1)[x]":"y"`, want: webhook.TypeTemplateResponse},
	} {
		t.Run(c.fields, func(t *testing.T) {
			e := parseOne(t, `{`+c.fields+`}`)
			require.Equal(t, c.want, e.EventType())
			require.Equal(t, c.want != unknown, e.Inferred())
			if c.want == unknown {
				require.ErrorContains(t, e.(*webhook.UnknownEvent).Err, "do not tell its type")
			}
		})
	}
}

// An event that somebody publishes as encoding/json prints it must name its type.
func TestEvent_marshal(t *testing.T) {
	for _, c := range []struct {
		name  string
		event webhook.Event
		want  string
	}{
		{name: "named", event: parseOne(t, `{"webhookEvent":"new_template_response"}`), want: "new_template_response"},
		{name: "inferred", event: parseOne(t, `{"formResponseId":"r"}`), want: "new_form_response"},
		{name: "unknown", event: parseOne(t, `{"webhookEvent":"new_thing"}`), want: "new_thing"},
		{name: "not decoded", event: parseOne(t, `{"webhookEvent":7}`), want: ""},
		{name: "made by hand", event: &webhook.FormResponse{FormID: "f"}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := json.Marshal(c.event)
			require.NoError(t, err)
			var fields map[string]any
			require.NoError(t, json.Unmarshal(text, &fields))
			require.Equal(t, c.want, fields["Type"], "%s", text)
		})
	}
}

// Whichever members are missing from an event without webhookEvent, its type is the right one or none.
func TestParse_infersTheTypeWithMissingMembers(t *testing.T) {
	files, err := filepath.Glob("../testdata/events/*_untyped.json")
	require.NoError(t, err)
	require.Len(t, files, 7)
	for _, file := range files {
		payload, err := os.ReadFile(file)
		require.NoError(t, err)
		want := strings.TrimSuffix(filepath.Base(file), "_untyped.json")
		var events []map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(payload, &events))
		var names []string
		for name := range events[0] {
			names = append(names, name)
		}
		inferred := 0
		for set := range 1 << len(names) {
			part := map[string]json.RawMessage{}
			for i, name := range names {
				if set>>i&1 == 1 {
					part[name] = events[0][name]
				}
			}
			text, err := json.Marshal(part)
			require.NoError(t, err)
			if got := parseOne(t, string(text)).EventType(); got != "" {
				inferred++
				require.Equal(t, want, string(got), "%s", text)
			}
		}
		require.NotZero(t, inferred, want)
	}
}
