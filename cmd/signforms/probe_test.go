package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/signformstest"
)

// hasty makes probe ask without waiting.
var hasty = service.Commands{Sleep: func(context.Context, time.Duration) error { return nil }}

func TestProbe(t *testing.T) {
	s := newService(t, &signformstest.Options{Profile: signformstest.Profile{
		KeyStatus: 401, InProgress: "IN_PROGRESS", Extra: map[string]any{"owner": "Zoe Smith"}}})
	stdout, stderr, code := execute(t, "probe")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, "Asks "+s.URL+" at most 60 GET requests, less than one a second: about a minute. The GET requests change nothing.\n", stderr)
	for _, line := range []string{
		"OUTCOME\tGRADE\tFACT\tSEEN\n",
		"differs\tL\ta key with the prefix of this one and a random rest was answered 403\tstatus 401 forbidden\n",
		"differs\tA\tdocuments that wait for their signers were PENDING, and none had an unknown status\tdocuments are IN_PROGRESS, and PENDING is refused\n",
		"holds\tA\tas a document's id, not-an-id and an ObjectId were refused with 400\tstatus 400 invalid_input\n",
		"cannot tell\tA\twithout a limit a page of documents had 10\tno more than 3 documents were seen\n",
		"cannot tell\tA\tthe SDK's request to void was understood: POST /void-document, inputs in query and body at once\tasked with --mutating only\n",
	} {
		require.Contains(t, stdout, line)
	}
	require.True(t, strings.HasSuffix(stdout, `
signformstest.Options{Profile: signformstest.Profile{
	InProgress: "IN_PROGRESS",
	KeyStatus: 401,
}}
`), stdout)
	for _, asked := range s.asked() {
		require.True(t, strings.HasPrefix(asked, "GET /"), asked)
	}
	require.NotContains(t, stdout+stderr, s.APIKey)
}

func TestProbeFormats(t *testing.T) {
	newService(t, &signformstest.Options{Profile: signformstest.Profile{OldestFirst: true}})
	stdout, stderr, code := execute(t, "probe", "--json")
	require.Equal(t, cli.ExitOK, code)
	require.Contains(t, stderr, "OldestFirst: true")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	require.Len(t, lines, len(probe.Facts))
	require.JSONEq(t, `{"id":"list documents","grade":"D","outcome":"holds","fact":"GET /get-documents listed documents","seen":"status 200, read by the SDK"}`, lines[0])
	stdout, _, _ = execute(t, "probe", "--csv")
	require.True(t, strings.HasPrefix(stdout, "id,outcome,grade,fact,seen\nlist documents,holds,D,"), stdout)
}

