package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

// movesWithSends has the service's clock go on by a second after each send, and lists altered by change.
func movesWithSends(t *testing.T, m *mailing, change func(list string) string) {
	altered(t, m.testService, func(r *http.Request) bool {
		if r.Method == http.MethodPost {
			m.Advance(time.Second)
		}
		return strings.HasSuffix(r.URL.Path, "/get-template-respondent")
	}, change)
}

func unaltered(list string) string { return list }

// anHourAgo moves the times of the journal back, as if its requests had been an hour earlier.
func (m *mailing) anHourAgo(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(m.path + ".journal")
	require.NoError(t, err)
	text = regexp.MustCompile(`"at":"[^"]+"`).ReplaceAllFunc(text, func(at []byte) []byte {
		was, err := time.Parse(`"at":"`+time.RFC3339+`"`, string(at))
		require.NoError(t, err)
		return []byte(was.Add(-time.Hour).Format(`"at":"` + time.RFC3339Nano + `"`))
	})
	require.NoError(t, os.WriteFile(m.path+".journal", text, 0o600))
}

// twoUnknown has sent to four of six people; of line 3 the request was lost, and of line 5 the answer. Twelve seconds earlier another
// run has sent the same to all of them.
func twoUnknown(t *testing.T, o *signformstest.Options, change func(list string) string) *mailing {
	t.Helper()
	m := &mailing{newService(t, o), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	movesWithSends(t, m, change)
	m.sends(t, cli.ExitOK)
	m.Advance(12 * time.Second)
	m.mail = len(m.Messages())
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Reset: true})
	// What went wrong already does not count.
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 3, Times: 1, Reset: true, AfterWork: true})
	require.Contains(t, m.sends(t, cli.ExitUnknown), "sent: 4\nunknown: 2: line 3 (p1@example.com), line 5 (p3@example.com)\n")
	return m
}

// The list of documents says which of the unknown sends were carried out. Following it, each person gets one mail.
func TestUnknownSendsAreLookedUp(t *testing.T) {
	m := twoUnknown(t, nil, unaltered)
	before := len(m.mailed("invitation"))
	stdout, stderr, code := m.send(t, "--unknown")
	require.Equal(t, cli.ExitUnknown, code, "the request of line 3 may still be under way")
	require.Contains(t, stdout, "line 3\tcannot tell\tp1@example.com (P1)\t\tthe list has no such document yet: the send may still be carried out until 2")
	require.Contains(t, stdout, "line 5\tfound\t")
	require.Equal(t, "nothing was changed; to follow this, give the same command with\n  --resolve p3@example.com=done\nsignforms: 1 unknown\n", stderr)

	m.anHourAgo(t)
	stdout, stderr, code = m.send(t, "--unknown", "--json")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\n"), stdout)
	require.Regexp(t, `"item":"line 3","outcome":"not found","to":\[{"name":"P1","email":"p1@example.com"}\],"message":"the list has no such document, and all 4 that`, stdout)
	require.Regexp(t, `"item":"line 5","outcome":"found","to":\[{"name":"P3","email":"p3@example.com"}\],"createdDocumentId":"[0-9a-f]{24}","message":"made 2026-11-02T11:00:20Z; one that somebody else sent to them then looks the same"`, stdout)
	require.Equal(t, "nothing was changed; to follow this, give the same command with\n  --resolve p1@example.com=again --resolve p3@example.com=done\n", stderr)
	require.Len(t, m.mailed("invitation"), before)
	m.sends(t, cli.ExitOK, "--resolve", "p1@example.com=again", "--resolve", "p3@example.com=done")
	m.once(t)
	_, stderr, code = m.send(t, "--unknown")
	require.Equal(t, cli.ExitOK, code)
	require.Equal(t, "no line has an unknown outcome\n", stderr)
}

// madeOf alters a list so that the documents that were sent to somebody show another template.
func madeOf(list, email, templateID string) string {
	return regexp.MustCompile(`"templateId":"[^"]+"([^{]*\{[^}]*"`+email+`")`).ReplaceAllString(list, `"templateId":"`+templateID+`"$1`)
}

