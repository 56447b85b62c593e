package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	text string
}

const sixPeople = "name,email,[price]\nP0,p0@example.com,10\nP1,p1@example.com,11\nP2,p2@example.com,12\nP3,p3@example.com,13\nP4,p4@example.com,14\nP5,p5@example.com,15\n"

// halfSent has sent the first three of six lines.
func halfSent(t *testing.T) *mailing {
	t.Helper()
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 3, Status: 409})
	require.Contains(t, m.sends(t, cli.ExitPartial), "sent: 3\nnot sent: 3: line 5 (p3@example.com), line 6 (p4@example.com), line 7 (p5@example.com)\n")
	heal()
	return m
}

// send writes the file and sends it.
func (m *mailing) send(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	require.NoError(t, os.WriteFile(m.path, []byte(m.text), 0o600))
	return execute(t, append([]string{"templates", "send", m.offer, "--csv", m.path, "--role", "Buyer", "--subject", "Offer", "--yes"}, args...)...)
}

// sends sends the file, which must end with this code, and returns what it says beside the data.
func (m *mailing) sends(t *testing.T, code int, args ...string) (stderr string) {
	t.Helper()
	_, stderr, got := m.send(t, args...)
	require.Equal(t, code, got, stderr)
	return stderr
}

// mails counts the invitations by address.
func (m *mailing) mails() map[string]int {
	n := map[string]int{}
	for what, count := range m.mailed("invitation") {
		n[strings.Fields(what)[1]] += count
	}
	return n
}

// once requires that each of the six people got one mail.
func (m *mailing) once(t *testing.T) {
	t.Helper()
	require.Len(t, m.mails(), 6)
	for who, n := range m.mails() {
		require.Equal(t, 1, n, who)
	}
}

// Whatever became of the file, each person gets one mail.
func TestEditedFilesGoOn(t *testing.T) {
	for name, edit := range map[string]func(text string) string{
		"unchanged":          func(text string) string { return text },
		"columns swapped":    func(string) string { return "[price],email,name\n" + rows("%d,p%d@example.com,P%d\n", 10, 0, 0) },
		"lines sorted":       func(text string) string { return reversed(text) },
		"CRLF":               func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") },
		"byte order mark":    func(text string) string { return "\ufeff" + text },
		"trailing blanks":    func(text string) string { return text + "\n\n" },
		"semicolons":         func(text string) string { return strings.ReplaceAll(text, ",", ";") },
		"tabs":               func(text string) string { return strings.ReplaceAll(text, ",", "\t") },
		"CR":                 func(text string) string { return strings.ReplaceAll(text, "\n", "\r") },
		"said separator":     func(text string) string { return "\ufeffsep=;\r\n" + strings.ReplaceAll(text, ",", ";") },
		"lines of blanks":    func(text string) string { return text + ",,\n , ,\n" },
		"E-Mail":             func(text string) string { return strings.Replace(text, "email", "E-Mail", 1) },
		"case of addresses":  func(text string) string { return strings.ReplaceAll(text, "p1@example", "P1@Example") },
		"header in capitals": func(text string) string { return strings.Replace(text, "name,email", "Name,EMAIL", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			m := halfSent(t)
			m.text = edit(m.text)
			stderr := m.sends(t, cli.ExitOK)
			require.Regexp(t, `(?m)^3 of 6 lines were sent by a run that has not ended and began at 2\S+Z; going on with the rest\n3 lines to be sent$`, stderr)
			require.Contains(t, stderr, "sent: 3, and 3 before\n")
			m.once(t)
			_, stderr, _ = m.send(t)
			require.Contains(t, stderr, "sent: 6\n", "the run has ended, so the next one starts over")
		})
	}
}

func rows(format string, price, name, email int) (text string) {
	for i := range 6 {
		text += fmt.Sprintf(format, price+i, name+i, email+i)
	}
	return text
}

// reversed returns the lines below the header in the opposite order.
func reversed(text string) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	out := lines[0]
	for i := len(lines) - 1; i > 0; i-- {
		out += strings.TrimSuffix(lines[i], "\n") + "\n"
	}
	return out
}

