package outbox

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// The tests run processes of their own: the test binary, which runs a box instead of testing.
const (
	childVariable   = "OUTBOX_TEST_CHILD" // the driver
	sourceVariable  = "OUTBOX_TEST_SOURCE"
	serviceVariable = "OUTBOX_TEST_SERVICE"
	keyVariable     = "OUTBOX_TEST_KEY"
	timeoutVariable = "OUTBOX_TEST_TIMEOUT" // Options.SendTimeout
)

// childTick is the time by which both clocks of a child move forward when it reads a line.
const childTick = 10 * time.Second

// runChild runs a box until standard input ends, so that no child outlives its test. It does not return.
func runChild() {
	check := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
	}
	db, err := place{os.Getenv(childVariable), os.Getenv(sourceVariable)}.connect()
	check(err)
	client, err := signforms.New(os.Getenv(serviceVariable), os.Getenv(keyVariable), &signforms.Options{MaxAttempts: 2})
	check(err)
	timeout, err := time.ParseDuration(os.Getenv(timeoutVariable))
	check(err)
	var ahead atomic.Int64
	b, err := Open(context.Background(), db, client, &Options{Moved: true, SendTimeout: timeout, Logger: slog.New(slog.DiscardHandler),
		PollInterval: time.Second, Workers: 3, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	check(err)
	b.ownClock = false
	elapsed := b.elapsed
	b.elapsed = func() time.Duration { return elapsed() + time.Duration(ahead.Load()) }
	go func() { check(b.Run(context.Background())) }()
	fmt.Println("ready")
	for stdin := bufio.NewReader(os.Stdin); ; b.Wake() {
		if _, err := stdin.ReadString('\n'); err != nil {
			os.Exit(0)
		}
		ahead.Add(int64(childTick))
	}
}

// child is a process that runs a box.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// start starts a child and returns when it runs.
func (f *fixture) start(service string, timeout time.Duration) *child {
	f.Helper()
	c := &child{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), childVariable+"="+f.place.driver, sourceVariable+"="+f.place.source, serviceVariable+"="+service, keyVariable+"="+f.srv.APIKey,
		timeoutVariable+"="+timeout.String())
	c.cmd.Stderr = os.Stderr
	var err error
	c.stdin, err = c.cmd.StdinPipe()
	require.NoError(f, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(f, err)
	require.NoError(f, c.cmd.Start())
	f.Cleanup(c.kill)
	defer time.AfterFunc(2*time.Minute, func() { c.cmd.Process.Kill() }).Stop()
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(f, err, "the child ended")
	return c
}

// kill ends the child as kill -9 does.
func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

func (c *child) stop() { c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c *child) goOn() { c.cmd.Process.Signal(syscall.SIGCONT) }
