package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

// mailing is a CSV file for the offer, and the command that sends it.
type mailing struct {
	*testService
	path string
}

const sixPeople = "Buyer.name,Buyer.email,[price]\nP0,p0@example.com,10\nP1,p1@example.com,11\nP2,p2@example.com,12\n" +
	"P3,p3@example.com,13\nP4,p4@example.com,14\nP5,p5@example.com,15\n"

func newMailing(t *testing.T, text string) *mailing {
	t.Helper()
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv")}
	m.write(t, m.path, text)
	return m
}

func (m *mailing) write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func (m *mailing) read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func (m *mailing) results() string { return m.path + ".results.csv" }

// sends sends a file, which must end with this code, and returns what it prints.
func (m *mailing) sends(t *testing.T, path string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, got := execute(t, append([]string{"templates", "send", m.offer, "--csv", path, "--yes"}, args...)...)
	require.Equal(t, code, got, stderr)
	return stdout, stderr
}

// mails counts the invitations by address.
func (m *mailing) mails() map[string]int {
	n := map[string]int{}
	for what, count := range m.mailed("invitation") {
		n[strings.Fields(what)[1]] += count
	}
	return n
}

// requireEach requires one mail to each of the first n people.
func (m *mailing) requireEach(t *testing.T, n int) {
	t.Helper()
	want := map[string]int{}
	for i := range n {
		want[fmt.Sprintf("p%d@example.com", i)] = 1
	}
	require.Equal(t, want, m.mails())
}

// The results file says of each line what became of it, without names and addresses, and the same command goes on.
func TestResultsOfASend(t *testing.T) {
	m := newMailing(t, sixPeople)
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 2, Status: 409})
	_, stderr := m.sends(t, m.path, cli.ExitPartial)
	require.Contains(t, stderr, "signforms: 4 sent; 2 failed; 0 unknown; 0 not tried; the same command again goes on")
	text := m.read(t, m.results())
	require.Regexp(t, `^results of,send\nfile,[0-9a-f]{64}\ntemplate,`+m.offer+`\nservice,`+m.URL+`\naccount,`+m.WorkspaceID+
		`\nline,state,id,reason\n2,sending,,\n2,sent,[0-9a-f]{24},\n3,sending,,\n3,failed,,409 Conflict\n`, text)
	require.NotContains(t, text, "example.com")
	heal()
	stdout, stderr := m.sends(t, m.path, cli.ExitOK)
	require.Contains(t, stderr, "2 of 6 lines to be sent")
	require.Equal(t, 2, strings.Count(stdout, "\tsent\t"), stdout)
	stdout, _ = m.sends(t, m.path, cli.ExitOK)
	require.Empty(t, stdout)
	m.requireEach(t, 6)
	require.True(t, strings.HasPrefix(m.read(t, m.results()), text), "rows are only added")
}

// A spreadsheet may have written the file anew.
func TestResultsFromASpreadsheet(t *testing.T) {
	m := newMailing(t, sixPeople)
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Status: 409})()
	m.sends(t, m.path, cli.ExitPartial)
	m.write(t, m.results(), "\ufeff"+strings.ReplaceAll(strings.ReplaceAll(m.read(t, m.results()), ",", ";"), "\n",
		";;\r\n"))
	m.sends(t, m.path, cli.ExitOK)
	m.sends(t, m.path, cli.ExitOK)
	m.requireEach(t, 6)
}

