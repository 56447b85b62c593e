package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

// screen runs a command line on a terminal with this many columns, and types into it. It returns what the terminal showed, with \n
// as line ends.
func screen(t *testing.T, columns int, typed string, args ...string) (shown string, code int) {
	t.Helper()
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	require.NoError(t, pty.Setsize(slave, &pty.Winsize{Rows: 24, Cols: uint16(columns)}))
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, master) // until the other side is closed
	}()
	_, err = master.WriteString(typed)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	code = run(ctx, hasty, args, slave, slave, slave)
	slave.Close()
	<-read
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), code
}

func TestTableOnATerminal(t *testing.T) {
	s := newService(t, nil)
	shown, code := screen(t, 120, "", "documents", "list")
	require.Equal(t, cli.ExitOK, code)
	require.Equal(t, strings.ReplaceAll(`
DOCUMENT ID                           DOCUMENT NAME    STATUS   SIGNED  CREATED AT
`+s.notice+`  Notice [31m red  PENDING  0/1     2026-11-02T11:00:00Z
`+s.lease+`  Lease, flat 7    PENDING  1/2     2026-11-02T10:00:00Z
`+s.old+`  Old lease        SIGNED   1/1     2026-11-02T09:00:00Z
`, "\n\n", "\n")[1:], shown)
	require.NotContains(t, shown, "\x1b", "names move no cursor")
}

func TestProgressBar(t *testing.T) {
	s := newService(t, nil)
	args, _ := pendingOf(t)
	shown, code := screen(t, 100, "", strings.Fields(args)...)
	require.Equal(t, cli.ExitOK, code, shown)
	require.Contains(t, shown, "1/3")
	for _, id := range []string{s.lease, s.notice, s.sent} {
		require.Regexp(t, `(?m)[\n\r ]`+id+` +sent`, shown, "records stand on lines of their own")
	}
	require.Len(t, s.mailed("reminder"), 4)
}

func TestAsksOnATerminal(t *testing.T) {
	for _, c := range []struct {
		typed string
		code  int
		sent  int
	}{
		{"y\n", cli.ExitOK, 4},
		{"\n", cli.ExitFailure, 0},
		{"yeah\n", cli.ExitFailure, 0},
		{"\x04", cli.ExitFailure, 0}, // end of input
	} {
		s := newService(t, nil)
		args, _ := pendingOf(t)
		shown, code := screen(t, 100, c.typed, strings.Fields(strings.ReplaceAll(args, "--yes", ""))...)
		require.Equal(t, c.code, code, "%q: %s", c.typed, shown)
		require.Contains(t, shown, "3 reminders will be sent. Go on? [y/N] ")
		require.Equal(t, c.sent, s.reminded(), "%q", c.typed)
	}
}

// The program does not wait for an answer on the terminal after an interrupt.
func TestInterruptedAsItAsks(t *testing.T) {
	s := newService(t, nil)
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- run(ctx, hasty, []string{"documents", "void", s.lease, s.notice}, slave, slave, slave)
	}()
	shown := make([]byte, 4096)
	for text := ""; !strings.Contains(text, "[y/N]"); {
		n, err := master.Read(shown)
		require.NoError(t, err)
		text += string(shown[:n])
	}
	cancel()
	go io.Copy(io.Discard, master)
	require.Equal(t, cli.ExitInterrupted, <-ended)
	slave.Close()
	require.Empty(t, s.asked())
}

// The users of these variables want no escape sequences: they get lines instead of a bar.
func TestNoEscapesWhereTheyAreNotWanted(t *testing.T) {
	for name, value := range map[string]string{"TERM": "dumb", "NO_COLOR": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			s := newService(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Requests: 100}})
			remind, _ := pendingOf(t)
			for _, args := range [][]string{strings.Fields(remind), {"documents", "list"}, {"probe"}} {
				shown, code := screen(t, 100, "", args...)
				require.Equal(t, cli.ExitOK, code, shown)
				require.NotContains(t, shown, "\x1b", "%v", args)
				require.NotContains(t, shown, "\r", "%v", args)
			}
			require.Len(t, s.mailed("reminder"), 4)
		})
	}
}

// Output to a file is not in the format for terminals, even in a terminal session.
func TestOutputToAFile(t *testing.T) {
	newService(t, nil)
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	require.Equal(t, cli.ExitOK, run(t.Context(), hasty, []string{"documents", "list"}, strings.NewReader(""), file, io.Discard))
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	require.Contains(t, string(text), "DOCUMENT ID\tDOCUMENT NAME\t")
}