// A list that does not show what the run is known to have made proves nothing.
func TestLookupsNeedAWitness(t *testing.T) {
	for name, c := range map[string]struct {
		change func(body string) string
		says   []string
		code   int
	}{
		"all is shown": {unaltered, []string{"line 3\tnot found\t", "line 5\tfound\t"}, cli.ExitOK},
		"a document is not shown": {func(body string) string { return strings.ReplaceAll(body, "p5@example.com", "p6@example.com") },
			[]string{"line 3\tcannot tell\t", "but shows only 3 of the 4 documents that this run is known to have made", "line 5\tfound\t"}, cli.ExitUnknown},
		"no addresses": {func(body string) string { return strings.ReplaceAll(body, `"email"`, `"mail"`) },
			[]string{"line 3\tcannot tell\t", "line 5\tcannot tell\t", " may belong to 1 unknown send to the same people: "}, cli.ExitUnknown},
		"no times": {func(body string) string { return strings.ReplaceAll(body, `"createdAt"`, `"made"`) },
			[]string{"line 3\tcannot tell\t", "line 5\tcannot tell\t", "made at a time that is not shown"}, cli.ExitUnknown},
		"times that are days": {func(body string) string { return regexp.MustCompile(`T[0-9:.]+Z`).ReplaceAllString(body, "T00:00:00Z") },
			[]string{"line 3\tcannot tell\t", "line 5\tcannot tell\t"}, cli.ExitUnknown},
		"a hidden address": {func(body string) string { return strings.ReplaceAll(body, "p3@example.com", "***") },
			[]string{"line 3\tcannot tell\t", "line 5\tcannot tell\t", " of no known send may be it under other addresses: "}, cli.ExitUnknown},
		"of another template": {func(body string) string {
			return madeOf(body, "p3@example.com", "0b6c0df5-8d1b-4c34-9d3a-6f0c6dd1a001")
		},
			[]string{"line 3\tnot found\t", "line 5\tnot found\t"}, cli.ExitOK},
		"a known one of another template": {func(body string) string {
			return madeOf(body, "p5@example.com", "0b6c0df5-8d1b-4c34-9d3a-6f0c6dd1a001")
		},
			[]string{"line 3\tcannot tell\t", "but shows only 3 of the 4 documents that this run is known to have made", "line 5\tfound\t"}, cli.ExitUnknown},
		"templates that are not shown": {func(body string) string { return strings.ReplaceAll(body, `"templateId"`, `"from"`) },
			[]string{"line 3\tnot found\t", "line 5\tfound\t"}, cli.ExitOK},
		"an incomplete list": {func(body string) string {
			return regexp.MustCompile(`"totalPages":\d+`).ReplaceAllString(body, `"totalPages":9`)
		}, nil, cli.ExitPartial},
	} {
		t.Run(name, func(t *testing.T) {
			m := twoUnknown(t, nil, c.change)
			m.anHourAgo(t)
			stdout, stderr, code := m.send(t, "--unknown")
			require.Equal(t, c.code, code, stderr)
			for _, says := range c.says {
				require.Contains(t, stdout, says)
			}
			if c.says == nil {
				require.Empty(t, stdout)
				require.Contains(t, stderr, "signforms: cannot tell: ")
			}
		})
	}
}

// Where pages have a size of the service's own, a document that moves between two of them is in neither.
func TestLookupInPagesThatCannotOverlap(t *testing.T) {
	m := twoUnknown(t, nil, unaltered)
	m.ignores = "limit"
	m.anHourAgo(t)
	stdout, stderr, code := m.send(t, "--unknown")
	require.Equal(t, cli.ExitUnknown, code, stderr)
	require.Contains(t, stdout, "line 3\tcannot tell\tp1@example.com (P1)\t\tthe list has no such document, but the service ignores or refuses a size of pages")
	require.Contains(t, stdout, "line 5\tfound\t")
}

// One document cannot decide two sends to the same people.
func TestOneDocumentForTwoUnknownSends(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople + "P1,p1@example.com,20\n"}
	movesWithSends(t, m, unaltered)
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Reset: true})
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 6, Times: 1, Reset: true, AfterWork: true})
	require.Contains(t, m.sends(t, cli.ExitUnknown, "--repeat-addresses"), "unknown: 2: line 3 (p1@example.com), line 8 (p1@example.com)\n")
	stdout, stderr, code := m.send(t, "--repeat-addresses", "--unknown")
	require.Equal(t, cli.ExitUnknown, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "cannot tell"), stdout)
	require.Contains(t, stdout, "1 document may belong to 2 unknown sends to the same people")
	require.Equal(t, "signforms: 2 unknown\n", stderr)
}

// The document of another line is not taken for that of an unknown send to the same people.
func TestLookupLeavesOutOtherLines(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), strings.Replace(sixPeople, "P5,", "P1,p1@example.com,20\nP5,", 1)}
	movesWithSends(t, m, unaltered)
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 6, Times: 1, Reset: true})
	m.sends(t, cli.ExitUnknown, "--repeat-addresses")
	m.anHourAgo(t)
	stdout, stderr, code := m.send(t, "--repeat-addresses", "--unknown")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stdout, "line 7\tnot found\tp1@example.com (P1)\t")
}

// Before a run is known to have made a document, nothing shows when a document was made.
func TestLookupOfTheFirstSend(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	defer m.Fail(signformstest.Fault{Operation: signforms.OpSend, Reset: true, AfterWork: true})()
	_, stderr, code := m.send(t)
	require.Equal(t, cli.ExitUnknown, code, stderr)
	require.Contains(t, stderr, "no clear answer from the service 3 times in a row")
	stdout, _, code := m.send(t, "--unknown")
	require.Equal(t, cli.ExitUnknown, code)
	require.Equal(t, 3, strings.Count(stdout, "cannot tell"), stdout)
	require.Equal(t, 3, strings.Count(stdout, "1 document may belong to 1 unknown send to the same people"), stdout)
}

