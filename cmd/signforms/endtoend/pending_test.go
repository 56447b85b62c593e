package endtoend_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// Three deliveries for each document wait for their next attempt while the program is started again, its clock moves by 10 hours and
// by 30 days, and it is reset. The test logs its figures: go test -run PendingDeliveries -v -timeout 30m . -many 3334
func TestPendingDeliveries(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer receiver.Close()
	args := []string{"--plain-pdfs", "--data", filepath.Join(t.TempDir(), "sandbox.db")}
	s := start(t, args...)
	threeEach(t, s, receiver.URL)
	require.NoError(t, s.client.Post(t.Context(), "/clock/settle", wire.Wait{Timeout: wire.Duration(5 * time.Minute)}, nil))
	require.Equal(t, [2]int{3 * *many, 0}, deliveries(t, s))
	s.stop(t)
	timed(t, "restart", func() { s = start(t, args...) })
	require.Equal(t, [2]int{3 * *many, 0}, deliveries(t, s))
	advance(t, s, 10*time.Hour)
	require.Equal(t, [2]int{3 * *many, 0}, deliveries(t, s))
	advance(t, s, 30*24*time.Hour)
	require.Equal(t, [2]int{0, 3 * *many}, deliveries(t, s))
	timed(t, "reset", func() { require.NoError(t, s.client.Post(t.Context(), "/reset", nil, nil)) })
	require.Equal(t, [2]int{}, deliveries(t, s))
}

// A month of a busy account passes in one advance: each document has three deliveries, whose first attempts the receiver
// refuses, and the reminders that are allowed were sent. The test logs how long that takes:
// go test -run Month -v -timeout 30m . -many 2000
func TestAMonthInOneAdvance(t *testing.T) {
	seen := sync.Map{} // bodies
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, again := seen.LoadOrStore(string(body), true); !again {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer receiver.Close()
	s := start(t, "--plain-pdfs", "--data", filepath.Join(t.TempDir(), "sandbox.db"))
	var open wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/documents", lease("Lease"), &open))
	remind := func() (accepted int) {
		for s.call(t, "POST", "/send-reminder?documentType=PDF&documentId="+open.ID, struct{}{}, nil) == http.StatusOK {
			accepted++
		}
		return accepted
	}
	require.Equal(t, 5, remind())
	threeEach(t, s, receiver.URL)
	advance(t, s, 30*24*time.Hour)
	require.Equal(t, 5, remind())
	require.Equal(t, [2]int{}, deliveries(t, s))
}

// threeEach adds a webhook and documents. Each gives it three deliveries: viewed, signed and completed.
func threeEach(t *testing.T, s *sandbox, receiver string) {
	t.Helper()
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", map[string]any{"url": receiver, "event": "new_signature_completed"}, nil))
	parallel(t, s, func(c *apiClient, i int) int {
		var made wire.ID
		c.post(wire.Prefix+"/documents", lease("Lease"), &made)
		c.post(wire.Prefix+"/documents/"+made.ID+"/view", map[string]string{"signer": "ann@example.com"}, nil)
		return c.post(wire.Prefix+"/documents/"+made.ID+"/sign", map[string]string{"signer": "ann@example.com"}, nil)
	})
}

func advance(t *testing.T, s *sandbox, by time.Duration) {
	t.Helper()
	timed(t, "advance by "+by.String(), func() {
		require.NoError(t, s.client.Post(t.Context(), "/clock/advance", wire.Advance{By: wire.Duration(by)}, nil))
	})
}

func timed(t *testing.T, what string, do func()) {
	t.Helper()
	began := time.Now()
	do()
	t.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
}

// deliveries returns how many deliveries are pending, and how many have failed.
func deliveries(t *testing.T, s *sandbox) [2]int {
	t.Helper()
	var now struct {
		Pending int `json:"pendingDeliveries"`
		Failed  int `json:"failedDeliveries"`
	}
	require.NoError(t, s.client.Get(t.Context(), "/status", nil, &now))
	return [2]int{now.Pending, now.Failed}
}
