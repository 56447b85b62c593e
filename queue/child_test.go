package queue_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// The tests run processes of their own: the test binary, which does one of these roles instead of testing.
const (
	roleVariable    = "QUEUE_TEST_ROLE"
	whereVariable   = "QUEUE_TEST_WHERE"
	journalVariable = "QUEUE_TEST_JOURNAL" // a file that all processes append to

	roleServe    = "serve"    // receives on a loopback port and works, with failures now and then
	roleUnsynced = "unsynced" // receives, without a sync of the disk
	roleReceive  = "receive"  // receives
	roleWork     = "work"     // works
	roleDeadly   = "deadly"   // works, and ends at the first event of an ordering key, as a crash in a function does
	roleSlow     = "slow"     // works; its first function waits for a line on standard input
)

// deadlyCode is the exit code of a child that an event has ended.
const deadlyCode = 3

// childTimeout is a function's time-out in a child: short enough for ordering keys of a killed
// process to go on soon, long enough for a machine that is busy.
const childTimeout = 2 * time.Second

// runChild does not return. It ends with standard input, so that no child outlives its test.
func runChild(role string) {
	o := &queue.Options{Logger: slog.New(slog.DiscardHandler), Timeout: childTimeout, Retries: make([]time.Duration, 50)}
	switch role {
	case roleUnsynced:
		o.SetUnsynced()
	case roleDeadly:
		o.Timeout, o.Retries = time.Minute, make([]time.Duration, 2)
	case roleSlow:
		o.Timeout, o.Workers = 2*childTimeout, 1
		o.OnSettled = func(_ context.Context, s queue.Settled) { fmt.Println("settled", s.Entry.Subject, s.Outcome) }
	}
	q, _, err := where(os.Getenv(whereVariable)).open(context.Background(), o)
	check(err)
	addr := "-"
	if role != roleWork && role != roleSlow && role != roleDeadly {
		addr = serve(q)
	}
	file, err := os.OpenFile(os.Getenv(journalVariable), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	check(err)
	stdin := bufio.NewReader(os.Stdin)
	fmt.Println("ready", addr)
	switch role {
	case roleServe, roleWork:
		go func() { check(q.Run(context.Background(), appending(file, role == roleServe))) }()
	case roleDeadly:
		go func() { check(q.Run(context.Background(), dying(file))) }()
	case roleSlow:
		go func() { check(q.Run(context.Background(), waiting(file, stdin))) }()
	}
	if role == roleSlow {
		select {}
	}
	io.Copy(io.Discard, stdin)
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

func serve(q *queue.Queue) string {
	v, err := webhook.NewVerifier([]string{secret}, nil)
	check(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(l, q.Handler(v))
	return l.Addr().String()
}

// appending are functions that append a line to the journal for each event, in one write.
func appending(file *os.File, fail bool) webhook.Funcs {
	return webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		if fail && rand.N(20) == 0 {
			return errors.New("now and then")
		}
		_, err := file.WriteString(name(e) + "\n")
		return err
	}}
}

// dying are functions that end the process at the first event of an ordering key, after its line is in the journal.
func dying(file *os.File) webhook.Funcs {
	return webhook.Funcs{SignatureCompleted: func(_ context.Context, e *webhook.SignatureCompleted) error {
		_, err := file.WriteString(name(e) + "\n")
		if e.DocumentName == "1" {
			os.Exit(deadlyCode)
		}
		return err
	}}
}

// waiting are functions of which the first waits for standard input after its line is in the journal.
func waiting(file *os.File, stdin *bufio.Reader) webhook.Funcs {
	var once sync.Once
	return webhook.Funcs{Default: func(_ context.Context, e webhook.Event) error {
		_, err := file.WriteString(name(e) + "\n")
		once.Do(func() { stdin.ReadString('\n') })
		return err
	}}
}

// child is a process that does a role.
type child struct {
	cmd   *exec.Cmd
	addr  string
	stdin io.WriteCloser
	out   *bufio.Reader
}

// start starts a child and returns when it is ready.
func (s stage) start(role, journal string) *child {
	s.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), roleVariable+"="+role, whereVariable+"="+string(s.where), journalVariable+"="+journal)
	c.cmd.Stderr = os.Stderr
	var err error
	c.stdin, err = c.cmd.StdinPipe()
	require.NoError(s, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(s, err)
	c.out = bufio.NewReader(out)
	require.NoError(s, c.cmd.Start())
	s.Cleanup(c.kill)
	c.addr = strings.TrimPrefix(c.line(s), "ready ")
	return c
}

// line reads a line that the child prints within a minute.
func (c *child) line(s stage) string {
	s.Helper()
	defer c.killIn(time.Minute)()
	line, err := c.out.ReadString('\n')
	require.NoError(s, err, "the child ended")
	return strings.TrimSpace(line)
}

// died returns the child's exit code when it has ended by itself. It fails when it does not within two minutes.
func (c *child) died(s stage) int {
	s.Helper()
	stop := c.killIn(2 * time.Minute)
	c.cmd.Wait()
	stop()
	require.True(s, c.cmd.ProcessState.Exited(), "the child did not end by itself")
	return c.cmd.ProcessState.ExitCode()
}

// killIn kills the child after d unless stop is called, so that no test waits for ever for one that hangs.
func (c *child) killIn(d time.Duration) (stop func() bool) {
	return time.AfterFunc(d, func() { c.cmd.Process.Kill() }).Stop
}

// kill ends the child as kill -9 does.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}
