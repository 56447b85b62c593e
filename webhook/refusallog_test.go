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

// refusers are the two ways to refuse requests. Both must log the same.
func refusers(t *testing.T, log *slog.Logger, onError func(context.Context, error)) map[string]http.Handler {
	v := newVerifier(t, nil)
	return map[string]http.Handler{
		"handler": webhook.NewHandler(v, webhook.Funcs{Default: ignore}, &webhook.HandlerOptions{Logger: log, OnError: onError}),
		"middleware": v.Middleware(&webhook.MiddlewareOptions{Logger: log, OnError: onError})(
			http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})),
	}
}

// TestHandler_refusalsInTheLog has a crowd of strangers: five lines a minute are at warn level, and the next one says how many
// were not. A genuine delivery that is late has lines of its own.
func TestHandler_refusalsInTheLog(t *testing.T) {
	for name := range refusers(t, slog.Default(), nil) {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			reported := 0
			h := refusers(t, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				func(_ context.Context, err error) {
					reported++
					assert.ErrorIs(t, err, err.(*webhook.RefusedError).Err)
				})[name]
			late := webhooktest.NewRequest(target, secret, noon.Add(-time.Hour), []byte("[]"))
			count := func(level string) int { return strings.Count(log.String(), "level="+level) }
			for range 100 {
				requireAnswer(t, serveRequest(h, forged()), 401, `{"status":"unauthorized"}`)
			}
			require.Contains(t, log.String(), "webhook.Diagnose, or the command \\\"signforms webhook diagnose\\\"")
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

func TestRefusedError(t *testing.T) {
	var told []error
	h := refusers(t, slog.New(slog.DiscardHandler), func(_ context.Context, err error) { told = append(told, err) })["handler"]
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
