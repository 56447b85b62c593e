// Package examples_test runs the examples as their users do: without arguments, and against a service that they know only
// by its URL and key.
package examples_test

import (
	"bufio"
	"encoding/csv"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// programs is the folder that TestMain builds the examples into.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() { // building and running them takes longer than all other tests of the short run
		os.Exit(0)
	}
	os.Exit(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "signforms-examples"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(programs)
		build := exec.Command("go", "build", "-ldflags=-s -w", "-o", programs+string(filepath.Separator),
			"./send-template", "./list-and-export", "./bulk-reminders", "./webhook-receiver")
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
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	p := signforms.TemplateSendParams{TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ben", Email: "ben@example.com", RoleTitle: "Buyer"}}}
	signed, err := srv.Client().Templates.Send(t.Context(), p)
	require.NoError(t, err)
	require.NoError(t, srv.Signer(signed.DocumentID, "ben@example.com").Sign())
	sent, err := srv.Client().Templates.Send(t.Context(), p)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(output(t, example(t, srv, "list-and-export", "-status", "PENDING")))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 3, "a header, a PDF document and one made from a template")
	require.Equal(t, []string{id, "", "'=1+1, \"quoted\"", "PENDING", "author@example.com", "1", "0"}, rows[1][:7])
	require.Equal(t, []string{sent.DocumentID, template, "Offer", "PENDING", "", "1", "0"}, rows[2][:7])
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

// receiver starts the receiver on its own, and returns it with its URL and the rest of what it prints.
func receiver(t *testing.T, secrets string) (cmd *exec.Cmd, url string, out *bufio.Reader) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM on Windows")
	}
	cmd = example(t, nil, "webhook-receiver")
	cmd.Env = append(cmd.Env, "SIGNFORMS_WEBHOOK_SECRETS="+secrets)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop() })
	out = bufio.NewReader(stdout)
	first, err := out.ReadString('\n')
	require.NoError(t, err)
	url, ok := strings.CutPrefix(strings.TrimSpace(first), "receiving at ")
	require.True(t, ok, first)
	return cmd, url, out
}

// The receiver gets deliveries signed with the older of two secrets, and ends well when it is told to.
func TestWebhookReceiver(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	cmd, url, out := receiver(t, "another,"+srv.WebhookSecret)
	srv.AddWebhook(signformstest.Webhook{URL: url, Event: signformstest.FamilySignatureCompleted})
	id := srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, srv.Signer(id, "ann@example.com").Sign())
	require.NoError(t, srv.WaitDeliveries(t.Context()))
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "status")
	require.Contains(t, string(rest), id+": signed by all (secret 1)\nstopping")
}

// A delivery that is half there when the receiver is told to stop is received whole, processed and answered.
func TestWebhookReceiverFinishes(t *testing.T) {
	cmd, url, out := receiver(t, "secret")
	body, sent := io.Pipe()
	payload := webhooktest.Sample(webhook.TypeSignatureCompleted)
	request := webhooktest.NewRequest(url, "secret", time.Now(), payload)
	request.Body, request.Header["Expect"] = body, []string{"100-continue"}
	begun := make(chan struct{})
	request = request.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(begun) }}))
	answered := make(chan error, 1)
	go func() {
		transport := &http.Transport{ExpectContinueTimeout: time.Minute}
		defer transport.CloseIdleConnections()
		answer, err := transport.RoundTrip(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				err = errors.New(answer.Status)
			}
		}
		answered <- err
	}()
	select {
	case <-begun:
	case err := <-answered:
		require.Fail(t, "answered before the body was asked for", "%v", err)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "stopping: no new deliveries\n", line)
	_, err = sent.Write(payload)
	require.NoError(t, err)
	require.NoError(t, sent.Close())
	require.NoError(t, <-answered)
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "status")
	require.Contains(t, string(rest), ": signed by all (secret 0)\nstopped: all that had begun is done")
}
