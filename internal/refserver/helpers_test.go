package refserver_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
)

// start is the time of clocks that do not move by themselves.
var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// receiver is a webhook endpoint that keeps its deliveries. It answers with the given statuses in turn, then with 200.
type receiver struct {
	URL string

	mu       sync.Mutex
	statuses []int
	got      []received
}

type received struct {
	header http.Header
	body   []byte
}

func newReceiver(t *testing.T, statuses ...int) *receiver {
	t.Helper()
	r := &receiver{statuses: statuses}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	r.URL = srv.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, received{req.Header, body})
	if len(r.statuses) > 0 {
		w.WriteHeader(r.statuses[0])
		r.statuses = r.statuses[1:]
	}
	io.WriteString(w, `{"status":"ok"}`)
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// types returns the webhookEvent of every event that arrived, in order.
func (r *receiver) types(t *testing.T) []string {
	t.Helper()
	var types []string
	for _, d := range r.all() {
		var events []struct{ WebhookEvent string }
		require.NoError(t, json.Unmarshal(d.body, &events), "body %s", d.body)
		for _, e := range events {
			types = append(types, e.WebhookEvent)
		}
	}
	return types
}

// genuine reports whether the signature is right.
func (d received) genuine(secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(d.header.Get("x-timestamp") + "." + string(d.body)))
	return d.header.Get("x-signature") == hex.EncodeToString(mac.Sum(nil))
}

// call makes an API request by hand, with a JSON body unless it is empty, and returns the status and the answer.
func call(t *testing.T, srv *servicetest.Server, method, path, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequest(method, srv.URL+path, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	req.Header.Set("x-api-key", srv.APIKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer map[string]any
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	return resp.StatusCode, answer
}

// sendTemplate sends a template to its only role and returns the createdDocumentId.
func sendTemplate(t *testing.T, srv *servicetest.Server, template, role, email string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"signingType": "PDF_TEMPLATE", "documentId": template,
		"receiversList": []map[string]string{{"name": "Ann", "email": email, "roleTitle": role}},
	})
	require.NoError(t, err)
	status, answer := call(t, srv, "POST", "/pdf-template-lambda", string(body))
	require.Equal(t, 200, status, "answer %v", answer)
	return answer["createdDocumentId"].(string)
}
