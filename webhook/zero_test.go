package webhook_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/signforms/signforms-go/webhook"
	"github.com/stretchr/testify/require"
)

// TestZeroValuesRefuse has a Verifier and a Handler that nobody has made: because an error was overlooked, a field was
// left out, or a variable was shadowed. They must not let anything pass, whatever comes.
func TestZeroValuesRefuse(t *testing.T) {
	failed, err := webhook.NewVerifier([]string{""}, nil)
	require.Error(t, err)
	for name, v := range map[string]*webhook.Verifier{"nil": nil, "zero": {}, "refused by NewVerifier": failed} {
		for _, body := range []string{"", "[]", form} {
			for _, h := range []http.Header{nil, signed("", "1795176000", body), signed(secret, "1795176000", body), webhook.Sign("", time.Now(), []byte(body))} {
				got, err := v.Verify(h, []byte(body))
				require.ErrorIs(t, err, webhook.ErrNoSecret, name)
				require.Zero(t, got, name)
				events, err := v.Events(h, []byte(body))
				require.ErrorIs(t, err, webhook.ErrNoSecret, name)
				require.Nil(t, events, name)
			}
		}
		require.Panics(t, func() { v.Middleware(nil) }, name)
		require.Panics(t, func() { webhook.NewHandler(v, webhook.Funcs{Default: ignore}, nil) }, name)
	}
	h := new(webhook.Handler)
	requireAnswer(t, serve(h, form), 500, `{"status":"failed"}`)
	status, answer := h.Receive(t.Context(), signed(secret, "1795176000", form), []byte(form))
	require.Equal(t, 500, status)
	require.Equal(t, `{"status":"failed"}`, string(answer))
}
