package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

// told collects the events that a handler reports.
type told struct {
	mu      sync.Mutex // of errors and results
	errors  []string
	results []webhook.EventResult
	log     bytes.Buffer
}

func (r *told) options() *webhook.HandlerOptions {
	return &webhook.HandlerOptions{
		OnError: func(_ context.Context, err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errors = append(r.errors, err.Error())
		},
		OnEvent: func(_ context.Context, res webhook.EventResult) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.results = append(r.results, res)
		},
		Logger: slog.New(slog.NewTextHandler(&r.log, nil)),
	}
}

func (r *told) all() []webhook.EventResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.results)
}

// outcomes returns the outcome of each event in the order told.
func (r *told) outcomes() (all []string) {
	for i, res := range r.all() {
		if res.Index != i {
			all = append(all, "out of order:")
		}
		all = append(all, res.Outcome.String())
	}
	return all
}

// TestHandler_reportsEachEventNotRun has every way in which events are received and not run. Each is reported once, with its
// index, type and subject, to OnError, to OnEvent and in the log.
func TestHandler_reportsEachEventNotRun(t *testing.T) {
	broken := errors.New("connection refused")
	const misfit = `{"webhookEvent":"new_form_response","formResponseId":"9","formId":[]}`
	for _, c := range []struct {
		name     string
		store    *fakeStore
		on       webhook.Funcs
		body     string
		status   int
		outcomes []string
		errors   []string
		ran      int
	}{
		{
			name:     "the store fails at the first of three",
			store:    &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return 0, broken }},
			body:     array(elements[:3]...),
			status:   503,
			outcomes: []string{"deferred", "deferred", "deferred"},
			errors: []string{
				"event 0 (new_form_response 1): replay store: connection refused",
				"event 1 (new_form_response 2): replay store: connection refused",
				"event 2 (new_form_response 3): replay store: connection refused",
			},
		},
		{
			name:     "busy",
			store:    &fakeStore{begin: func(context.Context, webhook.ReplayKey) (webhook.ReplayState, error) { return webhook.ReplayBusy, nil }},
			body:     elements[0],
			status:   503,
			outcomes: []string{"deferred"},
			errors:   []string{"event 0 (new_form_response 1): webhook: event is being processed for another delivery"},
		},
		{
			name:     "null beside a genuine event",
			body:     "[" + elements[0] + ",null]",
			status:   500,
			outcomes: []string{"processed", "failed"},
			errors:   []string{"event 1 (no type): webhook: element is not a JSON object; Funcs.Unknown would take the event"},
			ran:      1,
		},
		{
			name:     "without a type",
			body:     array(`{"documentId":"d","x":1}`, elements[0]),
			status:   500,
			outcomes: []string{"failed", "processed"},
			errors:   []string{"event 0 (no type d): webhook: event has no webhookEvent, and its fields do not tell its type; Funcs.Unknown would take the event"},
			ran:      1,
		},
		{
			name:     "an unreadable type",
			body:     array(`{"webhookEvent":{},"documentId":"d"}`, elements[0]),
			status:   500,
			outcomes: []string{"failed", "processed"},
			errors:   []string{"event 0 (no type d): webhook: field webhookEvent is not a string; Funcs.Unknown would take the event"},
			ran:      1,
		},
		{
			name:     "a misfit",
			body:     array(misfit, elements[0]),
			status:   200,
			outcomes: []string{"processed", "processed"},
			errors:   []string{"event 0 (new_form_response 9): processed, but webhook: field formId is not a string"},
			ran:      2,
		},
		{
			name:     "misfits in an event that is not recorded",
			store:    &fakeStore{done: func(context.Context) error { return broken }},
			body:     `{"webhookEvent":{},"formResponseId":"9","formTitle":{},"formId":[]}`,
			status:   200,
			outcomes: []string{"processed"},
			errors: []string{"event 0 (new_form_response 9): processed, but a repeat may run it again: replay store: connection refused; " +
				"webhook: field webhookEvent is not a string, and 2 more such"},
			ran: 1,
		},
		{
			name:     "a misfit in a type that nobody asked for",
			on:       webhook.Funcs{TemplateSigned: func(context.Context, *webhook.TemplateSigned) error { return nil }},
			body:     misfit,
			status:   200,
			outcomes: []string{"ignored"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told told
			ran := 0
			if c.ran > 0 || c.store != nil {
				c.on.FormResponse = func(context.Context, *webhook.FormResponse) error { ran++; return nil }
			}
			opts := told.options()
			if c.store != nil {
				opts.ReplayStore = c.store
			}
			h := webhook.NewHandler(newVerifier(t, nil), c.on, opts)
			require.Equal(t, c.status, serve(h, c.body).Code)
			require.Equal(t, c.ran, ran)
			require.Equal(t, c.outcomes, told.outcomes())
			require.Equal(t, c.errors, told.errors)
			if c.store != nil && c.store.begin != nil {
				require.Equal(t, []string{"begin"}, c.store.calls, "a store that fails is not asked for each event")
			}
			for _, res := range told.results {
				require.Equal(t, noon, res.SignedAt)
				if res.Event.SubjectID() != "" && res.Outcome != webhook.OutcomeProcessed {
					require.Contains(t, told.log.String(), "event="+string(res.Event.EventType()))
					require.Contains(t, told.log.String(), "subject="+res.Event.SubjectID())
				}
			}
			require.Equal(t, len(c.errors), strings.Count(told.log.String(), "level=WARN"))
			require.Equal(t, len(c.errors), strings.Count(told.log.String(), " error="))
		})
	}
}