func TestLinesAddedAndRemoved(t *testing.T) {
	m := halfSent(t)
	m.text = strings.Replace(m.text, "P0,p0@example.com,10\n", "P6,p6@example.com,16\n", 1)
	stderr := m.sends(t, cli.ExitOK)
	require.Contains(t, stderr, "2 of 6 lines were sent by a run that has not ended and began at ")
	require.Len(t, m.mails(), 7)
	m.text = sixPeople
	_, stderr, _ = m.send(t, "--dry-run")
	require.Contains(t, stderr, "6 lines to be sent\n", "the run has ended")
}

// A run that has not ended keeps its settings.
func TestOtherSettingsAreRefused(t *testing.T) {
	long := strings.Repeat("long ", 20)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"subject":         {[]string{"--subject", "Another"}, "--subject: Offer -> Another"},
		"message":         {[]string{"--message", "Hello"}, "--message: none -> Hello"},
		"long message":    {[]string{"--message", long}, "--message: none -> " + long},
		"variable":        {[]string{"--variable", "x=1"}, "--variable [x]: none -> 1"},
		"role":            {[]string{"--role", "Seller"}, "--role: Buyer -> Seller"},
		"another subject": {[]string{"--subject", "\x1b[31mred"}, "--subject: Offer ->  [31mred"},
		"pdf":             {[]string{"--pdf", "testdata/offer.pdf"}, "--pdf: none -> the file with the SHA-256 "},
	} {
		t.Run(name, func(t *testing.T) {
			m := halfSent(t)
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(m.path), "offer.pdf"), []byte("%PDF-1.7\n"), 0o600))
			for i, arg := range c.args {
				c.args[i] = strings.ReplaceAll(arg, "testdata", filepath.Dir(m.path))
			}
			for _, dry := range [][]string{nil, {"--dry-run"}} {
				stderr := m.sends(t, cli.ExitUsage, append(dry, c.args...)...)
				require.Contains(t, stderr, "people.csv: nothing was sent: the run of 2")
				require.Contains(t, stderr, "has not ended, and this one has other settings:\n  "+c.says)
				require.Contains(t, stderr, "That run has sent 3 lines. Its settings go on with it; --new-run abandons it and sends to all.\n")
				require.Len(t, m.mails(), 3)
			}
			m.sends(t, cli.ExitOK)
			m.once(t)
		})
	}
}

// Where no workspace is named, the API key chooses it, so it is a setting of the run. What is kept of it is a hash.
func TestAnotherKeyIsRefused(t *testing.T) {
	for _, workspace := range []string{"named", ""} {
		m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
		if workspace == "" {
			t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
		}
		heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 1, Status: 403})
		m.sends(t, cli.ExitPartial)
		heal()
		text, err := os.ReadFile(m.path + ".journal")
		require.NoError(t, err)
		require.NotContains(t, string(text), m.APIKey)
		another, err := m.AddAPIKey()
		require.NoError(t, err)
		t.Setenv("SIGNFORMS_API_KEY", another)
		_, stderr, code := m.send(t)
		if workspace == "" {
			require.Equal(t, cli.ExitUsage, code, stderr)
			require.Regexp(t, `other settings:\n  API key, as no workspace is named: the key with the hash \w+ -> the key with the hash \w+\n`, stderr)
			require.Len(t, m.mails(), 3)
			t.Setenv("SIGNFORMS_API_KEY", m.APIKey)
			_, stderr, code = m.send(t)
		}
		require.Equal(t, cli.ExitOK, code, stderr)
		m.once(t)
	}
}

// A run that has sent nothing holds nobody to its settings, and its journal is none of remind's.
func TestRunThatSentNothing(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: 6, Status: 409})
	m.sends(t, cli.ExitFailure)
	heal()
	_, stderr, code := execute(t, "documents", "remind", "--all-pending", "--yes", "--journal", m.path+".journal")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "is of a run of send --csv: name another one")
	m.sends(t, cli.ExitOK, "--subject", "Another")
	m.once(t)
	notes, err := filepath.Glob(filepath.Join(m.state, "signforms", "sends", "*.json"))
	require.NoError(t, err)
	require.Empty(t, notes, "no run has not ended")
}

func TestNewRunSaysHowManyWereMailed(t *testing.T) {
	m := halfSent(t)
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Status: 409})
	require.Contains(t, m.sends(t, cli.ExitPartial, "--subject", "Another", "--new-run"), "has not ended and is abandoned: it has sent 3 lines\n")
	heal()
	require.Contains(t, m.sends(t, cli.ExitOK, "--subject", "Another"), "sent: 1, and 5 before\n")
	require.Equal(t, map[string]int{"p0@example.com": 2, "p1@example.com": 2, "p2@example.com": 2, "p3@example.com": 1, "p4@example.com": 1, "p5@example.com": 1}, m.mails())
}

