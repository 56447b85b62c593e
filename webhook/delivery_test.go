package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/assert"
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
		Default:            func(_ context.Context, ev webhook.Event) error { return note("Default", ev) },
	}
}

const (
	unknown     = `{"webhookEvent":"new_thing"}`
	undecodable = `{"webhookEvent":[],"documentId":"d"}`
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
		"Unknown ",
	}, ran)
}

func TestFuncs_default(t *testing.T) {
	var ran []string
	other := webhook.Funcs{Default: record(&ran).Default}
	var problems []error
	h := webhook.NewHandler(newVerifier(t, nil), other, &webhook.HandlerOptions{
		OnError: func(_ context.Context, err error) { problems = append(problems, err) },
	})
	requireAnswer(t, serve(h, batch()), 500, `{"status":"failed"}`)
	require.Len(t, ran, 8)
	require.Equal(t, "Default new_thing", ran[7])
	require.Len(t, problems, 1, "the event that could not be decoded is not for Default")
	var problem *webhook.EventError
	require.ErrorAs(t, problems[0], &problem)
	require.Equal(t, 8, problem.Index)
	require.EqualError(t, problem, "event 8 (no type d): webhook: field webhookEvent is not a string; Funcs.Unknown would take the event")
}

func TestFuncs_none(t *testing.T) {
	var log bytes.Buffer
	var ran []string
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: record(&ran).FormResponse}, &webhook.HandlerOptions{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	requireAnswer(t, serve(h, string(webhooktest.Sample(webhook.TypeTemplateSigned))), 200, `{"status":"ok"}`)
	require.Contains(t, log.String(), "no function is set for it")
	require.Contains(t, log.String(), "new_template_response_individual_signed")
	requireAnswer(t, serve(h, "["+undecodable+"]"), 500, `{"status":"failed"}`)
	requireAnswer(t, serve(h, "["+undecodable+","+unknown+"]"), 500, `{"status":"failed"}`)
	require.Empty(t, ran)
}

func TestHandler_failures(t *testing.T) {
	cause := errors.New("disk full")
	for _, c := range []struct {
		name   string
		fail   func() error
		status int
		text   string
		stack  bool
	}{
		{name: "none", fail: func() error { return nil }, status: 200},
		{name: "error", fail: func() error { return cause }, status: 500, text: "event 1 (new_signature_pdf_individual_viewed 602c2631-2d49-4647-a609-75331ebb0338): disk full"},
		{name: "permanent", fail: func() error { return webhook.Permanent(cause) }, status: 200, text: "event 1 (new_signature_pdf_individual_viewed 602c2631-2d49-4647-a609-75331ebb0338): disk full"},
		{name: "wrapped permanent", fail: func() error { return fmt.Errorf("saving: %w", webhook.Permanent(cause)) }, status: 200, text: "saving: disk full"},
		{name: "permanent nil", fail: func() error { return webhook.Permanent(nil) }, status: 200},
		{name: "panic", fail: func() error { panic("at the disco") }, status: 500, text: "panic: at the disco", stack: true},
		{name: "panic with error", fail: func() error { panic(cause) }, status: 500, text: "panic: disk full", stack: true},
		{name: "panic permanent", fail: func() error { panic(webhook.Permanent(cause)) }, status: 500, text: "panic: disk full", stack: true},
		{name: "panic nil", fail: func() error { panic(nil) }, status: 500, text: "panic: panic called with nil", stack: true},
		{name: "abort", fail: func() error { panic(http.ErrAbortHandler) }, status: 500, text: "panic: net/http: abort Handler", stack: true},
		{name: "panic uncomparable", fail: func() error { panic([]int{1}) }, status: 500, text: "panic: [1]", stack: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran []string
			var problems []error
			on := record(&ran)
			on.SignatureViewed = func(context.Context, *webhook.SignatureViewed) error { return c.fail() }
			h := webhook.NewHandler(newVerifier(t, nil), on, &webhook.HandlerOptions{
				OnError: func(_ context.Context, err error) { problems = append(problems, err) },
			})
			require.Equal(t, c.status, serve(h, batch()).Code)
			require.Len(t, ran, 8, "the others run all the same")
			if c.text == "" {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.ErrorContains(t, problems[0], c.text)
			var problem *webhook.EventError
			require.ErrorAs(t, problems[0], &problem)
			require.Equal(t, 1, problem.Index)
			require.IsType(t, &webhook.SignatureViewed{}, problem.Event)
			require.EqualError(t, problem, "event 1 (new_signature_pdf_individual_viewed 602c2631-2d49-4647-a609-75331ebb0338): "+problem.Err.Error())
			p, panicked := errors.AsType[*webhook.PanicError](problems[0])
			require.Equal(t, c.stack, panicked && strings.Contains(string(p.Stack), "TestHandler_failures"))
			require.Equal(t, strings.Contains(c.text, "disk full"), errors.Is(problems[0], cause))
		})
	}
}

