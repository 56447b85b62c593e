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
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"documents", "sign", strings.TrimSpace(document)}, "say who signs with --as"},
		{[]string{"documents", "decline", strings.TrimSpace(document)}, "say who declines with --as"},
		{[]string{"documents", "sign"}, "give one ID of a document; see"},
		{[]string{"documents", "add"}, "give one NAME of a document; see"},
		{[]string{"documents", "add", "Lease"}, "name who signs with --signer"},
		{[]string{"documents", "add", "Lease", "--signer", "ann@example.com", "--pdf", "nofile"}, "--pdf: nofile: no such file"},
		{[]string{"documents", "get"}, "give one DOCUMENT_ID; see"},
		{[]string{"documents", "get", "a", "b"}, "give one DOCUMENT_ID, not 2 arguments"},
		{[]string{"documents", "list", "extra"}, `"extra" is not expected: the command takes only flags`},
		{[]string{"documents", "list", "--sandbox", s.BaseURL}, "--sandbox=URL"},
		{[]string{"documents", "get", "--sandbox", s.BaseURL}, "--sandbox=URL"},
		{[]string{"documents", "list", "--sandbox", "--page", "0"}, `--page "0": must be a whole number, 1 or more`},
		{[]string{"documents", "list", "--sandbox", "--limit", "101"}, `--limit "101": must be a whole number from 1 to 100`},
		{[]string{"documents", "list", "--sandbox", "--max-attempts", "two"}, `--max-attempts "two": must be a whole number;`},
		{[]string{"documents", "list", "--sandbox", "--attempt-timeout", "soon"}, `--attempt-timeout "soon": must be a length of time such as`},
		{[]string{"documents", "list", "--sandbox", "--id", "nope"}, "--id must be a UUID"},
		{[]string{"documents", "list", "--sandbox", "--max-attempts", "-1"}, "--max-attempts must be"},
		{[]string{"forms", "send", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", "--sandbox", "--to", "name=Ann,email=ann@example.com,role=x"}, "a form has no roles"},
		{[]string{"forms", "send", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", "--sandbox", "--csv", "nofile"}, "--csv: nofile: no such file"},
		{[]string{"templates", "send", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", "--sandbox", "--to", "name=Ann", "--pdf", "nofile"}, "--pdf: nofile: no such file"},
		{[]string{"clock", "advance"}, "give one DURATION, as in 72h or 3d; see"},
		{[]string{"clock", "advance", "--", "-3h"}, "would not move the clock forward"},
		{[]string{"clock", "advance", "0s"}, "would not move the clock forward"},
		{[]string{"clock", "advance", "900ns"}, "would not move the clock forward"},
		{[]string{"clock", "advance", "3"}, "is not a length of time"},
		{[]string{"clock", "advance", ""}, "is not a length of time"},
		{[]string{"clock", "advance", "1000000d"}, "is too long: at most 36500d"},
		{[]string{"clock", "advance", "9999999h"}, "is too long: at most 36500d"},
		{[]string{"webhooks", "resend", strings.TrimSpace(delivery), "--since", "1h"}, "--since goes with the ID of a webhook"},
		{[]string{"webhooks", "add", "http://x/"}, "say with --event which events it gets: new_form_response, "},
		{[]string{"webhooks", "add", "http://x/", "--event", "nope"}, `--event "nope": must be one of new_form_response, new_signature_completed, `},
		{[]string{"webhooks", "add", "http://x/", "--event", "new_form_response", "--event", "new_template_response"}, "a webhook gets one family of events"},
		{[]string{"webhook", "sign", "--timestamp", "soon"}, "seconds since 1970"},
		{[]string{"webhook", "verify", "a", "b"}, "give one FILE at most, not 2 arguments"},
		{[]string{"help", "nope"}, `there is no command "nope"`},
		{[]string{"help", "documents", "nope"}, `there is no command "documents nope"`},
		{[]string{"completion", "nope"}, `unknown command "nope"`},
		{[]string{"ready", "--url", "nonsense"}, "is not a URL of a sandbox"},
		{[]string{"status", "--url", "nonsense"}, "is not a URL of a sandbox"},
		{[]string{"status", "--json=maybe"}, `--json "maybe": must be true or false`},
		{[]string{"seed"}, "give one FILE; see"},
		{[]string{"workspaces", "create", ""}, "the name is empty"},
		{[]string{"serve", "--memory", "--api-key", "12ab34cd_mine"}, "--api-key begins like a key of another workspace"},
		{[]string{"reset"}, "add --yes"},
		{[]string{"trigger", "new_signature_pdf_completed", "--set", "bogus"}, "this event knows signer=…"},
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
		{"documents list --sort", "OLDEST", "newest, oldest"},
		{"templates list --sort", "Oldest", "newest, oldest"},
		{"documents wait " + s.lease + " --for", "Pending,DRAFT", "draft, pending, signed, paid, declined, expired, deleted, void"},
		{"listen --url http://127.0.0.1:1 --events", "New_Form_Response,new_template_response", "new_form_response, new_signature_completed, new_template_response"},
		{"webhooks add http://x/ --url http://127.0.0.1:1 --event", "NEW_FORM_RESPONSE", "new_form_response, new_signature_completed, new_template_response"},
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
		help, _, _ := execute(t, append(args, c.value, "--help")...)
		require.Contains(t, help, c.values)
	}
	stdout, stderr, code := s.run(t, "documents list --status pending --sort Oldest")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Regexp(t, `^DOCUMENT.*\nLEASE\t.*\nNOTICE\t.*\n$`, stdout)
}

func TestHelpOfCommandsAndVersionAsAFlag(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "documents", "list"}, {"completion"}, {"completion", "bash"}} {
		stdout, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitOK, code, "%v: %s", args, stderr)
		require.NotEmpty(t, stdout)
	}
	stdout, _, code := execute(t, "--version")
	require.Equal(t, cli.ExitOK, code)
	version, _, _ := execute(t, "version")
	require.Equal(t, version, stdout)
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
		require.Contains(t, stderr, "no sandbox answers at http://127.0.0.1:1: ")
		require.Contains(t, stderr, hint+", or say with "+where+"$SIGNFORMS_SANDBOX_URL where it is")
	}
}

func TestFlagsThatGoTogether(t *testing.T) {
	for args, want := range map[string]string{
		"templates send x": "signforms: give --to or --csv; see signforms templates send --help\n",
		"templates send x --csv a --to name=A,email=a@b": "signforms: give --to or --csv, not both; see signforms templates send --help\n",
		"documents list --json --csv":                    "signforms: give --csv or --json, not both; see signforms documents list --help\n",
	} {
		_, stderr, code := execute(t, strings.Fields(args)...)
		require.Equal(t, cli.ExitUsage, code)
		require.Equal(t, want, stderr, args)
	}
}