// TestHandlerOptions_OnEvent has an event of every outcome in one delivery and looks at durations.
func TestHandlerOptions_OnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told told
		opts := told.options()
		slow := func(err error) error { time.Sleep(3 * time.Second); return err }
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse:    func(context.Context, *webhook.FormResponse) error { return slow(nil) },
			SignatureSigned: func(context.Context, *webhook.SignatureSigned) error { return slow(errors.New("disk full")) },
			TemplateSigned: func(context.Context, *webhook.TemplateSigned) error {
				return slow(webhook.Permanent(errors.New("no such customer")))
			},
			SignatureViewed: func(context.Context, *webhook.SignatureViewed) error { panic(slow(errors.New("at the disco"))) },
		}, opts)
		require.Equal(t, 200, serve(h, elements[1]).Code)
		told.results = nil
		body := array(elements[0], elements[1], `{"webhookEvent":"new_signature_pdf_individual_signed"}`, `{"webhookEvent":"new_template_response_individual_signed"}`,
			`{"webhookEvent":"new_signature_pdf_individual_viewed"}`, unknown, undecodable)
		require.Equal(t, 500, serve(h, body).Code)
		require.Equal(t, []string{"processed", "repeated", "failed", "failed_permanently", "failed", "ignored", "failed"}, told.outcomes())
		for i, ran := range []bool{true, false, true, true, true, false, false} {
			want := time.Duration(0)
			if ran {
				want = 3 * time.Second
			}
			require.Equal(t, want, told.results[i].Duration, "event %d", i)
		}
		require.NoError(t, told.results[1].Err)
		require.EqualError(t, told.results[2].Err, "disk full")
	})
}

// TestHandler_requestTimeIsOver has a request whose time is over after the first of three events: the others wait for another delivery.
func TestHandler_requestTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told told
		h := webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Tolerance: -1}), webhook.Funcs{
			FormResponse: func(ctx context.Context, _ *webhook.FormResponse) error {
				<-ctx.Done()
				return nil
			},
		}, told.options())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		body := array(elements[:3]...)
		status, _ := h.Receive(ctx, webhook.Sign(secret, noon, []byte(body)), []byte(body))
		require.Equal(t, 503, status)
		require.Equal(t, []string{"processed", "deferred", "deferred"}, told.outcomes())
		require.ErrorIs(t, told.results[2].Err, context.DeadlineExceeded)
	})
}

