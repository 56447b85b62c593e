package signforms_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// TestDocumentRefSurvivesStorage as text, JSON, a flag and a log line.
func TestDocumentRefSurvivesStorage(t *testing.T) {
	for want, ref := range map[string]signforms.DocumentRef{
		"PDF:" + pdfID:                                 signforms.PDFDocument(pdfID),
		"PDF:" + strings.ToUpper(pdfID):                signforms.PDFDocument(strings.ToUpper(pdfID)),
		"PDF_TEMPLATE:" + templateID + ":" + createdID: signforms.TemplateDocument(templateID, createdID),
		"": {},
	} {
		require.Equal(t, want, ref.String())
		type job struct {
			Next signforms.DocumentRef
			Left map[signforms.DocumentRef]int
		}
		stored, err := json.Marshal(job{ref, map[signforms.DocumentRef]int{ref: 3}})
		require.NoError(t, err)
		require.JSONEq(t, `{"Next":"`+want+`","Left":{"`+want+`":3}}`, string(stored))
		var read job
		require.NoError(t, json.Unmarshal(stored, &read))
		require.Equal(t, ref, read.Next)
		require.Equal(t, map[signforms.DocumentRef]int{ref: 3}, read.Left)

		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("reminding", "ref", ref)
		require.Contains(t, log.String(), `"ref":"`+want+`"`)
		if want == "" {
			continue
		}
		parsed, err := signforms.ParseDocumentRef(want)
		require.NoError(t, err)
		require.Equal(t, ref, parsed)
		var given signforms.DocumentRef
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		flags.TextVar(&given, "ref", signforms.DocumentRef{}, "document")
		require.NoError(t, flags.Parse([]string{"-ref", want}))
		require.Equal(t, ref, given)
	}
}

func TestParseDocumentRefRefuses(t *testing.T) {
	for text, field := range map[string]string{
		"":                           "must be PDF:",
		"x":                          "must be PDF:",
		pdfID:                        "must be PDF:",
		"pdf:" + pdfID:               "must be PDF:",
		"PDF":                        "DocumentRef.documentID must be a UUID",
		"PDF:":                       "DocumentRef.documentID must be a UUID",
		"PDF:" + pdfID + " ":         "DocumentRef.documentID must be a UUID",
		"PDF:" + pdfID + ":":         "DocumentRef.documentID must be a UUID",
		"PDF:" + createdID:           "TemplateDocument takes it",
		"PDF_TEMPLATE:" + templateID: "DocumentRef.createdDocumentID must be given",
		"PDF_TEMPLATE::" + createdID: "DocumentRef.templateID must be a UUID",
		"PDF_TEMPLATE:" + templateID + ":" + createdID + ":x": "DocumentRef.createdDocumentID must be an ObjectId",
	} {
		_, err := signforms.ParseDocumentRef(text)
		requireMatches(t, err, signforms.ErrInvalid)
		require.ErrorContains(t, err, "parse document reference: invalid input: DocumentRef", text)
		require.ErrorContains(t, err, field, text)
		ref := signforms.PDFDocument(pdfID)
		if err := ref.UnmarshalText([]byte(text)); text != "" {
			require.Error(t, err)
		}
		require.Zero(t, ref)
	}
	for _, ref := range []signforms.DocumentRef{
		signforms.PDFDocument(""), signforms.PDFDocument("a:b"), signforms.TemplateDocument(templateID, ""), signforms.TemplateDocument("a:b", createdID),
	} {
		_, err := ref.MarshalText()
		requireMatches(t, err, signforms.ErrInvalid)
	}
}

func FuzzParseDocumentRef(f *testing.F) {
	f.Add("PDF:" + pdfID)
	f.Add("PDF_TEMPLATE:" + templateID + ":" + createdID)
	f.Fuzz(func(t *testing.T, text string) {
		if ref, err := signforms.ParseDocumentRef(text); err == nil && ref.String() != text {
			t.Fatalf("%q became %q", text, ref)
		}
	})
}