// The report holds every request, but nothing that identifies people, records or the service.
func TestProbeReport(t *testing.T) {
	s := newService(t, &signformstest.Options{Profile: signformstest.Profile{Extra: map[string]any{"owner": "Zoe Smith"}}})
	report := filepath.Join(t.TempDir(), "probe.md")
	_, stderr, code := execute(t, "probe", "--mutating", "--confirm-workspace", s.WorkspaceID, "--report", report)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stderr, report+" is written: read it before you show it to others\n")
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, personal := range []string{"ann@", "ben@", "Ann", "Ben", "Lease", "Notice", "Zoe", "author@", s.APIKey, s.WorkspaceID, s.WebhookSecret,
		s.URL, strings.TrimPrefix(s.URL, "http://"), s.lease, s.notice, s.old, s.offer, s.sent, strings.ToUpper(s.notice)} {
		require.NotContains(t, string(text), personal)
	}
	for _, m := range s.Messages() {
		if m.Link != "" {
			require.NotContains(t, string(text), string(m.Link))
		}
	}
	require.NotContains(t, string(text), `"owner"`)
	require.Contains(t, string(text), "\nGET list documents documentType=PDF limit=101\n→ 400 Bad Request, headers: ")
	require.Contains(t, string(text), `"message": "(text of 25)"`)
	require.Contains(t, string(text), "\nPOST void document documentId=(UUID of 36) documentType=PDF\n")
	require.Equal(t, len(s.asked()), strings.Count(string(text), "\n→ "))
	info, err := os.Stat(report)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestProbeMutatingIsConfirmed(t *testing.T) {
	s := newService(t, nil)
	for _, c := range []struct {
		typed string
		args  []string
		code  int
		asked bool
	}{
		{typed: s.WorkspaceID + "\n", code: cli.ExitOK, asked: true},
		{typed: "yes\n", code: cli.ExitUsage},
		{typed: "\n", code: cli.ExitUsage},
		{args: []string{"--confirm-workspace", s.WorkspaceID}, code: cli.ExitOK, asked: true},
		{args: []string{"--confirm-workspace", "another"}, code: cli.ExitUsage},
	} {
		before := len(s.asked())
		shown, code := screen(t, 200, c.typed, append([]string{"probe", "--mutating"}, c.args...)...)
		require.Equal(t, c.code, code, "%v: %s", c, shown)
		require.Equal(t, c.asked, len(s.asked()) > before, "%v", c)
		if c.asked {
			require.Regexp(t, `holds +A +the SDK's request to void was understood`, shown)
			require.Regexp(t, `holds +A +the SDK's request to remind was understood`, shown)
			require.Contains(t, shown, "\rasking: 1\x1b[K")
		}
	}
	before := len(s.asked())
	_, stderr, code := execute(t, "probe", "--mutating")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "there is no terminal to ask on: set --confirm-workspace to its id")
	require.Contains(t, stderr, "asks to void at most 8 times and to remind at most 2 times")
	t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
	_, stderr, code = execute(t, "probe", "--mutating", "--confirm-workspace", s.WorkspaceID)
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "--mutating needs the id of a workspace that is disposable")
	require.Len(t, s.asked(), before)
	require.Zero(t, s.reminded())
}

// The reminders of probe count towards the limit of all runs.
func TestProbeRemindsWithinTheLimit(t *testing.T) {
	s := newService(t, nil)
	for range 5 {
		_, stderr, code := execute(t, "documents", "remind", s.lease)
		require.Equal(t, cli.ExitOK, code, stderr)
	}
	stdout, stderr, code := execute(t, "probe", "--mutating", "--confirm-workspace", s.WorkspaceID)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, "not sent: the limit of reminders is used up, its store does not answer, or the endpoint cannot be used")
	n := 0
	for _, asked := range s.asked() {
		if strings.HasSuffix(asked, "/send-reminder") {
			n++
		}
	}
	require.Equal(t, 5, n)
}

func TestProbeSaysWhatWasCarriedOut(t *testing.T) {
	s := newService(t, nil)
	s.Fail(signformstest.Fault{Operation: signforms.OpVoidDocument, Body: `{"message":"Document voided successfully"}`})
	_, stderr, code := execute(t, "probe", "--mutating", "--confirm-workspace", s.WorkspaceID)
	require.Equal(t, cli.ExitUnknown, code)
	require.Contains(t, stderr, "void document by POST, with a random id, was answered: status 200; the documents are as before: find out whether a document was voided")
	require.Equal(t, 1, strings.Count(strings.Join(s.asked(), "\n"), http.MethodPost))
}