// TestFuncs_goexit has functions that end their goroutine, as FailNow does in a test. Their siblings run all the same, the
// sender gets its answer, and no claim stays.
func TestFuncs_goexit(t *testing.T) {
	newHandler := func(t *testing.T, told *told, ran *[]string) *webhook.Handler {
		return webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: func(_ context.Context, ev *webhook.FormResponse) error {
			*ran = append(*ran, ev.FormResponseID)
			if len(*ran) <= 2 {
				runtime.Goexit()
			}
			return nil
		}}, told.options())
	}
	body := array(elements[:3]...)
	check := func(t *testing.T, told *told, ran []string) {
		require.Equal(t, []string{"1", "2", "3", "1", "2"}, ran)
		require.Equal(t, []string{"failed", "failed", "processed"}, told.outcomes()[:3])
		require.Len(t, told.errors, 2)
		require.Contains(t, told.errors[0], "event 0 (new_form_response 1): webhook: function ended its goroutine")
	}
	t.Run("behind a server", func(t *testing.T) {
		var told told
		var ran []string
		server := httptest.NewServer(newHandler(t, &told, &ran))
		defer server.Close()
		for _, want := range []struct {
			status int
			body   string
		}{{status: 500, body: `{"status":"failed"}`}, {status: 200, body: `{"status":"ok"}`}} {
			t.Run(want.body, func(t *testing.T) {
				res, err := server.Client().Do(webhooktest.NewRequest(server.URL, secret, noon, []byte(body)))
				require.NoError(t, err)
				answer, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				res.Body.Close()
				require.Equal(t, want.status, res.StatusCode)
				require.Equal(t, want.body, string(answer))
			})
		}
		check(t, &told, ran)
	})
	t.Run("Receive", func(t *testing.T) {
		var told told
		var ran []string
		h := newHandler(t, &told, &ran)
		status, answer := h.Receive(t.Context(), signed(secret, "1795176000", body), []byte(body))
		require.Equal(t, 500, status)
		require.Equal(t, `{"status":"failed"}`, string(answer))
		status, _ = h.Receive(t.Context(), signed(secret, "1795176000", body), []byte(body))
		require.Equal(t, 200, status)
		check(t, &told, ran)
	})
}

// TestHandlerOptions_panicInAHook goes to whoever set the hook, and leaves no claim behind.
func TestHandlerOptions_panicInAHook(t *testing.T) {
	calls := 0
	h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: func(context.Context, *webhook.FormResponse) error {
		if calls++; calls == 1 {
			return errors.New("disk full")
		}
		return nil
	}}, &webhook.HandlerOptions{OnError: func(context.Context, error) { panic("of the hook") }})
	require.PanicsWithValue(t, "of the hook", func() { h.Receive(t.Context(), signed(secret, "1795176000", form), []byte(form)) })
	calls = 0
	require.PanicsWithValue(t, "of the hook", func() { serve(h, form) })
	require.Equal(t, http.StatusOK, serve(h, form).Code)
}

// The sender chooses types and ids: of a long or odd one, errors and the log have a bounded, printable part.
func TestHandler_boundsTypesAndIDs(t *testing.T) {
	for _, c := range []struct{ given, want string }{
		{given: "new_thing", want: "new_thing"},
		{given: "né w", want: "né w"},
		{given: strings.Repeat("x", 100), want: strings.Repeat("x", 100)},
		{given: strings.Repeat("x", 500_000), want: strings.Repeat("x", 100) + "…"},
		{given: strings.Repeat("x", 99) + "éé", want: strings.Repeat("x", 99) + "…"},
		{given: "a\nlevel=ERROR\x1b[2J\u2028b\"", want: `a\nlevel=ERROR\x1b[2J\u2028b\"`},
	} {
		t.Run(fmt.Sprintf("%.60s", c.given), func(t *testing.T) {
			given, err := json.Marshal(c.given)
			require.NoError(t, err)
			var r told
			on := webhook.Funcs{Default: func(context.Context, webhook.Event) error { return errors.New("disk full") }}
			serve(webhook.NewHandler(newVerifier(t, nil), on, r.options()), fmt.Sprintf(`{"webhookEvent":%s,"documentId":%[1]s}`, given))
			require.Equal(t, []string{fmt.Sprintf("event 0 (%s %[1]s): disk full", c.want)}, r.errors)
			require.Less(t, r.log.Len(), 600)
			require.NotContains(t, r.log.String(), "\x1b")
		})
	}
}
