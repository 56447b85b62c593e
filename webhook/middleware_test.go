package webhook_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

// TestMiddleware_body has a body with a key that occurs twice. JavaScript takes the last value as a whole, encoding/json
// mixes the two. Someone on the way can add the first without touching what was signed.
func TestMiddleware_body(t *testing.T) {
	const sent = `[{"webhookEvent":"new_signature_pdf_individual_viewed","documentId":"d","viewedBy":{"name":"Ann < B"}}]`
	const received = `[{"webhookEvent":"new_signature_pdf_individual_viewed","documentId":"d","viewedBy":{"email":"planted@example.com"},"viewedBy":{"name":"Ann \u003c B"}}]`
	type viewed []struct{ ViewedBy struct{ Name, Email string } }
	var mixed viewed
	require.NoError(t, json.Unmarshal([]byte(received), &mixed))
	require.Equal(t, "planted@example.com", mixed[0].ViewedBy.Email, "what encoding/json reads from the bytes received")

	for _, row := range []struct{ name, body string }{{name: "as sent", body: sent}, {name: "reformatted", body: received}} {
		t.Run(row.name, func(t *testing.T) {
			r := webhooktest.NewRequest(target, secret, noon, []byte(sent))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(row.body)), int64(len(row.body))
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(row.body)), nil }
			r.TransferEncoding = []string{"chunked"}
			original := r.Header.Clone()
			passed := false
			w := serveRequest(newVerifier(t, nil).Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				passed = true
				got, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				require.Equal(t, sent, string(got))
				again, err := r.GetBody()
				require.NoError(t, err)
				got, err = io.ReadAll(again)
				require.NoError(t, err)
				require.Equal(t, sent, string(got), "what a proxy would send on at a second attempt")
				require.EqualValues(t, len(sent), r.ContentLength)
				require.Equal(t, strconv.Itoa(len(sent)), r.Header.Get("Content-Length"))
				require.Empty(t, r.TransferEncoding)

				events, err := webhook.EventsFromContext(r.Context())
				require.NoError(t, err)
				require.Equal(t, webhook.Signer{Name: "Ann < B"}, events[0].(*webhook.SignatureViewed).ViewedBy.Signer)
				same, err := webhook.EventsFromContext(r.Context())
				require.NoError(t, err)
				require.Same(t, events[0], same[0])

				verified, ok := webhook.VerifiedFromContext(r.Context())
				require.True(t, ok)
				require.Equal(t, sent, string(verified.Payload))
				require.Equal(t, row.body != sent, verified.Reserialized)
				w.WriteHeader(http.StatusAccepted)
			})), r)
			require.True(t, passed)
			require.Equal(t, http.StatusAccepted, w.Code)
			require.Equal(t, original, r.Header, "the caller's own request must not change")
		})
	}
}

func TestEventsFromContext(t *testing.T) {
	_, err := webhook.EventsFromContext(t.Context())
	require.ErrorContains(t, err, "no delivery in this context")
	_, ok := webhook.VerifiedFromContext(t.Context())
	require.False(t, ok)

	w := serve(newVerifier(t, nil).Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := webhook.EventsFromContext(r.Context())
		require.ErrorIs(t, err, webhook.ErrPayload)
		w.WriteHeader(http.StatusTeapot)
	})), "no JSON")
	require.Equal(t, http.StatusTeapot, w.Code)
}
