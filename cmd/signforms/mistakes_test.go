package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Mistakes in the command line are reported with exit code 2 and in terms of its flags, before any request is made.
func TestMistakesInTheCommandLine(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	t.Setenv("SIGNFORMS_WEBHOOK_SECRET", "a secret that is long enough")
	document, _, _ := execute(t, "documents", "add", "Lease", "--signer", "ann@example.com")
	hook, _, _ := execute(t, "webhooks", "add", "http://127.0.0.1:9/", "--event", "new_signature_completed")
	delivery, _, _ := execute(t, "webhooks", "test", strings.TrimSpace(hook))
	const id = "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"documents", "sign", strings.TrimSpace(document)}, "say who signs with --as"},
		{[]string{"documents", "add"}, "give one NAME of a document; see"},
		{[]string{"documents", "add", "Lease"}, "name who signs with --signer"},
		{[]string{"documents", "add", "Lease", "--signer", "ann@example.com", "--pdf", "nofile"}, "--pdf: nofile: no such file"},
		{[]string{"documents", "list", "extra"}, `"extra" is not expected: the command takes only flags`},
		{[]string{"documents", "list", "--sandbox", s.BaseURL}, "--sandbox=URL"},
		{[]string{"documents", "list", "--sandbox", "--max-attempts", "two"}, `--max-attempts "two": must be a whole number;`},
		{[]string{"forms", "send", id, "--sandbox", "x.name=Ann"}, `column "x.name": the columns are`},
		{[]string{"forms", "send", id, "--sandbox", "--csv", "nofile"}, "--csv: nofile: no such file"},
		{[]string{"clock", "advance"}, "give one DURATION, as in 72h or 3d; see"},
		{[]string{"clock", "advance", "--", "-3h"}, "would not move the clock forward"},
		{[]string{"clock", "advance", "3"}, "is not a length of time"},
		{[]string{"clock", "advance", "1000000d"}, "is too long: at most 36500d"},
		{[]string{"webhooks", "resend", strings.TrimSpace(delivery), "--since", "1h"}, "--since goes with the ID of a webhook"},
		{[]string{"webhooks", "add", "http://x/"}, "say with --event which events it gets: new_form_response, "},
		{[]string{"webhooks", "add", "http://x/", "--event", "new_form_response", "--event", "new_template_response"}, "a webhook gets one family of events"},
		{[]string{"webhook", "sign", "--timestamp", "soon"}, "seconds since 1970"},
		{[]string{"listen", "--forward-to", "localhost:3000"}, "is not a URL such as http://localhost:3000/hook"},
		{[]string{"trigger", "new_signature_pdf_completed", "--set", "bogus"}, "this event knows signer=…"},
		{[]string{"trigger", "new_things"}, "give one event: new_form_response, "},
		{[]string{"help", "documents", "nope"}, `there is no command "documents nope"`},
		{[]string{"ready", "--url", "nonsense"}, "is not a URL of a sandbox"},
		{[]string{"workspaces", "create", ""}, "the name is empty"},
		{[]string{"serve", "--memory", "--data", "x.db"}, "leave out --data or --memory"},
		{[]string{"serve", "--memory", "--addr", "localhost"}, `--addr "localhost": must be host:port`},
		{[]string{"serve", "--memory", "--addr", "127.0.0.1:0", "--profile", "refusal-status=200"}, "--profile refusal-status: 200"},
		{[]string{"serve", "--memory", "--api-key", "12ab34cd_mine"}, "--api-key begins like a key of another workspace"},
		{[]string{"serve", "--memory", "--public-url", "https://x/below"}, "--public-url"},
		{[]string{"serve", "--memory", "--public-url", "https://ann:pw@sandbox.example.com"}, "--public-url: the URL has a user name or password"},
		{[]string{"receive", "--secret", "x", "--addr", "127.0.0.1:70000"}, `--addr "127.0.0.1:70000": must be host:port`},
		{[]string{"reset"}, "add --yes"},
	} {
		stdout, stderr, code := execute(t, c.args...)
		require.Contains(t, stderr, c.says, "%v", c.args)
		require.Equal(t, cli.ExitUsage, code, "%v: %s", c.args, stderr)
		require.Empty(t, stdout, "%v", c.args)
		require.NotContains(t, stderr, "start one with signforms serve", "the sandbox runs")
	}
	t.Setenv("SIGNFORMS_SANDBOX_MEMORY", "maybe")
	_, stderr, _ := execute(t, "serve")
	require.Equal(t, "signforms: the variable SIGNFORMS_SANDBOX_MEMORY: \"maybe\": must be true or false\n", stderr)
}

// Each flag that takes one of a few values knows them in any case, offers them to the shell, and names them when it refuses another.
func TestFlagsWithFewValues(t *testing.T) {
	s := newService(t, nil)
	for _, c := range []struct{ args, value, values string }{
		{"documents list --status", "Pending", "draft, pending, signed, paid, declined, expired, deleted, void"},
		{"documents wait " + s.lease + " --for", "Pending,DRAFT", "draft, pending, signed, paid, declined, expired, deleted, void"},
		{"listen --url http://127.0.0.1:1 --events", "New_Form_Response,new_template_response", "new_form_response, new_signature_completed, new_template_response"},
	} {
		args := strings.Fields(c.args)
		flag := args[len(args)-1]
		stdout, stderr, code := execute(t, append(args, "newst")...)
		require.Equal(t, cli.ExitUsage, code, c.args)
		require.Contains(t, stderr, "signforms: "+flag+` "newst": must be one of `+c.values+"; see signforms ")
		require.Empty(t, stdout)
		_, stderr, code = execute(t, append(args, c.value)...)
		require.NotEqual(t, cli.ExitUsage, code, stderr)
		offered, _, _ := execute(t, append(append([]string{"__complete"}, args...), "")...)
		require.True(t, strings.HasPrefix(offered, strings.ReplaceAll(c.values, ", ", "\n")+"\n"), offered)
	}
	stdout, stderr, code := s.run(t, "documents list --status pending --sort Oldest")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Regexp(t, `^DOCUMENT.*\nLEASE\t.*\nNOTICE\t.*\n$`, stdout)
}

// A refusal by a running sandbox does not make the error suggest another address.
func TestOnlyASilentSandboxSuggestsAnotherAddress(t *testing.T) {
	s := serveInProcess(t, "--memory")
	t.Setenv("SIGNFORMS_SANDBOX_URL", s.BaseURL)
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("templats: []\n"), 0o600))
	const hint = "start one with signforms serve"
	for _, args := range [][]string{
		{"trigger", "new_signature_pdf_completed"}, {"seed", "nofile"}, {"seed", bad}, {"documents", "sign", "unknown", "--as", "ann@example.com"},
	} {
		_, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitFailure, code, "%v: %s", args, stderr)
		require.NotContains(t, stderr, hint, "%v", args)
	}
	t.Setenv("SIGNFORMS_SANDBOX_URL", "http://127.0.0.1:1")
	for where, args := range map[string][]string{"--url or ": {"status"}, "--sandbox=URL or ": {"documents", "list", "--sandbox"}} {
		_, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitFailure, code, stderr)
		require.Contains(t, stderr, "no sandbox responds at http://127.0.0.1:1: ")
		require.Contains(t, stderr, hint+", or say with "+where+"$SIGNFORMS_SANDBOX_URL where it is")
	}
}