// Whatever differs from the header is refused before any request, with what to do.
func TestOtherRunsAreRefused(t *testing.T) {
	m := newMailing(t, sixPeople)
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 3, Status: 409})()
	m.sends(t, m.path, cli.ExitPartial)
	asked, results := len(m.Requests()), m.read(t, m.results())
	other := m.AddTemplate(signformstest.Template{Name: "Other", Roles: []signformstest.Role{{Title: "Buyer"}}})
	send := func(args ...string) (string, int) {
		_, stderr, code := execute(t, append([]string{"templates", "send"}, args...)...)
		return stderr, code
	}
	for _, c := range []struct {
		args           []string
		file, from, to string // edits of FILE or of the results
		says           string
	}{
		{args: []string{m.offer, "--workspace", "another"},
			says: `nothing was sent: ` + m.results() + `: its account is "` + m.WorkspaceID + `", but that of this command is "another". Give the command the one of the file. Only if the account got a new key, replace the value in the file`},
		{args: []string{other}, says: "its template is"},
		{args: []string{m.offer}, file: m.path, from: "P3", to: "P33",
			says: "Undo the edit of FILE. To correct lines that were not sent, run --rest"},
		{args: []string{m.offer}, file: m.path, from: "\n", to: "\r\n", says: "Undo the edit of FILE"},
		{args: []string{m.offer}, file: m.results(), from: "3,sent", to: "3,snt",
			says: `line 10 has no valid state (sending, sent, failed, unknown, again, moved) or no line end. Undo the edit`},
		{args: []string{m.offer}, file: m.results(), from: "3,sent", to: "3,SENT", says: "line 10 has no valid state"},
		{args: []string{m.offer}, file: m.results(), from: "3,sent", to: "3, sent", says: "line 10 has no valid state"},
		{args: []string{m.offer}, file: m.results(), from: "results of,send\n",
			says: "it is empty, is not a results file, or has an incomplete header. Restore its earlier contents"},
		{args: []string{m.offer}, file: m.results(), from: "3,sent", to: "33,sent", says: "has a row of line 33, and"},
		{args: []string{m.offer}, file: m.results(), from: "5,failed", to: `5,"failed`, says: "Undo the edit"},
	} {
		if c.file != "" {
			whole := m.read(t, c.file)
			require.Contains(t, whole, c.from)
			m.write(t, c.file, strings.Replace(whole, c.from, c.to, 1))
			defer m.write(t, c.file, whole)
		}
		for _, more := range []string{"", "--unknown", "--rest=" + m.path + ".rest"} {
			stderr, code := send(append(append(c.args, "--csv", m.path, "--yes"), strings.Fields(more)...)...)
			require.Equal(t, cli.ExitUsage, code, "%s: %s", c.says, stderr)
			require.Contains(t, stderr, c.says, more)
		}
		if c.file == m.path {
			m.write(t, m.path, sixPeople)
		} else {
			m.write(t, m.results(), results)
		}
	}
	require.Len(t, m.Requests(), asked)
	require.NoFileExists(t, m.path+".rest")
	m.sends(t, m.path, cli.ExitOK, "--subject", "corrected")
	require.NoError(t, os.Remove(m.results()))
	m.sends(t, m.path, cli.ExitOK)
	require.Equal(t, 2, m.mails()["p0@example.com"], "without its results file, a FILE is new")
}

// What is unknown is sent again only when a person says so.
func TestUnknownLines(t *testing.T) {
	m := newMailing(t, sixPeople)
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 2, Status: 502, AfterWork: true})
	_, stderr := m.sends(t, m.path, cli.ExitUnknown)
	require.Contains(t, stderr, "signforms: 1 sent; 0 failed; 1 unknown; 4 not tried; the service refused the key or gave no "+
		"clear response; the same command again goes on, and leaves what is unknown until you edit its last state in "+
		m.results()+" to sent or again\n")
	m.sends(t, m.path, cli.ExitUnknown)
	heal()
	_, stderr = m.sends(t, m.path, cli.ExitUnknown)
	require.Contains(t, stderr, "3 sent; 0 failed; 2 unknown; 0 not tried;")
	stdout, _ := m.sends(t, m.path, cli.ExitUnknown)
	require.Empty(t, stdout)
	m.requireEach(t, 6)

	stdout, stderr = m.sends(t, m.path, cli.ExitOK, "--unknown")
	require.Equal(t, "2 lines are unknown ("+m.results()+"); the request of a line without a document here may still "+
		"arrive: check again in 2 minutes before you set the line to again\n", stderr)
	require.Regexp(t, `^ITEM\tOUTCOME\tCREATED DOCUMENT ID\tMESSAGE\n4\tPENDING\t[0-9a-f]{24}\t\S+Z\n3\tPENDING\t[0-9a-f]{24}\t\S+Z\n$`, stdout)

	text := m.read(t, m.results())
	m.write(t, m.results(), strings.Replace(strings.Replace(text, "3,unknown", "3,sent", 1), "4,unknown", "4,again", 1))
	stdout, _ = m.sends(t, m.path, cli.ExitOK)
	require.Regexp(t, `(?m)^4\tsent\t`, stdout)
	require.Equal(t, 1, m.mails()["p1@example.com"])
	require.Equal(t, 2, m.mails()["p2@example.com"])
	require.NoError(t, os.Remove(m.results()))
	stdout, stderr = m.sends(t, m.path, cli.ExitOK, "--unknown")
	require.Empty(t, stdout)
	require.Contains(t, stderr, "0 lines are unknown")
	require.NoFileExists(t, m.results())
}

