package webhook_test

import (
	"bytes"
	"context"
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

func forged() *http.Request {
	return webhooktest.NewRequest(target, "another secret", noon, []byte("[]"))
}

// refusers are the two ways to refuse requests, which must tell of them in the same way.
func refusers(t *testing.T, log *slog.Logger, onError func(context.Context, error), diagnose bool) map[string]http.Handler {
	v := newVerifier(t, nil)
	return map[string]http.Handler{
		"handler": webhook.NewHandler(v, webhook.Funcs{Other: ignore}, &webhook.HandlerOptions{Logger: log, OnError: onError, Diagnose: diagnose}),
		"middleware": v.Middleware(&webhook.MiddlewareOptions{Logger: log, OnError: onError, Diagnose: diagnose})(
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})),
	}
}

// TestRefusalsInTheLog has a crowd of strangers: five lines a minute are at warn level, and the next one says how many
// were not. A genuine delivery that is late has lines of its own.
func TestRefusalsInTheLog(t *testing.T) {
	for name := range refusers(t, slog.Default(), nil, false) {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			reported := 0
			h := refusers(t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				func(_ context.Context, err error) {
					reported++
					assert.ErrorIs(t, err, err.(*webhook.RefusedError).Err)
				}, false)[name]
			late := webhooktest.NewRequest(target, secret, noon.Add(-time.Hour), []byte("[]"))
			count := func(level string) int { return strings.Count(log.String(), "level="+level) }
			for range 100 {
				requireAnswer(t, serveRequest(h, forged()), 401, `{"status":"unauthorized"}`)
			}
			require.Equal(t, 5, count("WARN"), name)
			require.Equal(t, 95, count("DEBUG"), name)
			serveRequest(h, late)
			require.Equal(t, 6, count("WARN"), "a clock that is wrong is not hidden by strangers")
			log.Reset()
			time.Sleep(time.Minute - time.Nanosecond)
			serveRequest(h, forged())
			require.Equal(t, 0, count("WARN"), name)
			time.Sleep(time.Nanosecond)
			serveRequest(h, forged())
			require.Equal(t, 1, count("WARN"), name)
			require.Contains(t, log.String(), "at_debug_before=96")
			log.Reset()
			serveRequest(h, forged())
			require.NotContains(t, log.String(), "at_debug_before")
			require.Equal(t, 104, reported, "OnError is told of each")
		})
	}
}

// TestDiagnoseRefused has deliveries signed with a secret that ends in a newline.
func TestDiagnoseRefused(t *testing.T) {
	for name := range refusers(t, slog.Default(), nil, false) {
		synctest.Test(t, func(t *testing.T) {
			const found = "would match the secret with a newline at its end"
			var log bytes.Buffer
			var diagnoses []string
			logger := slog.New(slog.NewTextHandler(&log, nil))
			onError := func(_ context.Context, err error) {
				diagnoses = append(diagnoses, err.(*webhook.RefusedError).Diagnosis)
			}
			send := func(h http.Handler, body string) {
				r := webhooktest.NewRequest(target, secret+"\n", noon, []byte(body))
				require.Equal(t, 401, serveRequest(h, r).Code)
			}
			quiet := refusers(t, logger, onError, false)[name]
			send(quiet, form)
			require.Equal(t, []string{""}, diagnoses, "off by default")

			h := refusers(t, logger, onError, true)[name]
			for range 10 {
				send(h, form)
			}
			time.Sleep(time.Second)
			for range 10 {
				send(h, form)
			}
			time.Sleep(time.Second)
			send(h, strings.Repeat(" ", 64<<10)+form)
			time.Sleep(time.Second)
			r := webhooktest.NewRequest(target, secret, noon, []byte(form))
			r.Header.Del("X-Timestamp")
			serveRequest(h, r)
			require.Len(t, diagnoses, 23)
			for i, diagnosis := range diagnoses {
				switch i {
				case 1, 11:
					require.Contains(t, diagnosis, found, i)
				case 21:
					require.Contains(t, diagnosis, "too large for a diagnosis")
				case 22:
					require.Contains(t, diagnosis, "X-Timestamp is missing")
					require.NotContains(t, diagnosis, "empty", "the body was not read")
				default:
					require.Empty(t, diagnosis, i)
				}
			}
			require.Equal(t, 2, strings.Count(log.String(), found))
			require.NotContains(t, log.String(), secret)
		})
	}
}

func TestRefusedError(t *testing.T) {
	var told []error
	h := refusers(t, slog.New(slog.DiscardHandler), func(_ context.Context, err error) { told = append(told, err) }, false)["handler"]
	serveRequest(h, forged())
	serveRequest(h, method("GET"))
	serve(h, "no JSON")
	require.Len(t, told, 3)
	for i, want := range []int{401, 405, 400} {
		require.Equal(t, want, told[i].(*webhook.RefusedError).Status)
	}
	require.ErrorIs(t, told[0], webhook.ErrSignature)
	require.ErrorIs(t, told[2], webhook.ErrPayload)
}
