package signforms_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// matched counts the sentinels that err matches.
func matched(err error) (n int) {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			n++
		}
	}
	return n
}

// TestEveryAnswerMatchesASentinel: no error leaves a caller without something to branch on.
func TestEveryAnswerMatchesASentinel(t *testing.T) {
	for status := 300; status < 600; status++ {
		for _, body := range []string{"", `{"code":"strange","message":"no"}`} {
			for _, call := range everyCall {
				err := call.do(t.Context(), scriptedClient(t, answers(status, body), func(o *signforms.Options) { o.MaxAttempts = 1 }))
				want := 1
				if status == 400 && (call.op == signforms.OpVoidDocument || call.op == signforms.OpSendReminder) {
					want = 2 // a refusal may have this status
				}
				require.Equal(t, want, matched(err), "%s: %v", call.name, err)
				if unknown := status/100 != 4 || status == 408; notRepeatable(call.op) {
					require.Equal(t, unknown, errors.Is(err, signforms.ErrOutcomeUnknown), "%s: %v", call.name, err)
				}
			}
		}
	}
	for status, want := range map[int]error{
		300: signforms.ErrInvalid, 399: signforms.ErrInvalid, 402: signforms.ErrRefused, 405: signforms.ErrInvalid, 406: signforms.ErrRefused,
		410: signforms.ErrNotFound, 451: signforms.ErrRefused, 499: signforms.ErrRefused, 500: signforms.ErrUnavailable,
	} {
		requireMatches(t, callOf(t, "Documents.List").do(t.Context(), scriptedClient(t, answers(status, ""), func(o *signforms.Options) { o.MaxAttempts = 1 })), want)
	}
}

// TestEveryLocalRefusalMatchesASentinel: errors of calls for which nothing was sent.
func TestEveryLocalRefusalMatchesASentinel(t *testing.T) {
	for _, w := range wrongInputs {
		requireMatches(t, w.call(t.Context(), scriptedClient(t, silent(t))), signforms.ErrInvalid)
	}
	noPath := func(o *signforms.Options) {
		o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {Path: "/documents/{documentId}"}}
	}
	requireMatches(t, callOf(t, "Documents.List").do(t.Context(), scriptedClient(t, silent(t), noPath)), signforms.ErrInvalid)
	broken := func(o *signforms.Options) { o.LimitStore = &brokenStore{} }
	requireMatches(t, callOf(t, "Documents.Remind").do(t.Context(), scriptedClient(t, silent(t), broken)), signforms.ErrUnavailable)
	_, err := scriptedClient(t, silent(t), broken).Documents.ReminderBudget(t.Context())
	requireMatches(t, err, signforms.ErrUnavailable)
	require.True(t, strings.HasPrefix(err.Error(), "reminder budget: "), err)
	_, err = signforms.ParseDocumentRef("x")
	requireMatches(t, err, signforms.ErrInvalid)

	ended, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, call := range everyCall {
		err := call.do(ended, scriptedClient(t, silent(t)))
		require.ErrorIs(t, err, context.DeadlineExceeded, "%s: the context's error will do", call.name)
	}

	_, err = signforms.New("ftp://x", "", &signforms.Options{MaxAttempts: -1})
	requireMatches(t, err, signforms.ErrInvalid)
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "one line per mistake: %v", err)
}

// brokenStore never answers with anything but an error.
type brokenStore struct{ signforms.MemoryLimitStore }

func (*brokenStore) Take(context.Context, string, int, time.Duration) (string, time.Duration, error) {
	return "", 0, errors.New("down")
}

func (*brokenStore) Peek(context.Context, string, int) ([]time.Duration, error) {
	return nil, errors.New("down")
}