// The rest is in one file alone, whatever is repeated.
func TestRest(t *testing.T) {
	m := newMailing(t, strings.ReplaceAll(sixPeople, "P4", "\"P\n4\""))
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 3, Status: 409})
	m.sends(t, m.path, cli.ExitPartial)
	heal()
	rest := filepath.Join(filepath.Dir(m.path), "rest.csv")
	for range 2 {
		_, stderr := m.sends(t, m.path, cli.ExitOK, "--rest", rest)
		require.Contains(t, stderr, "3 lines are in "+rest+", which "+m.path+" sends no more: edit and send that file, unless "+
			"you have sent it under any name\n")
		require.Equal(t, "Buyer.name,Buyer.email,[price]\nP3,p3@example.com,13\n\"P\n4\",p4@example.com,14\nP5,p5@example.com,15\n",
			m.read(t, rest))
		_, stderr = m.sends(t, m.path, cli.ExitUsage, "--rest", rest)
		require.Contains(t, stderr, "nothing was moved: it is there: send it, or name a new file")
		require.NoError(t, os.Remove(rest))
	}
	require.True(t, strings.HasSuffix(m.read(t, m.results()), "\n5,moved,,"+rest+"\n6,moved,,"+rest+"\n8,moved,,"+rest+"\n"))
	m.sends(t, m.path, cli.ExitOK, "--rest", rest)
	_, stderr := m.sends(t, m.path, cli.ExitFailure, "--rest", rest+".other")
	require.Contains(t, stderr, "no line is failed, again or not begun, and none was moved to")
	stdout, _ := m.sends(t, m.path, cli.ExitOK)
	require.Empty(t, stdout)
	m.sends(t, rest, cli.ExitOK)
	m.requireEach(t, 6)
}

// A place where --rest cannot write is refused before any line is marked.
func TestRestIntoAPlaceThatIsNone(t *testing.T) {
	m := newMailing(t, sixPeople)
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 3, Status: 409})
	m.sends(t, m.path, cli.ExitPartial)
	heal()
	for _, place := range []string{m.path, m.results(), filepath.Join(filepath.Dir(m.path), "none", "rest.csv")} {
		_, stderr := m.sends(t, m.path, cli.ExitUsage, "--rest", place)
		require.Contains(t, stderr, "nothing was moved", place)
	}
	m.sends(t, m.path, cli.ExitOK)
	m.requireEach(t, 6)
}

