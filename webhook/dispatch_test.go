package webhook_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

// record returns Funcs whose functions note their names and what they got.
func record(ran *[]string) webhook.Funcs {
	note := func(name string, ev webhook.Event) error {
		*ran = append(*ran, name+" "+string(ev.EventType()))
		return nil
	}
	return webhook.Funcs{
		FormResponse:       func(_ context.Context, ev *webhook.FormResponse) error { return note("FormResponse", ev) },
		SignatureViewed:    func(_ context.Context, ev *webhook.SignatureViewed) error { return note("SignatureViewed", ev) },
		SignatureSigned:    func(_ context.Context, ev *webhook.SignatureSigned) error { return note("SignatureSigned", ev) },
		SignatureCompleted: func(_ context.Context, ev *webhook.SignatureCompleted) error { return note("SignatureCompleted", ev) },
		TemplateViewed:     func(_ context.Context, ev *webhook.TemplateViewed) error { return note("TemplateViewed", ev) },
		TemplateSigned:     func(_ context.Context, ev *webhook.TemplateSigned) error { return note("TemplateSigned", ev) },
		TemplateResponse:   func(_ context.Context, ev *webhook.TemplateResponse) error { return note("TemplateResponse", ev) },
		Unknown:            func(_ context.Context, ev *webhook.UnknownEvent) error { return note("Unknown", ev) },
		Other:              func(_ context.Context, ev webhook.Event) error { return note("Other", ev) },
	}
}

const (
	unknown     = `{"webhookEvent":"new_thing"}`
	undecodable = `{"webhookEvent":"new_form_response","formId":7}`
)

var everyType = []webhook.EventType{
	webhook.TypeFormResponse, webhook.TypeSignatureViewed, webhook.TypeSignatureSigned, webhook.TypeSignatureCompleted,
	webhook.TypeTemplateViewed, webhook.TypeTemplateSigned, webhook.TypeTemplateResponse,
}

func batch() string {
	var objects []string
	for _, eventType := range everyType {
		objects = append(objects, strings.Trim(string(webhooktest.Sample(eventType)), "[]"))
	}
	return "[" + strings.Join(append(objects, unknown, undecodable), ",") + "]"
}

func TestFuncs(t *testing.T) {
	var ran []string
	requireAnswer(t, serve(webhook.NewHandler(newVerifier(t, nil), record(&ran), nil), batch()), 200, `{"status":"ok"}`)
	require.Equal(t, []string{
		"FormResponse new_form_response",
		"SignatureViewed new_signature_pdf_individual_viewed",
		"SignatureSigned new_signature_pdf_individual_signed",
		"SignatureCompleted new_signature_pdf_completed",
		"TemplateViewed new_template_response_individual_viewed",
		"TemplateSigned new_template_response_individual_signed",
		"TemplateResponse new_template_response",
		"Unknown new_thing",
		"Unknown new_form_response",
	}, ran)
}

func TestFuncsOther(t *testing.T) {
	var ran []string
	other := webhook.Funcs{Other: record(&ran).Other}
	var problems []error
	h := webhook.NewHandler(newVerifier(t, nil), other, &webhook.HandlerOptions{
		OnError: func(_ context.Context, err error) { problems = append(problems, err) },
	})
	requireAnswer(t, serve(h, batch()), 500, `{"status":"failed"}`)
	require.Len(t, ran, 8)
	require.Equal(t, "Other new_thing", ran[7])
	require.Len(t, problems, 1, "the event that could not be decoded is not for Other")
	var problem *webhook.EventError
	require.ErrorAs(t, problems[0], &problem)
	require.Equal(t, 8, problem.Index)
	require.EqualError(t, problem, "event 8 (new_form_response): webhook: field formId is not a string")
}

func TestFuncsNone(t *testing.T) {
	var log bytes.Buffer
	var ran []string
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: record(&ran).FormResponse}, &webhook.HandlerOptions{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	requireAnswer(t, serve(h, string(webhooktest.Sample(webhook.TypeTemplateSigned))), 200, `{"status":"ok"}`)
	require.Contains(t, log.String(), "no function for it")
	require.Contains(t, log.String(), "new_template_response_individual_signed")
	requireAnswer(t, serve(h, "["+undecodable+"]"), 500, `{"status":"failed"}`)
	requireAnswer(t, serve(h, "["+undecodable+","+unknown+"]"), 500, `{"status":"failed"}`)
	require.Empty(t, ran)
}
