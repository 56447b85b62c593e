// Package examples_test runs the examples as their users do: without arguments, and against a service that they know only
// by its URL and key.
package examples_test

import (
	"bufio"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signforms/signforms-go/signformstest"
	_ "github.com/signforms/signforms-go/webhook" // the programs depend on it, and so do the results of this package
	"github.com/stretchr/testify/require"
)

// programs is the folder that TestMain builds the examples into.
var programs string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "signforms-examples"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(programs)
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", programs+string(filepath.Separator), "./...")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// readSources opens what the programs are built from: go test knows by that when a result that it has kept is out of date.
func readSources(t *testing.T) {
	sources, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	shared, err := filepath.Glob("internal/*/*.go")
	require.NoError(t, err)
	for _, path := range append(sources, shared...) {
		_, err := os.ReadFile(path)
		require.NoError(t, err)
	}
}

// example returns a command that runs an example against srv, or against the service that it embeds when srv is nil.
func example(t *testing.T, srv *signformstest.Server, name string, args ...string) *exec.Cmd {
	readSources(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, name), args...)
	cmd.Env = []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	if srv != nil {
		cmd.Env = append(cmd.Env, "SIGNFORMS_BASE_URL="+srv.URL, "SIGNFORMS_API_KEY="+srv.APIKey)
	}
	return cmd
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s%s", cmd, out, &stderr)
	return string(out)
}

// The last line of an example without arguments tells that it came to its end.
func TestWithoutArguments(t *testing.T) {
	for name, last := range map[string]string{
		"quickstart":       "7 of 7 event types arrived, signed and verified",
		"send-template":    "is SIGNED",
		"list-and-export":  "2026", // a line of CSV
		"bulk-reminders":   "the rest takes 0s",
		"webhook-receiver": "stopped: all that had begun is done",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(strings.TrimSpace(output(t, example(t, nil, name))), "\n")
			require.Contains(t, lines[len(lines)-1], last)
		})
	}
}

func TestSendTemplate(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Seller"}}})
	out := output(t, example(t, srv, "send-template", "-template", template, "-role", "Seller", "-email", "cy@example.com"))
	require.Contains(t, out, "sent: document")
	require.Contains(t, out, "skipped")
	require.Len(t, srv.Messages(), 1)
	require.Equal(t, "cy@example.com", srv.Messages()[0].To)

	said, err := example(t, srv, "send-template", "-template", template).CombinedOutput()
	require.Error(t, err, "nobody to send to")
	require.Contains(t, string(said), "-email")
	require.Len(t, srv.Messages(), 1)
}

func TestListAndExport(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	id := srv.AddDocument(signformstest.Document{Name: "=1+1, \"quoted\"", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	srv.AddDocument(signformstest.Document{Name: "Draft", Draft: true})
	rows, err := csv.NewReader(strings.NewReader(output(t, example(t, srv, "list-and-export", "-status", "PENDING")))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 2, "a header and a document")
	require.Equal(t, []string{id, "'=1+1, \"quoted\"", "PENDING", "author@example.com", "1", "0"}, rows[1][:6])
}

func TestBulkReminders(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	for _, name := range []string{"One", "Two"} {
		srv.AddDocument(signformstest.Document{Name: name, Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	}
	mail := len(srv.Messages())
	require.Contains(t, output(t, example(t, srv, "bulk-reminders")), "nothing was sent")
	require.Len(t, srv.Messages(), mail)
	require.Contains(t, output(t, example(t, srv, "bulk-reminders", "-send")), "budget: 3 now")
	require.Len(t, srv.Messages(), mail+2)
}

// The receiver runs on its own, gets deliveries signed with the older of two secrets, and ends well when it is told to.
func TestWebhookReceiver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM on Windows")
	}
	srv := signformstest.NewServer(t, nil)
	cmd := example(t, nil, "webhook-receiver")
	cmd.Env = append(cmd.Env, "SIGNFORMS_WEBHOOK_SECRETS=another,"+srv.WebhookSecret)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	lines := bufio.NewReader(stdout)
	first, err := lines.ReadString('\n')
	require.NoError(t, err)
	url, ok := strings.CutPrefix(strings.TrimSpace(first), "receiving at ")
	require.True(t, ok, first)

	srv.AddWebhook(signformstest.Webhook{URL: url, Event: signformstest.SignatureCompleted})
	id := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
	require.NoError(t, srv.Settle(t.Context()))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "status")
	require.Contains(t, string(rest), id+": signed by all (secret 1)\nstopping")
}
