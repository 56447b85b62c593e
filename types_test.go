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
	"github.com/signforms/signforms-go/internal/clienttest"
)

// TestDocumentRefSurvivesStorage as text, JSON, a flag and a log line.
func TestDocumentRefSurvivesStorage(t *testing.T) {
	for want, ref := range map[string]signforms.DocumentRef{
		"PDF:" + clienttest.PDFID:                                            signforms.PDFDocument(clienttest.PDFID),
		"PDF:" + strings.ToUpper(clienttest.PDFID):                           signforms.PDFDocument(strings.ToUpper(clienttest.PDFID)),
		"PDF_TEMPLATE:" + clienttest.TemplateID + ":" + clienttest.CreatedID: signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID),
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
		"":                                      "must be PDF:",
		"x":                                     "must be PDF:",
		clienttest.PDFID:                        "must be PDF:",
		"pdf:" + clienttest.PDFID:               "must be PDF:",
		"PDF":                                   "documentID must be a UUID",
		"PDF:":                                  "documentID must be a UUID",
		"PDF:" + clienttest.PDFID + " ":         "documentID must be a UUID",
		"PDF:" + clienttest.PDFID + ":":         "documentID must be a UUID",
		"PDF:" + clienttest.CreatedID:           "give the template's UUID with it",
		"PDF_TEMPLATE:" + clienttest.TemplateID: "documentID must be given",
		"PDF_TEMPLATE::" + clienttest.CreatedID: "templateID must be a UUID",
		"PDF_TEMPLATE:" + clienttest.TemplateID + ":" + clienttest.CreatedID + ":x": "documentID must be an ObjectId",
	} {
		_, err := signforms.ParseDocumentRef(text)
		clienttest.RequireMatches(t, err, signforms.ErrInvalid)
		require.ErrorContains(t, err, "parse document reference: invalid input: ", text)
		require.ErrorContains(t, err, field, text)
		ref := signforms.PDFDocument(clienttest.PDFID)
		if err := ref.UnmarshalText([]byte(text)); text != "" {
			require.Error(t, err)
		}
		require.Zero(t, ref)
	}
	_, err := signforms.TemplateDocument(clienttest.TemplateID, "").MarshalText()
	clienttest.RequireMatches(t, err, signforms.ErrInvalid)
}

func FuzzParseDocumentRef(f *testing.F) {
	f.Add("PDF:" + clienttest.PDFID)
	f.Add("PDF_TEMPLATE:" + clienttest.TemplateID + ":" + clienttest.CreatedID)
	f.Fuzz(func(t *testing.T, text string) {
		if ref, err := signforms.ParseDocumentRef(text); err == nil && ref.String() != text {
			t.Fatalf("%q became %q", text, ref)
		}
	})
}

// TestHandMadeRecordsHaveARef, so that fakes can return them.
func TestHandMadeRecordsHaveARef(t *testing.T) {
	want := signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID)
	require.Equal(t, want, (&signforms.Respondent{TemplateID: clienttest.TemplateID, ID: clienttest.CreatedID}).Ref())
	require.Equal(t, want, (&signforms.TemplateSendResult{TemplateID: clienttest.TemplateID, DocumentID: clienttest.CreatedID}).Ref())
	require.Equal(t, signforms.PDFDocument(clienttest.PDFID), (&signforms.Document{ID: clienttest.PDFID}).Ref())

	page, err := clienttest.Scripted(t, clienttest.Answers(200, `{"documents":[{"documentId":"`+clienttest.TemplateID+`","signingType":"PDF_TEMPLATE","templateRespondents":[
		{"respondentDocumentId":"`+clienttest.CreatedID+`"},{"respondentDocumentId":"x","templateId":"`+clienttest.PDFID+`"}]}]}`)).
		Templates.List(t.Context(), signforms.TemplateListParams{})
	require.NoError(t, err)
	require.Equal(t, want, page.Items[0].Respondents[0].Ref())
	require.Equal(t, clienttest.PDFID, page.Items[0].Respondents[1].TemplateID)
}

// TestSendResultSurvivesStorage: everything but the signing links and Raw comes back from JSON.
func TestSendResultSurvivesStorage(t *testing.T) {
	sent, err := clienttest.Scripted(t, clienttest.Answers(200, clienttest.Testdata(t, "answers/send_template.json"))).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.NotEmpty(t, sent.Signers[0].SentURL)
	stored, err := json.Marshal(sent)
	require.NoError(t, err)
	require.NotContains(t, string(stored), string(sent.Signers[0].SentURL))
	var read signforms.TemplateSendResult
	require.NoError(t, json.Unmarshal(stored, &read))
	require.Equal(t, sent.Ref(), read.Ref())
	for i := range sent.Signers {
		sent.Signers[i].SentURL = ""
	}
	sent.Raw = nil
	require.Equal(t, sent, &read, "a redacted link is read back as none")
	var link signforms.SigningLink
	require.NoError(t, json.Unmarshal([]byte(`"https://sign.example.com/1"`), &link))
	require.Equal(t, "https://sign.example.com/1", string(link))
}

func TestSignerIDs(t *testing.T) {
	signers := []signforms.Signer{{ID: "b", Name: "Ben"}, {Name: "Ann"}, {ID: "a"}}
	want := []string{"b", "a"}
	require.Equal(t, want, (&signforms.TemplateSendResult{Signers: signers}).SignerIDs())
	require.Equal(t, want, (&signforms.Respondent{Signers: signers}).SignerIDs())
	require.Nil(t, (&signforms.TemplateSendResult{Signers: signers[1:2]}).SignerIDs())
}