// A file that is wrong is refused before any request.
func TestWhatIsWrongWithAFile(t *testing.T) {
	for text, says := range map[string]string{
		"":                                 "its first line must name the columns: EOF",
		"Buyer.name,Buyer.email\n":         "it has no line below its header",
		"Buyer.name,Buyer.email\nAnn\xe9,": "line 2: name of receiver 1 must be valid UTF-8",
		"Buyer.name,mail\nAnn,a@b\n":       `column "mail": the columns are ROLE.name and ROLE.email, such as Buyer.name, for a form name and email, and [variable]`,
		"Buyer.name,Buyer.email,role\nAnn,a@example.com,Buyer\n":                `column "role": the columns are`,
		"Buyer.name,Buyer.email,Buyer.email\nAnn,a@example.com,a@example.com\n": `column "Buyer.email" is there twice`,
		"Buyer.name,Buyer.email\nAnn,\n":                                        "line 2: email of receiver 1 must",
		"Buyer.name,Buyer.email\nAnn,a@@example.com\n":                          "line 2: an email is no plain address such as ann@example.com",
		"Buyer.name,Buyer.email\nAnn,a@münchen.example\n":                       "line 2: an email is no plain address",
		"Buyer.name,Buyer.email\nAnn,Dup <a@example.com>\n":                     "line 2: an email is no plain address",
		"Buyer.name,Buyer.email\nAnn,mailto:a@example.com\n":                    "line 2: an email is no plain address",
		"Buyer.name,Buyer.email,Seller.name,Seller.email\n" +
			strings.Repeat("Ann,a@example.com,Cem,c@example.com\n", 2): "lines 2 and 3 have the same address",
		"Buyer.name,Buyer.email\nAnn,a@example.com\nAnn,A@Example.com\n": "lines 2 and 3 have the same address: remove one, or say " +
			"--repeat-addresses to send to both",
		"Buyer.name,Buyer.email,Seller.name,Seller.email\nAnn,a@example.com,Cem,c@example.com\nBen,b@example.com,Ann,a@example.com\n": "lines 2 and 3 have",
		"Buyer.name,Buyer.email,Seller.name,Seller.email\nAnn,a@example.com,Cem,c@example.com\nCem,c@example.com,Cem,c@example.com\n": "lines 2 and 3 have",
	} {
		m := newMailing(t, text)
		_, stderr := m.sends(t, m.path, cli.ExitUsage)
		require.Contains(t, stderr, says)
		require.Empty(t, m.asked())
		require.NoFileExists(t, m.results())
	}
}

// One seller to many buyers is no repeated address. Other encodings of a file are read.
func TestFilesThatAreRead(t *testing.T) {
	for _, text := range []string{
		"Buyer.name,Buyer.email,Seller.name,Seller.email\nP0,p0@example.com,Cem,c@example.com\nP1,p1@example.com,Cem,C@Example.com\n",
		"\ufeffBuyer.name;Buyer.email\r\nP0;p0@example.com\r\n\"P;1\";p1@example.com\r\n;\r\n",
		"Buyer.name\tBuyer.email\nP0\tp0@example.com\nP1\tp1@example.com",
	} {
		m := newMailing(t, text)
		m.sends(t, m.path, cli.ExitOK)
		m.sends(t, m.path, cli.ExitOK)
		mails := m.mails()
		delete(mails, "c@example.com")
		delete(mails, "C@Example.com")
		require.Equal(t, map[string]int{"p0@example.com": 1, "p1@example.com": 1}, mails)
	}
	m := newMailing(t, "Buyer.name,Buyer.email\nP0,p0@example.com\nP1,p0@example.com\n")
	m.sends(t, m.path, cli.ExitOK, "--repeat-addresses")
	require.Equal(t, 2, m.mails()["p0@example.com"])
}

func TestFormsToMany(t *testing.T) {
	m := newMailing(t, "name,email\nP0,p0@example.com\nP1,p1@example.com\n")
	stdout, stderr, code := m.run(t, "forms send SURVEY --yes --csv "+m.path)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\tsent\t"))
	require.Contains(t, m.read(t, m.results()), "\nform,"+m.survey+"\n")
	help, _, _ := m.run(t, "forms send --help")
	require.NotRegexp(t, "templates send|--unknown|Buyer", help)
}

// Two runs of one file.
func TestTwoHandsOnOneFile(t *testing.T) {
	m := newMailing(t, sixPeople)
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 1 {
			_, stderr, code := execute(t, "templates", "send", m.offer, "--csv", m.path, "--yes")
			assert.Equal(t, cli.ExitUsage, code)
			assert.Contains(t, stderr, "another process uses it: wait until it ends, or end it")
		}
	}}
	g.stand(t, m.testService)
	m.sends(t, m.path, cli.ExitOK)
	m.requireEach(t, 6)
}