// With --new-run only what --resolve says was sent is left out.
func TestNewRunOfResolvedLines(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Reset: true})()
	m.sends(t, cli.ExitUnknown)
	stderr := m.sends(t, cli.ExitOK, "--new-run", "--resolve", "all=done", "--dry-run")
	require.Contains(t, stderr, "\n1 of 6 lines would be left out, because --resolve says that they were sent\n5 of 6 lines were sent by a run")
	require.NotContains(t, stderr, "going on with the rest")
}

// The same contents to other people begin with another journal. A run of the same template for the same people does not.
func TestAnotherTemplateIsRefused(t *testing.T) {
	m := halfSent(t)
	m.offer = m.AddTemplate(signformstest.Template{Name: "Second", Roles: []signformstest.Role{{Title: "Buyer"}}})
	require.Contains(t, m.sends(t, cli.ExitUsage), "  template: ")
	m.sends(t, cli.ExitOK, "--journal", filepath.Join(t.TempDir(), "journal"))
}

// A line that was changed after it was sent is not sent again unless somebody says so.
func TestChangedLinesAreHeldBack(t *testing.T) {
	m := halfSent(t)
	m.text = strings.NewReplacer("P1,", "Pia,", "P2,", "Paul,", "P3,", "Petra,").Replace(m.text)
	stderr := m.sends(t, cli.ExitPartial)
	require.Contains(t, stderr, "line 3 (p1@example.com): was sent with other contents at 2")
	require.Contains(t, stderr, "sent: 3, and 1 before\nsent with other contents: 2: line 3 (p1@example.com), line 4 (p2@example.com)\n")
	require.Contains(t, stderr, "signforms: 2 sent with other contents\n")
	m.once(t)
	m.sends(t, cli.ExitPartial, "--resolve", "all=again")
	m.once(t)
	m.sends(t, cli.ExitOK, "--resolve", "3=again", "--resolve", "changed=done")
	require.Equal(t, 2, m.mails()["p1@example.com"])
	require.Equal(t, 1, m.mails()["p2@example.com"])
}

// A resolved line keeps no id: the document was made by a send before that.
func TestResolvedLinesAreNoWitness(t *testing.T) {
	m := halfSent(t)
	m.text = strings.NewReplacer("P1,", "Pia,").Replace(m.text)
	m.sends(t, cli.ExitOK, "--resolve", "changed=done")
	text, err := os.ReadFile(m.path + ".journal")
	require.NoError(t, err)
	ids := regexp.MustCompile(`"id":"\w+"`).FindAllString(string(text), -1)
	require.Len(t, ids, 6)
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 6)
}

// A copy of the file has another journal.
func TestCopiesOfTheFileAreRefused(t *testing.T) {
	m := halfSent(t)
	journal := m.path + ".journal"
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	m.text = strings.Replace(m.text, "P5,p5@example.com,15\n", "P6,p6@example.com,16\n", 1)
	for _, dry := range [][]string{nil, {"--dry-run"}} {
		stderr := m.sends(t, cli.ExitUsage, dry...)
		require.Contains(t, stderr, "5 lines of 6 share people with the run of 2")
		require.Contains(t, stderr, "which has not ended, with the journal "+journal+", and it has sent to people of 3 of them.\nThe lines: line 2 (p0@example.com), line 3 (")
		require.Len(t, m.mails(), 3)
	}
	require.Contains(t, m.sends(t, cli.ExitOK, "--journal", journal), "3 of 6 lines were sent by a run that has not ended")
	require.Len(t, m.mails(), 6)
	_, stderr, code := m.send(t, "--dry-run")
	require.Equal(t, cli.ExitOK, code, "the run has ended: %s", stderr)
}

// A copy is known from the moment that the first run begins, whatever it has sent by then.
func TestTwoCopiesAtOnce(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 1 {
			other := &mailing{m.testService, filepath.Join(t.TempDir(), "copy.csv"), sixPeople}
			_, stderr, code := other.send(t)
			assert.Equal(t, cli.ExitUsage, code)
			assert.Contains(t, stderr, "6 lines of 6 share people with the run of ")
		}
	}}
	g.stand(t, m.testService)
	m.sends(t, cli.ExitOK)
	m.once(t)
}

