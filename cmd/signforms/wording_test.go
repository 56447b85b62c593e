package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

// What others wrote is printed as it is, even where it looks like a name of the SDK.
func TestNamesPathsAndForeignMessagesStay(t *testing.T) {
	s := newService(t, nil)
	_, stderr, code := s.run(t, "forms send SURVEY --csv ./DateFrom.csv")
	require.Equal(t, cli.ExitUsage, code)
	require.Equal(t, "signforms: --csv: ./DateFrom.csv: no such file or directory\n", stderr)

	const message = "Query must be longer; DateTo is late, says Options.WorkspaceID"
	s.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Status: http.StatusUnprocessableEntity, Body: `{"message":"` + message + `"}`})
	_, stderr, code = s.run(t, "documents list")
	require.Equal(t, cli.ExitFailure, code)
	require.Equal(t, "signforms: list documents: 422: "+message+"\n", stderr)

	s.Fail(signformstest.Fault{Operation: signforms.OpVoidDocument, Status: http.StatusUnprocessableEntity, Body: `{"message":"` + message + `"}`, Times: 2})
	stdout, _, _ := s.run(t, "documents void LEASE NOTICE --yes --json")
	require.Equal(t, 2, strings.Count(stdout, `"message":"void document: 422: `+message+`"`), stdout)

	_, stderr, _ = execute(t, "webhook", "verify", "--secret", "a secret that is long enough", "./webhook: ; Diagnose knows other forms.json")
	require.Equal(t, "signforms: ./webhook: ; Diagnose knows other forms.json: no such file or directory\n", stderr)
}

// Wrong inputs are named as the command line calls them.
func TestWrongInputsAreNamedByTheirFlags(t *testing.T) {
	s := newService(t, nil)
	for command, want := range map[string]string{
		"documents list --from 2026-11-02 --to 2026-11-01":           "list documents: invalid input: --from must not be after the end of the period",
		"documents list --id nope":                                   "list documents: invalid input: --id must be a UUID such as UUID",
		"documents get nope":                                         "get document: invalid input: the id must be a UUID such as UUID",
		"documents void SENT":                                        "\"SENT\": the id must be a UUID and is the ObjectId of a document made from a template: give the template's UUID with it, or read it as a respondent",
		"documents remind SENT --template nope":                      "\"SENT\": the template's id must be a UUID such as UUID",
		"forms responses --response RESPONSE --page 2":               "list responses: invalid input: --page applies only with the id of a form",
		"forms send SURVEY --to name=Ann,email=ann":                  "send form: invalid input: email of receiver 1 must be a mail address, with an @",
		"templates send OFFER --to email=a@b,role=x --variable [a=b": "send template: invalid input: name of receiver 1 must not be empty; name of variable 1 must be in square brackets: [name]",
		"documents list --attempt-timeout 48h --max-attempts -1":     "--attempt-timeout must be from 0 (which means 30 s) to 24 h; --max-attempts must be 1 or more (0 means 4)",
		"documents list --base-url ftp://x":                          "--base-url must begin with http:// or https:// and a host, such as https://api.example.com",
		"documents list --endpoint list|documents=GET|/x?y":          `--endpoint "list documents" cannot be used: Path "/x?y" must begin with a slash and hold no query, fragment or blank`,
		"documents list --workspace a\u200bb":                        "--workspace must be printable and without blanks at its ends",
		"documents list --query a\xff":                               "list documents: invalid input: --query must be valid UTF-8",
	} {
		args := s.ids(command)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		_, stderr, code := execute(t, args...)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", command, stderr)
		require.Equal(t, "signforms: "+want+"\n", s.named(stderr), command)
	}
	require.Empty(t, s.asked())
}
