package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

const (
	idA, idB     = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
	madeA, madeB = "aaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaa2"
)

// scripted sets the environment to a service with these answers by path; those of templates have the key templates. It returns the
// bodies of the requests that change something.
func scripted(t *testing.T, answers map[string]string) *[]string {
	t.Helper()
	newService(t, nil)
	posted := &[]string{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if r.URL.Query().Get("documentType") == "PDF_TEMPLATE" {
			path = "templates"
		}
		if r.Method != http.MethodGet {
			body, _ := io.ReadAll(r.Body)
			*posted = append(*posted, string(body))
		}
		io.WriteString(w, answers[path])
	}))
	t.Cleanup(srv.Close)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
	return posted
}

// A record that does not show what it was asked for is not printed as if it did.
func TestListsOfRecordsThatDoNotShow(t *testing.T) {
	scripted(t, map[string]string{"get-documents": `{"totalDocuments":1,"documents":[{"documentId":"` + idA + `","documentName":"X"}]}`})
	for args, field := range map[string]string{"--status SIGNED": "status", "--from 2026-11-02": "createdAt", "--to 2026-11-02 --page 1": "createdAt",
		"--status SIGNED --to 2026-11-02": "status and createdAt"} {
		stdout, stderr, code := execute(t, append([]string{"documents", "list", "--json"}, strings.Fields(args)...)...)
		require.Equal(t, cli.ExitPartial, code, args)
		require.Empty(t, stdout, args)
		require.Equal(t, "signforms: 1 record shows no "+field+", by which the filters could be checked, left out here: "+idA+"\n", stderr)
	}
	stdout, stderr, code := execute(t, "documents", "list", "--json", "--id", idA)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, idA)
}

// A service that ignores templateId lists the documents of every template: each is of the template that it shows.
func TestDocumentsOfAnotherTemplate(t *testing.T) {
	record := func(template, made string) string {
		return `{"respondentDocumentId":"` + made + `","templateId":"` + template + `","status":"PENDING"}`
	}
	posted := scripted(t, map[string]string{
		"get-documents":           `{"totalDocuments":0,"documents":[]}`,
		"templates":               `{"totalDocuments":2,"documents":[{"documentId":"` + idA + `","totalRespondants":1},{"documentId":"` + idB + `","totalRespondants":1}]}`,
		"get-template-respondent": `{"respondents":[` + record(idA, madeA) + "," + record(idB, madeB) + `]}`,
		"send-reminder":           `{"message":"sent"}`,
	})
	for _, args := range []string{"respondents " + idB, "respondents --limit 5 " + idB, "respondents --page 1 " + idB} {
		stdout, stderr, code := execute(t, append([]string{"templates"}, strings.Fields(args)...)...)
		require.Equal(t, cli.ExitPartial, code, stderr)
		require.NotContains(t, stdout, madeA)
		require.Contains(t, stdout, madeB)
		require.Contains(t, stderr, "1 record against the filters")
	}
	stdout, _, code := execute(t, "templates", "respondents", "--document", madeA, idB)
	require.Equal(t, cli.ExitPartial, code)
	require.NotContains(t, stdout, madeA)

	stdout, stderr, code := execute(t, "documents", "remind", "--all-pending", "--yes")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\treminded\t"), stdout)
	require.Len(t, *posted, 2, "each document once")
	for _, body := range *posted {
		require.Equal(t, strings.Contains(body, idA), strings.Contains(body, madeA), "each with its template: %s", body)
	}
	require.Contains(t, stderr, "the documents made from template "+idA+", the service listed 1 document of other templates, left out there\n")
}

