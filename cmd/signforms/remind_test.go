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

// pendingOf returns the command that reminds all, with a results file.
func pendingOf(t *testing.T) (args, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "november.csv")
	return "documents remind --all-pending --yes --max-wait 1s --results " + file, file
}

// A round over several windows of the limit reaches everybody once: those never tried first, the oldest before the
// others.
func TestRemindReachesEverybody(t *testing.T) {
	s := newService(t, nil)
	args, file := pendingOf(t)
	add := func(n int) (ids []string) {
		for range n {
			s.Advance(time.Minute)
			ids = append(ids, s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem",
				Email: "cem@example.com"}}}))
		}
		return ids
	}
	refused := add(2)
	for _, id := range refused {
		s.Fail(signformstest.Fault{Operation: signforms.OpRemind, DocumentID: id, Status: 409, Times: 1})
	}
	later := add(4)
	store := signforms.NewMemoryLimitStore(s.Now)
	limited := replaced{openLimitFile: func(string) signforms.LimitStore { return store }}
	var tried []string
	for window := range 3 {
		var out, errs strings.Builder
		code := run(t.Context(), limited, strings.Fields(args), strings.NewReader(""), &out, &errs)
		require.Equal(t, []int{cli.ExitPartial, cli.ExitPartial, cli.ExitOK}[window], code, errs.String())
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
			id, _, _ := strings.Cut(line, "\t")
			tried = append(tried, id)
		}
		if window == 0 {
			require.Regexp(t, `signforms: 3 sent; 2 failed; 0 unknown; 4 not tried; send reminder: rate limited: .*; the same command again goes on`, errs.String())
			later = append(later, add(1)...)
		}
		s.Advance(time.Hour)
	}
	require.Len(t, tried, 12)
	require.ElementsMatch(t, []string{s.lease, s.sent, s.notice, refused[0], refused[1]}, tried[:5])
	require.Equal(t, later, tried[5:10], "those that were never tried, and then those that failed")
	require.Equal(t, refused, tried[10:])
	atMostOnce(t, s.mailed("reminder"))
	stdout, _, code := s.run(t, args)
	require.Equal(t, cli.ExitOK, code)
	require.Empty(t, stdout, "the round is over")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Regexp(t, `^results of,remind\nfilters,status=PENDING\nservice,\S+\naccount,\S+\nline,state,id,reason\n`, string(text))
	_, stderr, code := s.run(t, args+" --workspace another")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "its account is")
}

// A list that is not whole reminds nobody.
func TestRemindNeedsTheWholeList(t *testing.T) {
	s := newService(t, nil)
	args, file := pendingOf(t)
	total := regexp.MustCompile(`"totalDocuments":\d+`)
	altered(t, s, ofDocuments, func(body string) string { return total.ReplaceAllString(body, `"totalDocuments":9`) })
	stdout, stderr, code := s.run(t, args)
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Empty(t, stdout)
	require.NoFileExists(t, file)
	s.use(t)
	defer s.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: 400})()
	_, stderr, code = s.run(t, args)
	require.Equal(t, cli.ExitFailure, code, stderr)
	require.Zero(t, s.reminded())
}

// Each record is judged by the status that it shows.
func TestRemindJudgesEachRecord(t *testing.T) {
	s := newService(t, nil)
	altered(t, s, ofDocuments, func(body string) string {
		return strings.Replace(body, `"status":"PENDING"`,
			`"status":"SIGNED"`, 1)
	})
	args, _ := pendingOf(t)
	stdout, stderr, code := s.run(t, args)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\tsent\t"), stdout)
}

func TestRemindersThatReachNobody(t *testing.T) {
	s := newService(t, nil)
	toRemind := func(r *http.Request) bool { return r.Method == http.MethodPost }
	altered(t, s, toRemind, func(string) string { return `{"message":"nobody is pending","remindersSent":0}` })
	_, stderr, code := s.run(t, "documents remind LEASE")
	require.Equal(t, cli.ExitFailure, code)
	require.Contains(t, stderr, "the service reports that it sent no reminder: nobody is pending")
}

func TestFlagsOfRemind(t *testing.T) {
	s := newService(t, nil)
	for args, says := range map[string]string{
		"documents remind":                                "name one document by its id, or all with --all-pending --results FILE",
		"documents remind LEASE NOTICE":                   "name one document by its id",
		"documents remind LEASE --all-pending":            "name one document by its id",
		"documents remind --all-pending":                  "name one document by its id",
		"documents remind LEASE --results x.csv":          "name one document by its id",
		"documents void LEASE nope --yes":                 `"nope": the id must be a UUID`,
		"documents remind --template OFFER LEASE":         "an ObjectId",
		"templates send OFFER":                            "give one TEMPLATE_ID, and what to send: --csv FILE, or columns such as Buyer.name=Ann",
		"templates send OFFER Buyer.name=A --csv x":       "give one TEMPLATE_ID, and what to send",
		"templates send OFFER Buyer.name=A --rest x":      "give one TEMPLATE_ID, and what to send",
		"templates send OFFER Buyer.name=A --unknown":     "give one TEMPLATE_ID, and what to send",
		"templates send OFFER --csv x --rest=a --unknown": "give --rest or --unknown, not both",
	} {
		_, stderr, code := s.run(t, args)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", args, stderr)
		require.Contains(t, stderr, says, args)
	}
	require.Empty(t, s.asked())
}

// A round that is killed goes on: nobody is reminded twice, and the limit holds over all runs. Who waits for the
// limit is not unknown.
func TestRemindIsKilledAndGoesOn(t *testing.T) {
	s := remindService(t)
	_, file := pendingOf(t)
	args := append(remindAll, "--results", file)
	g := &gate{method: http.MethodPost}
	g.before = func(n int) {
		if n == 2 { // it arrives, but the program is killed before the answer
			current().kill()
			current().end()
		}
	}
	g.after = func(n int) {
		if n == 4 { // it was carried out, and its answer is lost
			current().kill()
			current().end()
		}
	}
	g.stand(t, s)
	for range 2 {
		require.Equal(t, -1, start(t, nil, args...).end())
	}
	p := start(t, nil, args...)
	require.Eventually(t, func() bool { return g.count() == 5 }, 10*time.Second, time.Millisecond)
	p.kill() // as it waits for the limit, or right before
	require.Equal(t, -1, p.end())

	p = start(t, nil, args...)
	require.Equal(t, cli.ExitUnknown, p.end(), "%s", &p.stderr)
	atMostOnce(t, s.mailed("reminder"))
	require.LessOrEqual(t, g.most(), 5)
	require.Len(t, s.mailed("reminder"), 10, "nine documents, of which one has two signers")
	require.Regexp(t, `[23] unknown`, p.stderr.String())
	require.Regexp(t, `the limit of reminders is reached: waiting until \d\d:\d\d:\d\d\n`, p.stderr.String())
}