func TestAbandonedCopies(t *testing.T) {
	m := halfSent(t)
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	require.Contains(t, m.sends(t, cli.ExitOK, "--new-run"), ", and it has sent to people of 3 of them.\nThe lines: line 2 (")
	require.Equal(t, 2, m.mails()["p0@example.com"])
	_, stderr, code := m.send(t)
	require.Equal(t, cli.ExitOK, code, "the other run stays abandoned: %s", stderr)
}

func TestJournalThatIsGone(t *testing.T) {
	m := halfSent(t)
	require.NoError(t, os.Remove(m.path+".journal"))
	for range 2 {
		require.Contains(t, m.sends(t, cli.ExitUsage), ", but to whom it has sent is unknown: the run is not in it.\n")
	}
	require.NoError(t, os.Remove(m.path+".journal"))
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	require.Contains(t, m.sends(t, cli.ExitUsage), ", but to whom it has sent is unknown: no such file or directory.\n")
	require.Len(t, m.mails(), 3)
}

// Where nothing can be noted, a run still goes on by its own journal.
func TestRunsWithoutAHome(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", file)
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 1, Status: 409})()
	require.Contains(t, m.sends(t, cli.ExitPartial), "a copy of this file will not be known as one: its run cannot be noted: ")
	m.sends(t, cli.ExitOK)
	m.once(t)
}

// The run of another home is known by the journal beside the file.
func TestAnotherHome(t *testing.T) {
	m := halfSent(t)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	m.sends(t, cli.ExitOK)
	m.once(t)
}

func TestJournalOfAnEarlierVersion(t *testing.T) {
	m := halfSent(t)
	text := "{\"journal\":1}\n{\"at\":\"2026-11-21T19:40:00Z\",\"key\":\"abc\",\"run\":\"def\",\"item\":\"line 4\",\"intent\":true}\n"
	require.NoError(t, os.WriteFile(m.path+".journal", []byte(text), 0o600))
	for _, args := range [][]string{nil, {"--new-run"}} {
		require.Contains(t, m.sends(t, cli.ExitFailure, args...), "is of an earlier version of the program or of another command, and does not say to whom it sent")
		require.Len(t, m.mails(), 3)
	}
}

func TestRepeatedAddresses(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"),
		"name,email,[price]\nAnn,ann@example.com,1\nBen,ben@example.com,2\nAnn,Ann@Example.com,3\n"}
	_, stderr, code := m.send(t)
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "people.csv: nothing was sent:\n  lines 2 and 4: ann@example.com\nThese have the same addresses: ")
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Status: 403})()
	require.Contains(t, m.sends(t, cli.ExitPartial, "--repeat-addresses"), "1 not tried", "line 4 is not taken for line 2")
	m.sends(t, cli.ExitOK, "--repeat-addresses")
	require.Equal(t, map[string]int{"ann@example.com": 1, "Ann@Example.com": 1, "ben@example.com": 1}, m.mails())
}

func TestSeveralAddressesInACell(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), ""}
	for _, cell := range []string{"a@example.com; b@example.com", "\"a@example.com, b@example.com\"", "a@example.com b@example.com", "a@example.com/b@example.com"} {
		m.text = "name,email\nAnn,ann@example.com\nBen," + cell + "\n"
		_, stderr, code := m.send(t)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", cell, stderr)
		require.Contains(t, stderr, "line 3: "+fmt.Sprintf("%q", strings.Trim(cell, `"`))+" is more than one address: each receiver has one\n")
	}
	m.text = "name,email\nAnn,\"\"\"a@b\"\"@example.com\"\n"
	m.sends(t, cli.ExitOK, "--dry-run")
	require.Empty(t, m.mails())
}

// What is not an address alone would be sent as it is, to nobody or to somebody else.
func TestCellsThatAreNoAddress(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), ""}
	for _, cell := range []string{"mailto:a@example.com", "'a@example.com", "a@example.com,", "a@example.com;", "a@example.com>", "<a@example.com>", "a@example.com.",
		"a@example.com\u200b", "a@exam\u00a0ple.com", "Ann <a@example.com>", "a@example.com (Ann)", "a@"} {
		m.text = "name,email\nAnn,ann@example.com\nBen,\"" + cell + "\"\n"
		_, stderr, code := m.send(t)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", cell, stderr)
		require.Contains(t, stderr, fmt.Sprintf("line 3: %q is not a mail address alone, such as ann@example.com\n", cell))
	}
	m.text = "name,email\nAnn,o'neil+x@example.com\nBen,a..b.@example.com\nCem,jürgen@bücher.example\nDan,dan@localhost\n"
	m.sends(t, cli.ExitOK, "--dry-run")
	require.Empty(t, m.mails())
}