// Without a templateId in the records, a document that every template lists is reminded once.
func TestADocumentOfNoTemplateIsRemindedOnce(t *testing.T) {
	posted := scripted(t, map[string]string{
		"get-documents":           `{"totalDocuments":0,"documents":[]}`,
		"templates":               `{"totalDocuments":2,"documents":[{"documentId":"` + idA + `","totalRespondants":1},{"documentId":"` + idB + `","totalRespondants":1}]}`,
		"get-template-respondent": `{"respondents":[{"respondentDocumentId":"` + madeA + `","status":"PENDING"}]}`,
		"send-reminder":           `{"message":"sent"}`,
	})
	_, stderr, code := execute(t, "documents", "remind", "--all-pending", "--yes")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Len(t, *posted, 1)
	require.Contains(t, stderr, "template "+idB+" counts 1 document, of which 1 is not shown and not looked at\n")
}

func TestAPageThatSaysItIsAnother(t *testing.T) {
	scripted(t, map[string]string{"get-documents": `{"documents":[{"documentId":"` + idA + `"}],"pagination":{"currentPage":1,"totalPages":3}}`})
	stdout, stderr, code := execute(t, "documents", "list", "--page", "2")
	require.Equal(t, cli.ExitFailure, code, stderr)
	require.NotContains(t, stdout, idA)
	require.Contains(t, stderr, "asked for page 2, and the service says that this is page 1\n")
	stdout, stderr, code = execute(t, "documents", "list", "--page", "2", "--endpoint", `list documents={"pagesFromZero":true}`)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, idA)
}

// A reminder that reached nobody was not sent.
func TestRemindersThatReachNobody(t *testing.T) {
	scripted(t, map[string]string{"send-reminder": `{"message":"all have signed","remindersSent":0}`})
	_, stderr, code := execute(t, "documents", "remind", idA)
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "the service says that it sent no reminder: all have signed\n")
	stdout, _, code := execute(t, "documents", "remind", idA, idB, "--yes", "--csv")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stdout, ",remindersSent,")
	require.Contains(t, stdout, idA+",failed,0,")
}

// Ids are checked before anything is done to the first.
func TestIdsAreCheckedFirst(t *testing.T) {
	posted := scripted(t, nil)
	for _, verb := range []string{"void", "remind"} {
		for _, c := range []struct{ args, says string }{
			{idA + " x", `"x": the id must be a UUID`}, {idA + " " + strings.ToUpper(idA), strings.ToUpper(idA) + " is given twice"},
			{"--template " + idA + " " + madeA + " x", `"x": the document's id must be`}, {"--template " + idA + " " + madeA + " " + madeA, "is given twice"},
			{"--template x " + madeA, "the template's id must be a UUID"},
		} {
			_, stderr, code := execute(t, append([]string{"documents", verb, "--yes"}, strings.Fields(c.args)...)...)
			require.Equal(t, cli.ExitUsage, code, "%s %s: %s", verb, c.args, stderr)
			require.Contains(t, stderr, c.says)
		}
	}
	require.Empty(t, *posted)
}

// What users name in another way than expected is read, or refused with the exit code of a wrong command line.
func TestUnusualSettings(t *testing.T) {
	s := newService(t, nil)
	folder := t.TempDir()
	file := filepath.Join(folder, "accounts.json")
	for _, c := range []struct {
		text, args, stdout, stderr string
		code                       int
	}{
		{"\ufeff" + `{"accounts":{"main":{"baseURL":"http://a","apiKey":{"variable":"X"}}}}`, "accounts --settings " + file, "main\tyes", "", cli.ExitOK},
		{"{}", "accounts --settings " + file, "", file + " holds no account\n", cli.ExitOK},
		{"", "accounts --settings " + folder, "", "is a directory", cli.ExitUsage},
		{"", "documents remind LEASE --limit-store " + os.DevNull, "", "--limit-store: " + os.DevNull + " is not a regular file", cli.ExitUsage},
		{"", "documents remind --all-pending --dry-run --pending-status pending", "LEASE", "3 documents to be reminded", cli.ExitOK},
	} {
		require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
		stdout, stderr, code := s.run(t, c.args)
		require.Equal(t, c.code, code, stderr)
		require.Contains(t, stdout, c.stdout)
		require.Contains(t, stderr, c.stderr)
	}
}