func TestProbeOfWhatIsNotThere(t *testing.T) {
	newService(t, nil)
	t.Setenv("SIGNFORMS_API_KEY", "another key")
	_, stderr, code := execute(t, "probe")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "signforms: the service refuses the API key or the workspace (403)\n")
	_, stderr, code = execute(t, "probe", "--base-url", "http://127.0.0.1:1")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "signforms: the service does not answer: ")
	items := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"items":[{"id":"1"}]}`) }))
	defer items.Close()
	stdout, _, code := execute(t, "probe", "--base-url", items.URL)
	require.Equal(t, cli.ExitOK, code)
	require.Regexp(t, `\n\d+ other facts were not asked: the list of documents could not be read\.\n$`, stdout)
	require.NotContains(t, stdout, "limit=1 gave one document")
}

// Values of the service leave only described, whatever field, key, code or path they are in. A run that was interrupted says so.
func TestProbeReportHoldsNoForeignText(t *testing.T) {
	s := newService(t, nil)
	secrets := []string{"Zoe Smith", "+49 30 901820", "DE89370400440532013000", "1984-02-29", "ZOE_CODE", "zoe-status", "4711004711", "tenant-zoe", "\x1b"}
	body := `{"message":"Zoe Smith\u001b[31m","documents":[{"documentId":"` + s.lease + `","documentName":"Zoe Smith","status":"zoe-status","phone":"+49 30 901820",
		"birthday":"1984-02-29","createdAt":"1984-02-29","Zoe Smith":"DE89370400440532013000","account":4711004711}],"code":"ZOE_CODE","4711004711":true,"Zoe Smith":1984}`
	defer s.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Body: body})()
	report := filepath.Join(t.TempDir(), "probe.md")
	_, stderr, code := execute(t, "probe", "--report", report, "--endpoint", "list responses=/tenant-zoe/4711004711/responses")
	require.Equal(t, cli.ExitOK, code, stderr)
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, secret := range append(secrets, s.lease, s.APIKey, s.WorkspaceID) {
		require.NotContains(t, string(text), secret)
	}
	require.Contains(t, string(text), "(key 1)")
	require.NotContains(t, string(text), "Partial")

	ctx, cancel := context.WithCancel(t.Context())
	cmd := service.Commands{Sleep: func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}}.Probe()
	cmd.SetArgs([]string{"--report", report})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(ctx)
	require.Equal(t, cli.ExitInterrupted, cli.ExitCode(err))
	require.Regexp(t, `^interrupted after \d+ requests?: what was found is partial`, err.Error())
	text, err = os.ReadFile(report)
	require.NoError(t, err)
	require.Regexp(t, `\*\*Partial: the run ended early, after \d+ requests`, string(text))
}

// A run that reached its bounds says so wherever it says what was found.
func TestProbeThatEndedEarly(t *testing.T) {
	s := newService(t, nil)
	s.Fail(signformstest.Fault{Nth: 16, Times: 1000, Status: 429, RetryAfter: "3600"})
	folder := t.TempDir()
	file := filepath.Join(folder, "accounts.json")
	_, stderr, code := execute(t, "probe", "--write", file, "--report", filepath.Join(folder, "probe.md"))
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stderr, file+" has the account default: the run ended early, at its bound of requests or time, before all facts were asked; that the SDK lists all documents with it was not tried\n")
	report, err := os.ReadFile(filepath.Join(folder, "probe.md"))
	require.NoError(t, err)
	require.Contains(t, string(report), "**Partial: the run ended early, after ")
}

// What lists with the printed endpoints lack is said beside them too.
func TestProbeSaysBesideEndpointsWhatListsLack(t *testing.T) {
	s := newService(t, &signformstest.Options{Profile: signformstest.Profile{HideArchived: true}})
	altered(t, s, ofDocuments, countsOne)
	for range 12 {
		s.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.org"}}})
	}
	require.NoError(t, s.Archive(s.old))
	report := filepath.Join(t.TempDir(), "probe.md")
	stdout, stderr, code := execute(t, "probe", "--report", report)
	require.Equal(t, cli.ExitOK, code, stderr)
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, shown := range []string{stdout, string(text)} {
		require.Regexp(t, `\n// lists without archive=true leave out archived documents: \d of the \d+ that this run saw\nsignforms.Options\{Endpoints: `, shown)
	}
}

// Files that are not written are named.
func TestProbeThatFailedWritesNoAccount(t *testing.T) {
	s := newService(t, nil)
	s.Fail(signformstest.Fault{Nth: 16, Times: 1000, Reset: true})
	file := filepath.Join(t.TempDir(), "accounts.json")
	_, stderr, code := execute(t, "probe", "--write", file)
	require.Equal(t, cli.ExitFailure, code, stderr)
	require.Contains(t, stderr, file+" is not written, as the run ended early\n")
	require.NoFileExists(t, file)
}
