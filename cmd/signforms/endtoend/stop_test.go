package endtoend_test

import (
	"database/sql"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// SIGTERM lets an attempt under way end. After the next start the delivery counts as delivered and is not repeated.
func TestStopFinishesAnAttemptUnderWay(t *testing.T) {
	arrived, answer := make(chan bool, 10), make(chan bool)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-answer
	}))
	defer receiver.Close()
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	var hook, delivery wire.ID
	require.NoError(t, s.client.Post(t.Context(), "/webhooks", refserver.Webhook{URL: receiver.URL, Event: "new_signature_completed"}, &hook))
	require.NoError(t, s.client.Post(t.Context(), "/webhooks/"+hook.ID+"/test", nil, &delivery))
	<-arrived
	require.NoError(t, s.process.Signal(syscall.SIGTERM))
	close(answer)
	require.NoError(t, s.wait())
	require.Contains(t, s.stderr.String(), "stopping")

	s = start(t, "--data", data)
	require.NoError(t, s.client.Post(t.Context(), "/clock/settle", nil, nil))
	var found wire.Delivery
	require.NoError(t, s.client.Get(t.Context(), "/deliveries/"+delivery.ID, nil, &found))
	require.Equal(t, refserver.DeliveryDelivered, found.Status)
	require.Len(t, found.Attempts, 1)
	require.Empty(t, arrived, "it was made again")
}

// TestServe_stopsInTime interrupts serve while clients and receivers hold it up. docker stop kills after 10 seconds.
func TestServe_stopsInTime(t *testing.T) {
	t.Parallel()
	begun, release := make(chan bool, 100), make(chan bool)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- true
		<-release
	}))
	defer receiver.Close()
	defer close(release)
	data := filepath.Join(t.TempDir(), "sandbox.db")
	s := start(t, "--data", data)
	for _, name := range []string{"", "tests"} { // the first workspace and another
		client := s.client
		if name != "" {
			made, err := createWorkspace(t, s, name)
			require.NoError(t, err)
			client, err = wire.NewClient(s.Listening, "")
			require.NoError(t, err)
			client = client.In(made.ID)
		}
		var hook wire.ID
		require.NoError(t, client.Post(t.Context(), "/webhooks", refserver.Webhook{URL: receiver.URL, Event: "new_signature_completed"}, &hook))
		require.NoError(t, client.Post(t.Context(), "/webhooks/"+hook.ID+"/test", nil, nil))
		<-begun
	}
	for _, request := range []string{
		"POST /_/api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
		"POST /_/api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2000000\r\n\r\n{",
		"POST /send-reminder HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: " + s.APIKey + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
		"GET /_/api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET /_/api/v1/documents?wait=60s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
		"GET /half HTTP/1.1\r\nHo",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Listening, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, request)
		require.NoError(t, err)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(data), "*.db"))
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, file := range files { // another program has them locked
		db, err := sql.Open("sqlite", file)
		require.NoError(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		_, err = db.ExecContext(t.Context(), "begin immediate")
		require.NoError(t, err)
	}
	time.Sleep(100 * time.Millisecond) // the requests arrive
	began := time.Now()
	require.NoError(t, s.process.Signal(syscall.SIGTERM))
	s.wait()
	require.Less(t, time.Since(began), 8*time.Second)
}
