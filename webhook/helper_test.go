package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

const (
	secret = "whsec_example_7f3c1b52d9e84a06"
	target = "http://example.com/webhook"

	maxBody = 1 << 20 // that of a Verifier, in bytes
)

// Refusals are logged to slog.Default unless a handler has its own logger; the tests' output is no place for that.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// noon is the time of deliveries in tests, 1795176000 in Unix seconds.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

func newVerifier(t testing.TB, opts *webhook.VerifierOptions, secrets ...string) *webhook.Verifier {
	t.Helper()
	if opts == nil {
		opts = &webhook.VerifierOptions{Now: atNoon}
	}
	if secrets == nil {
		secrets = []string{secret}
	}
	v, err := webhook.NewVerifier(secrets, opts)
	require.NoError(t, err)
	return v
}

// signed returns headers for a timestamp of any form; it is written apart from the package's own signing.
func signed(secret, timestamp, body string) http.Header {
	return http.Header{
		"X-Signature": {macOf(secret, timestamp+"."+body)},
		"X-Timestamp": {timestamp},
	}
}

func macOf(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// serve sends one delivery of body, signed at noon, through a handler.
func serve(h http.Handler, body string) *httptest.ResponseRecorder {
	return serveRequest(h, webhooktest.NewRequest(target, secret, noon, []byte(body)))
}

func serveRequest(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func requireAnswer(t testing.TB, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	require.Equal(t, status, w.Code, "answer %s", w.Body)
	require.Equal(t, body, w.Body.String())
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
}
