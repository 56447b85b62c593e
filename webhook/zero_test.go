package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestVerifierAndHandler_zeroValue has a Verifier and a Handler that nobody has made: because an error was overlooked, a field was
// left out, or a variable was shadowed. They must not let anything pass, whatever comes.
func TestVerifierAndHandler_zeroValue(t *testing.T) {
	failed, err := webhook.NewVerifier([]string{""}, nil)
	require.Error(t, err)
	for _, row := range []struct {
		name string
		v    *webhook.Verifier
	}{{name: "nil", v: nil}, {name: "zero", v: &webhook.Verifier{}}, {name: "refused by NewVerifier", v: failed}} {
		t.Run(row.name, func(t *testing.T) {
			for _, body := range []string{"", "[]", form} {
				t.Run(body, func(t *testing.T) {
					for _, h := range []http.Header{nil, signed("", "1795176000", body), signed(secret, "1795176000", body), webhook.Sign("", time.Now(), []byte(body))} {
						got, err := row.v.Verify(h, []byte(body))
						require.ErrorIs(t, err, webhook.ErrNoSecret)
						require.Zero(t, got)
						events, err := row.v.Events(h, []byte(body))
						require.ErrorIs(t, err, webhook.ErrNoSecret)
						require.Nil(t, events)
					}
				})
			}
			require.Panics(t, func() { row.v.Middleware(nil) })
			require.Panics(t, func() { webhook.NewHandler(row.v, webhook.Funcs{Default: ignore}, nil) })
		})
	}
	h := new(webhook.Handler)
	requireAnswer(t, serve(h, form), 500, `{"status":"failed"}`)
	status, answer := h.Receive(t.Context(), signed(secret, "1795176000", form), []byte(form))
	require.Equal(t, 500, status)
	require.Equal(t, `{"status":"failed"}`, string(answer))
}