// The line numbers are those of the file, and a file without roles says how to give one.
func TestWhatIsWrongWithAFile(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), "sep=;\nname;email\n;;\nAnn;\n"}
	_, stderr, code := m.send(t)
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "people.csv: record on line 3: wrong number of fields")
	m.text = "sep=;\nname;email\n;\nAnn;\n"
	_, stderr, code = m.send(t)
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "people.csv: nothing was sent:\n  line 4: ")
	require.NoError(t, os.WriteFile(m.path, []byte(sixPeople), 0o600))
	_, stderr, code = execute(t, "templates", "send", m.offer, "--csv", m.path, "--yes")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "people.csv: has no column role: add one, or say --role for all lines\n")
	require.Empty(t, m.mails())
}

func TestFilesInOtherEncodings(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), ""}
	for name, text := range map[string]string{
		"Latin-1":                          "name,email\nJos\xe9,jose@example.com\n",
		"UTF-16":                           "\xff\xfen\x00a\x00m\x00e\x00",
		"UTF-16 without a byte order mark": "n\x00a\x00m\x00e\x00",
	} {
		m.text = text
		_, stderr, code := m.send(t)
		require.Equal(t, cli.ExitUsage, code, name)
		require.Contains(t, stderr, "people.csv: is not in UTF-8: save it as CSV UTF-8", name)
	}
	require.Empty(t, m.mails())
}

func TestStandardInput(t *testing.T) {
	m := halfSent(t)
	path := m.path
	send := func(text string, args ...string) (string, int) {
		var out, errs strings.Builder
		code := run(t.Context(), hasty, append([]string{"templates", "send", m.offer, "--csv", "-", "--role", "Buyer", "--subject", "Offer", "--yes"}, args...),
			strings.NewReader(text), &out, &errs)
		return errs.String(), code
	}
	stderr, code := send(m.text)
	require.Equal(t, cli.ExitUsage, code, stderr)
	require.Contains(t, stderr, "standard input: nothing was sent: 6 lines of 6 share people with the run of ")
	m.sends(t, cli.ExitOK)
	require.NoError(t, os.Remove(path))

	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 4, Times: 1, Status: 409})()
	stderr, code = send(m.text)
	require.Equal(t, cli.ExitPartial, code, stderr)
	stderr, code = send(m.text, "--subject", "Another")
	require.Equal(t, cli.ExitUsage, code, stderr)
	require.Contains(t, stderr, "standard input: nothing was sent: the run of 2")
	stderr, code = send(reversed(m.text))
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stderr, "sent: 1, and 5 before\n")
	for who, n := range m.mails() {
		require.Equal(t, 2, n, who)
	}
}

// A run goes on until it is known whether each line was sent, those that are no longer in the file too.
func TestUnknownLinesThatAreGone(t *testing.T) {
	const says = "line 4 as it was at 2"
	for name, edited := range map[string]string{
		"removed":   strings.Replace(sixPeople, "P2,p2@example.com,12\n", "", 1),
		"corrected": strings.Replace(sixPeople, "p2@", "paul@", 1),
	} {
		t.Run(name, func(t *testing.T) {
			m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
			m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 3, Times: 1, Reset: true, AfterWork: true})
			m.sends(t, cli.ExitUnknown)
			m.text = edited
			require.Contains(t, m.sends(t, cli.ExitUnknown, "--unknown"), says)
			for range 2 {
				stderr := m.sends(t, cli.ExitUnknown)
				require.Contains(t, stderr, says)
				require.Contains(t, stderr, "is no longer there, and whether it was sent is unknown: --resolve all=done or --resolve all=again decides it\n")
				require.Contains(t, stderr, "\nunknown: 1: "+says)
				require.Contains(t, stderr, "signforms: 1 unknown\n")
				require.NotContains(t, stderr, "ends here")
			}
			text := m.text
			m.text = sixPeople
			_, stderr, code := m.send(t)
			require.Equal(t, cli.ExitUnknown, code, "the line is back: %s", stderr)
			require.Equal(t, 1, m.mails()["p2@example.com"])
			m.text = text
			require.Contains(t, m.sends(t, cli.ExitOK, "--resolve", "all=done"), "that run ends here")
			for who, n := range m.mails() {
				require.Equal(t, 1, n, who)
			}
			_, stderr, code = m.send(t, "--dry-run")
			require.Equal(t, cli.ExitOK, code)
			require.NotContains(t, stderr, "has not ended", "the run has ended")
		})
	}
}

