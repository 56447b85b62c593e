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

func TestInfer(t *testing.T) {
	const unknown webhook.EventType = ""
	for _, c := range []struct {
		fields string
		want   webhook.EventType
	}{
		// Forms.
		{`"formResponseId":"r"`, webhook.TypeFormResponse},
		{`"formId":"f","formTitle":"t","finishedPdfUrl":"p","response":[{"id":"1"}]`, webhook.TypeFormResponse},
		{`"formId":"f","formTitle":"t","finishedPdfUrl":"p"`, unknown},
		{`"formId":"f","response":[],"finishedPdfUrl":"p"`, webhook.TypeFormResponse},
		{`"formResponseId":[],"formTitle":"t"`, webhook.TypeFormResponse},
		{`"formResponseId":null,"formTitle":"t"`, unknown},
		{`"formResponseId":"r","documentUrl":"u","documentId":null,"signers":null`, webhook.TypeFormResponse},
		{`"formResponseId":"r","documentId":"d"`, unknown},
		{`"formResponseId":"r","contact_field(page1)[x]":"y"`, unknown},
		{document + `,"formTitle":"t","finishedPdfUrl":"p","signers":[` + ofPDF + `]`, unknown},

		// Which kind of signer.
		{document + `,"finishedPdfUrl":"p","signers":[` + ofNone + `,` + ofRole + `]`, webhook.TypeTemplateResponse},
		{document + `,"finishedPdfUrl":"p","signers":[` + ofPDF + `,` + ofRole + `]`, unknown},
		{document + `,"finishedPdfUrl":"p","signers":[` + ofBoth + `]`, webhook.TypeTemplateResponse},
		{document + `,"finishedPdfUrl":"p","signers":[` + ofBoth + `,` + ofPDF + `]`, unknown},
		{document + `,"signers":[` + ofBoth + `],"viewedBy":` + ofPDF, unknown},
		{document + `,"signers":[` + ofBoth + `],"viewedBy":` + ofRole, webhook.TypeTemplateViewed},
		{document + `,"signers":[],"viewedBy":` + ofBoth, webhook.TypeTemplateViewed},
		{document + `,"signers":[` + ofPDF + `],"signedBy":` + ofBoth, unknown},
		{document + `,"signers":[` + ofNone + `],"signedBy":` + emptyTwo, webhook.TypeTemplateSigned},
		{document + `,"finishedPdfUrl":"p","signers":[` + publicSample + `,` + publicSample + `],"contact_field(page1)[x]":"y"`, webhook.TypeTemplateResponse},
		{document + `,"finishedPdfUrl":"p","signers":[` + ofNone + `]`, unknown},
		{document + `,"finishedPdfUrl":"p","signers":[` + emptyPDF + `,` + emptyPDF + `]`, webhook.TypeSignatureCompleted},
		{document + `,"finishedPdfUrl":"p","signers":[{"email":"e","signerId":[]}]`, webhook.TypeTemplateResponse},
		{document + `,"finishedPdfUrl":"p","signers":[` + emptyTwo + `]`, webhook.TypeTemplateResponse},
		{document + `,"signers":[` + ofRole + `],"signers":[` + emptyPDF + `],"viewedBy":` + emptyPDF, webhook.TypeSignatureViewed},
		{document + `,"signers":[` + emptyPDF + `],"signedBy":` + emptyPDF + `,"isSigningOrder":false`, webhook.TypeSignatureSigned},
		{document + `,"finishedPdfUrl":"p","signers":null,"contact_field(page1)[x]":"y"`, unknown},
		{document + `,"signers":[],"viewedBy":` + ofPDF, webhook.TypeSignatureViewed},
		{document + `,"isSigningOrder":null,"signers":[],"viewedBy":` + ofPDF, webhook.TypeSignatureViewed},
		{document + `,"signers":[],"signedBy":` + ofRole, webhook.TypeTemplateSigned},
		{document + `,"signers":[` + ofPDF + `],"signedBy":` + ofRole, unknown},

		// Which step.
		{document + `,"signers":[` + ofPDF + `],"viewedBy":7`, webhook.TypeSignatureViewed},
		{document + `,"signers":[` + ofPDF + `],"viewedBy":{"email":"e","viewedAt":"?"}`, webhook.TypeSignatureViewed},
		{document + `,"signers":[` + ofPDF + `],"signedBy":{"email":"e"},"isSigningOrder":false`, webhook.TypeSignatureSigned},
		{document + `,"signers":[` + ofPDF + `],"signedBy":7,"isSigningOrder":false`, webhook.TypeSignatureSigned},
		{document + `,"signers":[` + ofPDF + `],"isSigningOrder":false`, unknown},
		{document + `,"signers":[` + ofPDF + `],"signedBy":{"email":"e"},"finishedPdfUrl":null,"viewedBy":null`, webhook.TypeSignatureSigned},
		{document + `,"signers":[` + ofRole + `],"signedBy":{"email":"e"},"viewedBy":{"email":"e"}`, unknown},
		{document + `,"signers":[` + ofRole + `],"signedBy":{"email":"e"},"finishedPdfUrl":""`, unknown},
		{document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"isSigningOrder":true`, unknown},
		{document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"contact_field(page1)[x]":"y"`, unknown},
		{document + `,"signers":[` + ofRole + `],"viewedBy":{"email":"e"},"contact_field(page1)[x]":null`, webhook.TypeTemplateViewed},
		{document + `,"signers":[` + ofRole + `],"finishedPdfUrl":""`, webhook.TypeTemplateResponse},
		{document + `,"signers":[` + ofRole + `],"finishedPdfUrl":null`, unknown},
		{document + `,"signers":[` + ofRole + `],"finishedPdfUrl":"p","contact_field(page1)[x]":"y"`, webhook.TypeTemplateResponse},
	} {
		e := parseOne(t, `{`+c.fields+`}`)
		require.Equal(t, c.want, e.EventType(), c.fields)
		require.Equal(t, c.want != unknown, e.Inferred(), c.fields)
		if c.want == unknown {
			require.ErrorContains(t, e.(*webhook.UnknownEvent).Err, "do not tell its type", c.fields)
		}
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
func TestInferWithMembersMissing(t *testing.T) {
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
