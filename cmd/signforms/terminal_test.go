package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
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

	shown, _ = screen(t, 90, "", "documents", "list")
	require.Contains(t, shown, "  Notice [31m …  PENDING  0/1     2026-11-02T11:00:00Z\n", "cut to fit")
	byDay, _ := screen(t, 82, "", "documents", "list")
	require.Contains(t, byDay, "  Notice [31m red  PENDING  0/1     2026-11-02\n", "the day leaves room for the name")
	for line := range strings.Lines(shown) {
		require.LessOrEqual(t, len([]rune(line)), 91)
	}
}

func TestJSONOnATerminal(t *testing.T) {
	newService(t, nil)
	shown, _ := screen(t, 80, "", "documents", "list", "--json")
	require.Equal(t, 3, strings.Count(shown, "\n{")+1)
}

func TestAsksOnATerminal(t *testing.T) {
	for _, c := range []struct {
		typed string
		code  int
		sent  int
	}{
		{"y\n", cli.ExitOK, 2},
		{"YES\n", cli.ExitOK, 2},
		{"\n", cli.ExitFailure, 0},
		{"n\n", cli.ExitFailure, 0},
		{"yeah\n", cli.ExitFailure, 0},
		{"\x04", cli.ExitFailure, 0}, // end of input
	} {
		s := newService(t, nil)
		shown, code := screen(t, 100, c.typed, "documents", "remind", s.lease, s.notice)
		require.Equal(t, c.code, code, "%q: %s", c.typed, shown)
		require.Contains(t, shown, "2 documents will be reminded. Go on? [y/N] ")
		require.Equal(t, c.sent, s.reminded(), "%q", c.typed)
	}
}

func TestDoesNotAskForOne(t *testing.T) {
	s := newService(t, nil)
	shown, code := screen(t, 100, "", "documents", "remind", s.lease)
	require.Equal(t, cli.ExitOK, code, shown)
	require.NotContains(t, shown, "[y/N]")
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
		ended <- run(ctx, hasty, []string{"documents", "remind", s.lease, s.notice}, slave, slave, slave)
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
	require.Zero(t, s.reminded())
}

func TestProgressBar(t *testing.T) {
	s := newService(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Requests: 100}})
	shown, code := screen(t, 100, "", "documents", "remind", "--all-pending", "--yes")
	require.Equal(t, cli.ExitOK, code, shown)
	require.Contains(t, shown, "\r[------------------------] 0 of 3 reminded\x1b[K")
	require.Contains(t, shown, "\r[########----------------] 1 of 3 reminded")
	require.Contains(t, shown, "\r[########################] 3 of 3 reminded\x1b[K\r\x1b[K")
	for line := range strings.Lines(shown) {
		at := strings.LastIndex(line, "\x1b[K")
		if at >= 0 && strings.Contains(line, "reminded  ") {
			require.Regexp(t, `^\x1b\[K[0-9a-f-]+ +reminded +Reminder sent`, line[at:], "records stand on lines of their own")
		}
	}
	require.Equal(t, 3, len(s.mailed("reminder"))-1, "one of the three has two signers who are pending")
}

// What stands beside the data is broken between words, not where a narrow terminal ends. Whatever the width, the words are the same.
func TestLinesOnANarrowTerminal(t *testing.T) {
	s := newService(t, nil)
	for _, args := range []string{
		"documents remind " + s.lease + " --allow-incomplete", "documents list --status nope",
		"documents list --base-url http://127.0.0.1:1 --max-attempts 1", "templates send " + s.offer + " --csv " + os.DevNull + " --role Buyer",
	} {
		shown := map[int]string{}
		for _, columns := range []int{50, 1000} {
			text, _ := screen(t, columns, "", strings.Fields(args)...)
			shown[columns] = text
			for line := range strings.SplitSeq(text, "\n") {
				if strings.Contains(strings.TrimSpace(line), " ") {
					require.LessOrEqual(t, len([]rune(line)), columns, text)
				}
			}
		}
		require.Equal(t, strings.Fields(shown[1000]), strings.Fields(shown[50]), args)
		require.Greater(t, strings.Count(shown[50], "\n"), strings.Count(shown[1000], "\n"), args)
	}
}

// A command for the key asks on the terminal itself.
func TestCommandForTheKeyHasTheTerminal(t *testing.T) {
	s := newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	t.Setenv("KEY_OF_MINE", s.APIKey)
	accounts(t, file, fmt.Sprintf(`"main":{"baseURL":%q,"workspace":%q,"apiKey":{"command":["sh","-c","test -t 0 && test -t 2 && printenv KEY_OF_MINE"]}}`, s.URL, s.WorkspaceID))
	shown, code := screen(t, 100, "", "documents", "list", "--settings", file)
	require.Equal(t, cli.ExitOK, code, shown)
}

// The bar announces no wait for reminders that --max-wait leaves out.
func TestProgressBarOfTheLimit(t *testing.T) {
	for maxWait, left := range map[string]string{"1s": "", "16m": `, 1[45]m\d+s left`} {
		s := newService(t, nil)
		for range 5 {
			s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}})
		}
		heal := s.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Status: http.StatusForbidden}) // which ends the run
		shown, code := screen(t, 100, "", "documents", "remind", "--all-pending", "--yes", "--max-wait", maxWait)
		heal()
		require.Equal(t, cli.ExitFailure, code, shown)
		require.Regexp(t, `\r\[-{24}\] 0 of 8 reminded`+left+`\x1b\[K`, shown)
	}
}

// The users of these variables want no escape sequences: they get lines instead of a bar.
func TestNoEscapesWhereTheyAreNotWanted(t *testing.T) {
	for name, value := range map[string]string{"TERM": "dumb", "NO_COLOR": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			s := newService(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Requests: 100}})
			for _, args := range [][]string{{"documents", "remind", "--all-pending", "--yes"}, {"documents", "list"}, {"probe"}} {
				shown, code := screen(t, 100, "", args...)
				require.Equal(t, cli.ExitOK, code, shown)
				require.NotContains(t, shown, "\x1b", "%v", args)
				require.NotContains(t, shown, "\r", "%v", args)
			}
			require.Equal(t, 3, len(s.mailed("reminder"))-1)
		})
	}
}

func TestNoTerminalShowsNoBar(t *testing.T) {
	s := newService(t, nil)
	_, stderr, code := s.run(t, "documents remind LEASE NOTICE --yes")
	require.Equal(t, cli.ExitOK, code)
	require.NotContains(t, stderr, "\r")
	require.NotContains(t, stderr, "\x1b")
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