// TestFuncs_context has a sender that hangs up while a function runs.
func TestFuncs_context(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		ctx, hangUp := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		var kept context.Context
		ran := 0
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse: func(ctx context.Context, _ *webhook.FormResponse) error {
				ran++
				kept = ctx
				hangUp()
				time.Sleep(10 * time.Second) // the time runs from the start, not from when someone asks for it
				assert.NoError(t, ctx.Err())
				assert.NoError(t, context.Cause(ctx))
				assert.Equal(t, "value", ctx.Value(key{}))
				verified, ok := webhook.VerifiedFromContext(ctx)
				assert.True(t, ok)
				assert.Equal(t, webhook.Verified{Timestamp: noon}, verified)
				deadline, ok := ctx.Deadline()
				assert.True(t, ok)
				assert.Equal(t, 50*time.Second, time.Until(deadline))

				begun := time.Now()
				derived, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				<-derived.Done()
				assert.Equal(t, 50*time.Second, time.Since(begun), "the time of each event is its own")
				assert.Equal(t, context.DeadlineExceeded, ctx.Err())
				return ctx.Err()
			},
			Default: func(ctx context.Context, _ webhook.Event) error {
				ran++
				kept = ctx
				return nil
			},
		}, &webhook.HandlerOptions{Timeout: time.Minute})
		r := webhooktest.NewRequest(target, secret, noon, []byte(array(form, elements[0], unknown))).WithContext(ctx)
		require.Equal(t, 500, serveRequest(h, r).Code)
		require.Equal(t, 3, ran)
		require.Equal(t, context.Canceled, kept.Err(), "a function's context ends with it")
		<-kept.Done()
	})
}

// TestHandler_noPersonalData plants names, addresses and answers in every place of a delivery and looks for them in what the
// package itself says.
func TestHandler_noPersonalData(t *testing.T) {
	const planted = `{"webhookEvent":"new_form_response","formTitle":"Planted","formId":["planted"],"respondentEmail":"planted@example.com","response":[{"answer":"planted"}]}`
	var said bytes.Buffer
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{
		FormResponse:    func(context.Context, *webhook.FormResponse) error { return nil },
		SignatureViewed: func(context.Context, *webhook.SignatureViewed) error { return errors.New("disk full") },
		SignatureSigned: func(context.Context, *webhook.SignatureSigned) error { return nil },
		TemplateSigned:  func(context.Context, *webhook.TemplateSigned) error { panic("at the disco") },
	}, &webhook.HandlerOptions{
		Logger:  slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug})),
		OnError: func(_ context.Context, err error) { fmt.Fprintln(&said, err) },
		OnEvent: func(_ context.Context, res webhook.EventResult) {
			fmt.Fprintln(&said, res.Outcome, res.Event.SubjectID())
		},
	})
	whole := strings.TrimSuffix(batch(), "]") + "," + planted + "]"
	require.Equal(t, 500, serve(h, whole).Code)
	require.Equal(t, 500, serve(h, whole).Code)
	serve(h, whole+"planted")
	serveRequest(h, webhooktest.NewRequest(target, "planted secret 0123", noon, []byte(whole)))
	serveRequest(h, webhooktest.NewRequest(target, secret, noon.Add(-time.Hour), []byte(whole)))
	for _, text := range []string{"event failed", "panic", "TestHandler_noPersonalData", "formId is not a string", "no function", "event processed", "skipped", "request refused", "repeated 602c2631"} {
		t.Run(text, func(t *testing.T) {
			require.Contains(t, said.String(), text)
		})
	}
	for _, private := range []string{"lanted", "@example.com", "203.0.113", "Ann", "Lease", "files.example.com", "legal name", secret} {
		t.Run(private, func(t *testing.T) {
			require.NotContains(t, said.String(), private)
		})
	}
}
