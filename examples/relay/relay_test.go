package relay

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// The test runs processes of its own: the test binary with one of these roles.
const (
	role       = "RELAY_TEST_ROLE"
	roleServer = "server" // a NATS server that syncs every message
	roleRelay  = "relay"
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case roleServer:
		runServer(os.Getenv("RELAY_TEST_DIR"), os.Getenv("RELAY_TEST_PORT"))
	case roleRelay:
		go endWithInput()
		fmt.Println("ready")
		check(Run(context.Background(), filepath.Join(os.Getenv("RELAY_TEST_DIR"), "events.db"), os.Getenv("RELAY_TEST_URL"), ""))
	}
	os.Exit(m.Run())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

// endWithInput ends the process with its standard input, so that it does not outlive the test.
func endWithInput() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func runServer(dir, port string) {
	number, err := strconv.Atoi(port)
	check(err)
	_, err = startNATS(dir, number)
	check(err)
	fmt.Println("ready")
	endWithInput()
}

// start starts a child and returns when it is ready, with the function that kills it.
func start(t *testing.T, what, dir, port string) (kill func()) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+what, "RELAY_TEST_DIR="+dir, "RELAY_TEST_PORT="+port, "RELAY_TEST_URL=nats://127.0.0.1:"+port)
	cmd.Stderr = os.Stderr
	_, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return kill
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// Events arrive in the order of their lines and none is missing, though both sides are killed again and again.
func TestRelayAfterKills(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	q, err := queue.OpenSQLite(filepath.Join(dir, "events.db"), nil)
	require.NoError(t, err)
	defer q.Close()
	const lines, each = 20, 60
	killServer, killRelay := start(t, roleServer, dir, port), start(t, roleRelay, dir, port)
	for n := 1; n <= each; n++ {
		var events []webhook.Event
		for line := range lines {
			events = append(events, &webhook.FormResponse{FormResponseID: fmt.Sprint("r", line), FormTitle: fmt.Sprint(n)})
		}
		decoded, err := webhook.Parse(webhooktest.Payload(events...))
		require.NoError(t, err)
		require.NoError(t, q.Store(t.Context(), decoded))
		if n%15 == 0 {
			time.Sleep(time.Duration(rand.N(200)) * time.Millisecond)
			killRelay()
			killServer()
			killServer, killRelay = start(t, roleServer, dir, port), start(t, roleRelay, dir, port)
		} else if n%5 == 0 {
			killRelay()
			killRelay = start(t, roleRelay, dir, port)
		}
	}
	requireEmpty(t, q)
	messages := readStream(t, "nats://127.0.0.1:"+port)
	reached, ids := map[string]int{}, map[string]bool{}
	for _, m := range messages {
		events, err := webhook.Parse(m.Data)
		require.NoError(t, err)
		e := events[0].(*webhook.FormResponse)
		n, err := strconv.Atoi(e.FormTitle)
		require.NoError(t, err)
		line := m.Header.Get(partitionKey)
		require.Equal(t, "response:"+e.FormResponseID, line)
		require.Equal(t, reached[line]+1, n, "%s: in order, each once", line)
		reached[line] = n
		require.False(t, ids[m.Header.Get(nats.MsgIdHdr)])
		ids[m.Header.Get(nats.MsgIdHdr)] = true
	}
	require.Len(t, messages, lines*each)
}

// requireEmpty waits until the queue is worked off. A killed relay's lines wait for the end of its lease.
func requireEmpty(t *testing.T, q *queue.Queue) {
	require.Eventually(t, func() bool {
		s, err := q.Stats(t.Context())
		require.NoError(t, err)
		return s.Pending == 0
	}, 4*time.Minute, 50*time.Millisecond)
}

func readStream(t *testing.T, url string) []*nats.Msg {
	conn, err := nats.Connect(url)
	require.NoError(t, err)
	defer conn.Close()
	js, err := conn.JetStream()
	require.NoError(t, err)
	info, err := js.StreamInfo(stream)
	require.NoError(t, err)
	sub, err := js.SubscribeSync(topic, nats.OrderedConsumer())
	require.NoError(t, err)
	var all []*nats.Msg
	for range info.State.Msgs {
		m, err := sub.NextMsg(30 * time.Second)
		require.NoError(t, err)
		all = append(all, m)
	}
	return all
}

func TestWithoutArguments(t *testing.T) {
	require.NoError(t, runDemo(t.Context()))
}

func TestUsage(t *testing.T) {
	for _, c := range [][2]string{{"", ""}, {"nats://x", "y:1"}} {
		err := Run(t.Context(), filepath.Join(t.TempDir(), "events.db"), c[0], c[1])
		require.ErrorContains(t, err, "want one of nats and kafka")
	}
	_, err := newKafka([]string{"127.0.0.1:1"})
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "brokers"), err)
}