// What --resolve says of a line that is gone holds when it is back before the run ends.
func TestResolvedLinesThatAreBack(t *testing.T) {
	for what, mails := range map[string]int{"done": 1, "again": 2} {
		m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), strings.Replace(sixPeople, "P5,p5@example.com,15\n", "", 1)}
		m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 3, Times: 1, Reset: true, AfterWork: true})
		m.sends(t, cli.ExitUnknown)
		m.text = strings.Replace(sixPeople, "P2,p2@example.com,12\n", "", 1)
		m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, Times: 1, Status: 409})
		m.sends(t, cli.ExitFailure, "--resolve", "all="+what)
		m.text = sixPeople
		m.sends(t, cli.ExitOK)
		require.Equal(t, mails, m.mails()["p2@example.com"], what)
		require.Equal(t, 1, m.mails()["p5@example.com"])
	}
}

// A gateway that repeats an answer proves nothing: each send makes a document of its own.
func TestAnswersOfAnotherLine(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), strings.Replace(sixPeople, "P3,p3@example.com,13\nP4,p4@example.com,14\nP5,p5@example.com,15\n", "", 1)}
	first := ""
	altered(t, m.testService, func(r *http.Request) bool { return r.Method == http.MethodPost }, func(body string) string {
		if first == "" {
			first = body
		}
		return first
	})
	stdout, stderr, code := m.send(t)
	require.Equal(t, cli.ExitUnknown, code, stderr)
	require.Regexp(t, `(?m)^line 2\tsent\tp0@example.com \(P0\)\t\w{24}\t`, stdout)
	require.Regexp(t, `(?m)^line 3\tunknown\tp1@example.com \(P1\)\t\tthe answer named the document of line 2: outcome unknown: `, stdout)
	require.Contains(t, stderr, "sent: 1\nunknown: 2: line 3 (p1@example.com), line 4 (p2@example.com)\n")
	_, stderr, code = m.send(t, "--resolve", "3=again")
	require.Equal(t, cli.ExitUnknown, code, "line 2 was sent by an earlier process: %s", stderr)
	require.Equal(t, map[string]int{"p0@example.com": 1, "p1@example.com": 2, "p2@example.com": 1}, m.mails())
}

// Only the journal of a run holds back whom it may have mailed, so a run with another does not take its place.
func TestNewRunOfACopyWithUnknownLines(t *testing.T) {
	m := threeUnknown(t)
	journal := m.path + ".journal"
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	for _, dry := range [][]string{nil, {"--dry-run"}} {
		require.Contains(t, m.sends(t, cli.ExitUsage, append(dry, "--new-run")...), "copy.csv: nothing was sent: the run with the journal "+journal+" is not abandoned, because whether 2 lines of it were sent is unknown.\n")
	}
	m.sends(t, cli.ExitUnknown, "--new-run", "--journal", journal)
	require.Equal(t, map[string]int{"p0@example.com": 2, "p1@example.com": 1}, m.mails())
}

// With --new-run a lost journal holds nobody back, also where the new run writes to a file of the same name.
func TestNewRunWithoutTheJournal(t *testing.T) {
	for _, another := range []bool{false, true} {
		m := halfSent(t)
		require.NoError(t, os.Remove(m.path+".journal"))
		require.Contains(t, m.sends(t, cli.ExitUsage), "\nSay --new-run to abandon it and send to all.\n")
		args := []string{"--new-run"}
		if another {
			args = append(args, "--journal", filepath.Join(t.TempDir(), "journal"))
		}
		m.sends(t, cli.ExitOK, args...)
		_, stderr, code := m.send(t, "--dry-run")
		require.Equal(t, cli.ExitOK, code, "no run is noted: %s", stderr)
	}
}
