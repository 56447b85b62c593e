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

// TestDocumentRef_roundTrip as text, JSON, a flag and a log line.
func TestDocumentRef_roundTrip(t *testing.T) {
	for _, row := range []struct {
		want string
		ref  signforms.DocumentRef
	}{
		{want: "PDF:" + clienttest.PDFID, ref: signforms.PDFDocument(clienttest.PDFID)},
		{want: "PDF:" + strings.ToUpper(clienttest.PDFID), ref: signforms.PDFDocument(strings.ToUpper(clienttest.PDFID))},
		{want: "PDF_TEMPLATE:" + clienttest.TemplateID + ":" + clienttest.CreatedID, ref: signforms.TemplateDocument(clienttest.TemplateID, clienttest.CreatedID)},
		{want: "", ref: signforms.DocumentRef{}},
	} {
		t.Run(row.want, func(t *testing.T) {
			require.Equal(t, row.want, row.ref.String())
			type job struct {
				Next signforms.DocumentRef
				Left map[signforms.DocumentRef]int
			}
			stored, err := json.Marshal(job{row.ref, map[signforms.DocumentRef]int{row.ref: 3}})
			require.NoError(t, err)
			require.JSONEq(t, `{"Next":"`+row.want+`","Left":{"`+row.want+`":3}}`, string(stored))
			var read job
			require.NoError(t, json.Unmarshal(stored, &read))
			require.Equal(t, row.ref, read.Next)
			require.Equal(t, map[signforms.DocumentRef]int{row.ref: 3}, read.Left)

			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("reminding", "ref", row.ref)
			require.Contains(t, log.String(), `"ref":"`+row.want+`"`)
			if row.want == "" {
				return
			}
			parsed, err := signforms.ParseDocumentRef(row.want)
			require.NoError(t, err)
			require.Equal(t, row.ref, parsed)
			var given signforms.DocumentRef
			flags := flag.NewFlagSet("", flag.ContinueOnError)
			flags.SetOutput(io.Discard)
			flags.TextVar(&given, "ref", signforms.DocumentRef{}, "document")
			require.NoError(t, flags.Parse([]string{"-ref", row.want}))
			require.Equal(t, row.ref, given)
		})
	}
}

func TestParseDocumentRef_invalid(t *testing.T) {
	for _, row := range []struct{ text, field string }{
		{text: "", field: "must be PDF:"},
		{text: "x", field: "must be PDF:"},
		{text: clienttest.PDFID, field: "must be PDF:"},
		{text: "pdf:" + clienttest.PDFID, field: "must be PDF:"},
		{text: "PDF", field: "documentID must be a UUID"},
		{text: "PDF:", field: "documentID must be a UUID"},
		{text: "PDF:" + clienttest.PDFID + " ", field: "documentID must be a UUID"},
		{text: "PDF:" + clienttest.PDFID + ":", field: "documentID must be a UUID"},
		{text: "PDF:" + clienttest.CreatedID, field: "give the template's UUID with it"},
		{text: "PDF_TEMPLATE:" + clienttest.TemplateID, field: "documentID must be given"},
		{text: "PDF_TEMPLATE::" + clienttest.CreatedID, field: "templateID must be a UUID"},
		{text: "PDF_TEMPLATE:" + clienttest.TemplateID + ":" + clienttest.CreatedID + ":x", field: "documentID must be an ObjectId"},
	} {
		t.Run(row.text, func(t *testing.T) {
			_, err := signforms.ParseDocumentRef(row.text)
			clienttest.RequireMatches(t, err, signforms.ErrInvalid)
			require.ErrorContains(t, err, "parse document reference: invalid input: ")
			require.ErrorContains(t, err, row.field)
			ref := signforms.PDFDocument(clienttest.PDFID)
			if err := ref.UnmarshalText([]byte(row.text)); row.text != "" {
				require.Error(t, err)
			}
			require.Zero(t, ref)
		})
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

// TestDocumentRef_ofRecordsBuiltByHand, so that fakes can return them.
func TestDocumentRef_ofRecordsBuiltByHand(t *testing.T) {
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

// TestSendResult_roundTrip: everything but the signing links and Raw comes back from JSON.
func TestSendResult_roundTrip(t *testing.T) {
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

func TestSendResult_signerIDs(t *testing.T) {
	signers := []signforms.Signer{{ID: "b", Name: "Ben"}, {Name: "Ann"}, {ID: "a"}}
	want := []string{"b", "a"}
	require.Equal(t, want, (&signforms.TemplateSendResult{Signers: signers}).SignerIDs())
	require.Equal(t, want, (&signforms.Respondent{Signers: signers}).SignerIDs())
	require.Nil(t, (&signforms.TemplateSendResult{Signers: signers[1:2]}).SignerIDs())
}