func TestUnknownOnlyLooks(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	for _, flag := range []string{"--new-run", "--dry-run", "--resolve=all=done"} {
		_, stderr, code := m.send(t, "--unknown", flag)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, stderr, "--unknown only looks: leave out --new-run, --resolve and --dry-run")
	}
	_, stderr, code := m.send(t, "--unknown")
	require.Equal(t, cli.ExitOK, code)
	require.Equal(t, "no line has an unknown outcome\n", stderr)
	require.NoFileExists(t, m.path+".journal")
	require.Empty(t, m.mails())
}

// A misspelt role refuses the file before anything is sent. A service that does not show the roles judges each line itself.
func TestRolesAreReadFirst(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), "name,email,role\nP0,p0@example.com,Byer\nP1,p1@example.com,Seller\nP2,p2@example.com,Byer\n"}
	for _, dry := range [][]string{nil, {"--dry-run"}} {
		_, stderr, code := m.send(t, dry...)
		require.Equal(t, cli.ExitUsage, code)
		require.Contains(t, stderr, "people.csv: nothing was sent:\n  \"Byer\" is not a role of the template: line 2, line 4\nIts roles are Buyer, Seller.\n")
	}
	require.Empty(t, m.mails())
	require.NoFileExists(t, m.path+".journal")

	ofTemplates := func(r *http.Request) bool { return r.URL.Query().Get("documentType") == "PDF_TEMPLATE" }
	altered(t, m.testService, ofTemplates, func(body string) string { return strings.ReplaceAll(body, `"roleTitle"`, `"title"`) })
	stdout, stderr, code := m.send(t)
	require.Equal(t, cli.ExitPartial, code)
	require.Contains(t, stderr, "cannot tell whether the roles are right: the service names no roles of the template\n")
	require.Contains(t, stdout, "line 3\tsent\tp1@example.com (P1)\t")
	require.Len(t, m.mails(), 1)
}

// threeUnknown has sent to the first of three; the outcomes of the others are unknown. p1 got the mail and p2 did not.
func threeUnknown(t *testing.T) *mailing {
	t.Helper()
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), strings.Join(strings.SplitAfter(sixPeople, "\n")[:4], "")}
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Reset: true, AfterWork: true})
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Reset: true})
	require.Contains(t, m.sends(t, cli.ExitUnknown), "unknown: 2: line 3 (p1@example.com), line 4 (p2@example.com)\n")
	return m
}

// What was read of the lines before the file was sorted decides nobody else. An address names the same person in any order.
func TestResolveNamesPeople(t *testing.T) {
	m := threeUnknown(t)
	m.text = reversed(m.text) // line 3 is still that of p1, line 4 is no more that of p2
	for _, args := range [][]string{{"--resolve", "4=done"}, {"--resolve", "2=again"}} {
		m.sends(t, cli.ExitUsage, args...)
	}
	m.text = "name,email,[price]\nP0,p0@example.com,10\nP2,p2@example.com,12\nP1,p1@example.com,11\n"
	for _, dry := range [][]string{nil, {"--dry-run"}} {
		require.Contains(t, m.sends(t, cli.ExitUsage, append(dry, "--resolve", "3=done", "--resolve", "4=again")...), "--resolve: line 3 (p2@example.com) was not that line when it was sent: name it by an address")
	}
	require.Contains(t, m.sends(t, cli.ExitOK, "--resolve", "P1@Example.com=done", "--resolve", "p2@example.com=again"), "line 3 (p2@example.com): will be sent again, as --resolve says\nline 4 (p1@example.com): counts as sent, as --resolve says\n")
	require.Equal(t, map[string]int{"p0@example.com": 1, "p1@example.com": 1, "p2@example.com": 1}, m.mails())
}

func TestResolvesThatCannotBe(t *testing.T) {
	m := threeUnknown(t)
	for says, args := range map[string][]string{
		`--resolve "p1@example.com=again": an earlier --resolve says done`: {"--resolve", "3=done", "--resolve", "p1@example.com=again"},
		`--resolve "all=again": an earlier --resolve says done`:            {"--resolve", "all=done", "--resolve", "all=again"},
		`the outcome of "p0@example.com" is not unknown`:                   {"--resolve", "p0@example.com=done"},
		`the outcome of "changed" is not unknown`:                          {"--resolve", "changed=done"},
		`--resolve "3": say ITEM=done or ITEM=again`:                       {"--resolve", "3"},
	} {
		require.Contains(t, m.sends(t, cli.ExitUsage, args...), says)
	}
	m.text = strings.Replace(m.text, "p2@example.com,12\n", "p2@example.com,12\nP1,p1@example.com,20\n", 1)
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: 1, Reset: true})
	m.sends(t, cli.ExitUnknown, "--repeat-addresses")
	require.Contains(t, m.sends(t, cli.ExitUsage, "--repeat-addresses", "--resolve", "p1@example.com=done"), `"p1@example.com" is in line 3 (p1@example.com) and line 5 (p1@example.com): say which line`)
}