// A run whose results file is edited or replaced ends before the next request.
func TestEditsDuringARun(t *testing.T) {
	for name, to := range map[string]string{"edited": "2,unknown", "replaced": "2,sent"} {
		t.Run(name, func(t *testing.T) {
			m := newMailing(t, sixPeople)
			out, errs := interrupting{after: "4\tsent\t", cancel: func() {
				text := m.read(t, m.results())
				if to == "2,sent" {
					assert.NoError(t, os.Remove(m.results()))
				}
				m.write(t, m.results(), strings.Replace(text, "2,sent", to, 1))
			}}, strings.Builder{}
			args := []string{"templates", "send", m.offer, "--csv", m.path, "--yes"}
			require.Equal(t, cli.ExitPartial, run(t.Context(), hasty, args, strings.NewReader(""), &out, &errs))
			require.Contains(t, errs.String(), "nothing more is sent: "+m.results()+": it was edited during the run. "+
				"Restore its earlier contents, and add the lines that were printed since")
			require.Len(t, m.mails(), 3)
			execute(t, args...)
			m.requireEach(t, 6)
		})
	}
}

// A batch stops soon when the service does not answer, or refuses the key.
func TestBatchesThatStop(t *testing.T) {
	m := newMailing(t, sixPeople)
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 502})
	stdout, stderr := m.sends(t, m.path, cli.ExitUnknown)
	require.Equal(t, 1, strings.Count(stdout, "\tunknown\t"), stdout)
	require.Contains(t, stderr, "0 sent; 0 failed; 1 unknown; 5 not tried; the service refused the key or gave no clear response; ")
	heal()
	require.NoError(t, os.Remove(m.results()))
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 403})
	_, stderr = m.sends(t, m.path, cli.ExitFailure)
	require.Contains(t, stderr, "0 sent; 1 failed; 0 unknown; 5 not tried; the service refused the key")
}

// A loss of power leaves the beginning of a file, or blanks behind it. The command refuses it, or sends nothing again
// that was asked for by then.
func TestTornResults(t *testing.T) {
	m := newMailing(t, "Buyer.name,Buyer.email\nP0,p0@example.com\nP1,p1@example.com\nP2,p2@example.com\n")
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 409})()
	m.sends(t, m.path, cli.ExitFailure)
	text := strings.ReplaceAll(m.read(t, m.results()), ",failed,,409 Conflict", ",sent,0123456789abcdef01234567,")
	head, refused, sent := strings.Index(text, "2,sending"), 0, 0
	for i := range 2 * len(text) {
		end := i / 2
		if border := end > head && (text[end] == '\n' || text[end-1] == '\n'); !border && end%13 > 0 {
			continue
		}
		torn := text[:end] + strings.Repeat("\x00", i%2)
		m.write(t, m.results(), torn)
		stdout, stderr, code := execute(t, "templates", "send", m.offer, "--csv", m.path, "--yes")
		if code == cli.ExitUsage {
			require.Regexp(t, "has an incomplete header|Give the command the one of the file|a different FILE|Undo the edit, or remove the part that a loss of power has left", stderr)
			require.Equal(t, torn, m.read(t, m.results()))
			refused++
			continue
		}
		require.NotEmpty(t, torn)
		sent++
		for row := range strings.Lines(m.read(t, m.results())[head:]) {
			require.Equal(t, 3, strings.Count(row, ","), "%q after %q", row, torn)
		}
		for line := 2; line < 5; line++ {
			asked := strings.Contains(text[:end], fmt.Sprintf("\n%d,sending,", line))
			require.NotEqual(t, asked, strings.Contains(stdout, fmt.Sprintf("%d\tfailed", line)), "line %d of %q", line, torn)
		}
	}
	require.Greater(t, refused, 20)
	require.GreaterOrEqual(t, sent, 5)
}