// TestHandMadeErrorsMatch what the same answer of the service would: fakes return them.
func TestHandMadeErrorsMatch(t *testing.T) {
	for _, call := range everyCall {
		for status := 300; status < 600; status++ {
			for _, code := range []string{"", "not_found", "strange"} {
				answer := call.do(t.Context(), scriptedClient(t, answers(status, fmt.Sprintf(`{"code":%q}`, code)), func(o *signforms.Options) { o.MaxAttempts = 1 }))
				made := &signforms.Error{Operation: call.op, StatusCode: status, Code: code}
				for _, s := range sentinels {
					require.Equal(t, errors.Is(answer, s), errors.Is(made, s), "%s %d %s: %v", call.name, status, code, s)
				}
			}
		}
	}
	for _, c := range []struct {
		made *signforms.Error
		want error
	}{
		{&signforms.Error{StatusCode: 404}, signforms.ErrNotFound},
		{&signforms.Error{StatusCode: 503}, signforms.ErrUnavailable},
		{&signforms.Error{}, signforms.ErrUnavailable},
		{&signforms.Error{Operation: signforms.OpSend}, signforms.ErrOutcomeUnknown},
		{&signforms.Error{Operation: signforms.OpSend, StatusCode: 200}, signforms.ErrOutcomeUnknown},
		{&signforms.Error{Operation: signforms.OpVoidDocument, StatusCode: 200, Code: "not_found"}, signforms.ErrNotFound},
		{&signforms.Error{Local: true}, signforms.ErrInvalid},
		{&signforms.Error{Local: true, RetryAfter: time.Minute}, signforms.ErrRateLimited},
	} {
		requireMatches(t, fmt.Errorf("wrapped: %w", c.made), c.want)
	}
	require.EqualError(t, &signforms.Error{StatusCode: 404}, "signforms: 404 (check the ids, the base URL and Options.Endpoints)")
	require.EqualError(t, &signforms.Error{Method: "get document", StatusCode: 404, Message: "No such document"},
		"get document: 404: No such document (check the ids, the base URL and Options.Endpoints)")
}

// TestAttemptErrorsMatchNoSentinel: an attempt is no call, and may be followed by another.
func TestAttemptErrorsMatchNoSentinel(t *testing.T) {
	var seen []error
	c := scriptedClient(t, transportFunc(func(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed }), func(o *signforms.Options) {
		o.OnAttempt = func(_ context.Context, a signforms.Attempt) { seen = append(seen, a.Err) }
	})
	require.Error(t, callOf(t, "Documents.Get").do(t.Context(), c))
	require.Len(t, seen, 4)
	requireMatches(t, seen[0])
	require.ErrorIs(t, seen[0], http.ErrServerClosed)
}

// TestHandMadeRecordsHaveARef, so that fakes can return them.
func TestHandMadeRecordsHaveARef(t *testing.T) {
	want := signforms.TemplateDocument(templateID, createdID)
	require.Equal(t, want, (&signforms.TemplateRespondent{TemplateID: templateID, RespondentDocumentID: createdID}).Ref())
	require.Equal(t, want, (&signforms.Respondent{TemplateID: templateID, RespondentDocumentID: createdID}).Ref())
	require.Equal(t, want, (&signforms.SendResult{TemplateID: templateID, CreatedDocumentID: createdID}).Ref())
	require.Equal(t, signforms.PDFDocument(pdfID), (&signforms.Document{DocumentID: pdfID}).Ref())

	page, err := scriptedClient(t, answers(200, `{"documents":[{"documentId":"`+templateID+`","signingType":"PDF_TEMPLATE","templateRespondents":[
		{"respondentDocumentId":"`+createdID+`"},{"respondentDocumentId":"x","templateId":"other"}]}]}`)).
		Templates.List(t.Context(), signforms.TemplateListParams{})
	require.NoError(t, err)
	require.Equal(t, want, page.Items[0].Respondents[0].Ref())
	require.Equal(t, "other", page.Items[0].Respondents[1].TemplateID)
}

// TestSendResultSurvivesStorage: everything but the signing links and Raw comes back from JSON.
func TestSendResultSurvivesStorage(t *testing.T) {
	sent, err := scriptedClient(t, answers(200, testdata(t, "answers/send_template.json"))).
		Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: templateID, Receivers: oneReceiver})
	require.NoError(t, err)
	require.NotEmpty(t, sent.Signers[0].SentURL)
	stored, err := json.Marshal(sent)
	require.NoError(t, err)
	require.NotContains(t, string(stored), string(sent.Signers[0].SentURL))
	var read signforms.SendResult
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
