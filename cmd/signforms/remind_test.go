package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/signformstest"
)

// altered sets the environment to a proxy in front of the service, which changes the answers to these requests.
func altered(t *testing.T, s *testService, concerns func(*http.Request) bool, change func(body string) string) {
	t.Helper()
	target, err := url.Parse(s.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		query := r.Out.URL.Query()
		query.Del(s.ignores)
		r.Out.URL.RawQuery = query.Encode()
	}, ModifyResponse: func(res *http.Response) error {
		if !concerns(res.Request) {
			return nil
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return err
		}
		text := change(string(body))
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
		res.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return nil
	}}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
}

// countsOne makes a list tell of one record in all.
func countsOne(list string) string {
	return regexp.MustCompile(`"(totalDocuments|documentsCount)":\d+`).ReplaceAllString(list, `"$1":1`)
}

// ofDocuments is whether a request lists PDF documents.
func ofDocuments(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/get-documents") && r.URL.Query().Get("documentType") != "PDF_TEMPLATE"
}

// ignoring has the program reach a service that ignores an input of a list.
func ignoring(t *testing.T, s *testService, input string) {
	t.Helper()
	s.ignores = input
	altered(t, s, func(*http.Request) bool { return false }, nil)
}

func TestRemindJudgesEachRecord(t *testing.T) {
	s := newService(t, &signformstest.Options{ReminderLimit: signformstest.ReminderLimit{Requests: 100}})
	ignoring(t, s, "status")
	void := s.AddDocument(signformstest.Document{Name: "Void", Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	_, err := s.Client().Documents.Void(t.Context(), signforms.PDFDocument(void))
	require.NoError(t, err)
	stdout, stderr, code := s.run(t, "documents remind --all-pending --yes")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\treminded\t"), stdout)
	require.Contains(t, stderr, "asked for PENDING documents, the service listed 2 others, which are not reminded: 1 SIGNED, 1 VOID\n")
	for what := range s.mailed("reminder") {
		require.NotContains(t, what, void)
		require.NotContains(t, what, s.old)
	}
}

// What a record does not show is not guessed.
func TestRemindLeavesOutRecordsWithoutAStatus(t *testing.T) {
	s := newService(t, nil)
	altered(t, s, ofDocuments, func(body string) string {
		return strings.Replace(body, `"status":"PENDING",`, "", 1)
	})
	stdout, stderr, code := s.run(t, "documents remind --all-pending --yes")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Equal(t, 2, strings.Count(stdout, "\treminded\t"), stdout)
	require.Contains(t, stderr, "1 document shows no status and is not reminded: NOTICE\n")
	require.Contains(t, stderr, "signforms: 1 without a status\n")
}

func TestRemindNeedsTheWholeList(t *testing.T) {
	s := newService(t, nil)
	total := regexp.MustCompile(`"totalDocuments":\d+`)
	altered(t, s, ofDocuments, func(body string) string { return total.ReplaceAllString(body, `"totalDocuments":9`) })
	for _, args := range []string{"", " --dry-run", " --new-run"} {
		stdout, stderr, code := s.run(t, "documents remind --all-pending --yes"+args)
		require.Equal(t, cli.ExitPartial, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "nothing was sent; --allow-incomplete reminds those that were found\n")
		require.Zero(t, s.reminded())
	}
	stdout, stderr, code := s.run(t, "documents remind --all-pending --yes --allow-incomplete")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\treminded\t"), stdout)
	require.Contains(t, stderr, "the list of documents may lack some (list documents: 200: incomplete list: 2 of 9: ")
	require.Contains(t, stderr, "signforms: the list may lack documents\n")
	_, stderr, code = s.run(t, "documents remind LEASE --allow-incomplete")
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "--allow-incomplete go with --all-pending")
}

// The documents of one template may be an incomplete list, those of the next a whole one.
func TestRemindNeedsWholeListsOfRespondents(t *testing.T) {
	s := newService(t, nil)
	pages := regexp.MustCompile(`"totalPages":\d+`)
	ofRespondents := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/get-template-respondent") }
	altered(t, s, ofRespondents, func(body string) string { return pages.ReplaceAllString(body, `"totalPages":3`) })
	_, stderr, code := s.run(t, "documents remind --all-pending --yes")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Zero(t, s.reminded())
	stdout, stderr, code := s.run(t, "documents remind --all-pending --yes --allow-incomplete")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\treminded\t"), stderr)
	require.Contains(t, stderr, "the list of documents made from template OFFER may lack some (list respondents: 200: incomplete list: 1 of at least 3")
}

// A template's record has its documents too. Those that the service's list of them leaves out are reminded, and what neither shows is named.
func TestRemindHoldsListsAgainstTheTemplate(t *testing.T) {
	ofTemplates := func(r *http.Request) bool { return r.Method == http.MethodGet && !ofDocuments(r) }
	list, own := regexp.MustCompile(`"respondents":\[.*\](,"pagination":\{[^}]*\})?`), regexp.MustCompile(`"templateRespondents":\[.*?\}\]\}\],?`)
	for _, shown := range []bool{true, false} {
		s := newService(t, nil)
		altered(t, s, ofTemplates, func(body string) string {
			if body = list.ReplaceAllString(body, `"respondents":[]`); !shown {
				body = own.ReplaceAllString(body, "")
			}
			return body
		})
		stdout, stderr, code := s.run(t, "documents remind --all-pending --yes")
		require.Equal(t, shown, strings.Contains(stdout, "SENT\treminded\t"), stdout)
		require.Equal(t, shown, strings.Contains(stderr, "template OFFER shows 1 document that is not in the list of its documents\n"), stderr)
		if shown {
			require.Equal(t, cli.ExitOK, code, stderr)
			continue
		}
		require.Equal(t, cli.ExitPartial, code, stderr)
		require.Contains(t, stderr, "template OFFER counts 1 document, of which 1 is not shown and not looked at\n")
		require.Contains(t, stderr, "signforms: the list may lack documents\n")
	}
}

// A list that an error ends may lack records. An error before the first record leaves nothing to remind.
func TestRemindWhenAListEndsEarly(t *testing.T) {
	s := newService(t, nil)
	defer s.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: 400})()
	_, stderr, code := s.run(t, "documents remind --all-pending --yes")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Contains(t, stderr, "nothing was sent; --allow-incomplete reminds those that were found\n")
	require.Zero(t, s.reminded())
	stdout, stderr, code := s.run(t, "documents remind --all-pending --yes --allow-incomplete")
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\treminded\t"), "the template's record shows one: %s", stdout)
	require.Contains(t, stderr, "the list of documents made from template OFFER may lack some (list respondents: 400: ")
	require.Contains(t, stderr, "signforms: the list may lack documents\n")

	defer s.Fail(signformstest.Fault{Operation: signforms.OpListDocuments, Status: 400})()
	for _, args := range []string{"", " --allow-incomplete"} {
		_, stderr, code = s.run(t, "documents remind --all-pending --yes"+args)
		require.Equal(t, cli.ExitFailure, code, stderr)
		require.NotContains(t, stderr, "nothing was sent")
	}
}

// What the limit holds back was not tried: the run does not end, and the same command goes on with the rest.
func TestRemindGoesOnAfterTheLimit(t *testing.T) {
	s := newService(t, nil)
	for range 5 {
		s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}})
	}
	const all = "documents remind --all-pending --yes --max-wait 1s"
	_, stderr, _ := s.run(t, all+" --dry-run")
	require.Contains(t, stderr, "8 documents to be reminded; at most 5 in 15 minutes are accepted, so within --max-wait 5 of 8 would be tried\n")
	_, stderr, _ = s.run(t, "documents remind --all-pending --dry-run --max-wait 16m")
	require.Contains(t, stderr, "at most 5 in 15 minutes are accepted, so this would take 15m")
	stdout, stderr, code := s.run(t, all)
	require.Equal(t, cli.ExitPartial, code, stderr)
	require.Contains(t, stderr, "so within --max-wait 5 of 8 are tried\n")
	require.Regexp(t, `signforms: send reminder: rate limited: the reminder budget is used up: wait, or allow more with --max-wait \(retry after 1[0-9m.s]+\); 3 not tried; the same command again goes on with the rest\n$`, stderr)
	require.Equal(t, 5, strings.Count(stdout, "\treminded\t"), stdout)
	_, stderr, code = s.run(t, all)
	require.Equal(t, cli.ExitFailure, code, stderr)
	require.Contains(t, stderr, "so within --max-wait 0 of 3 are tried\n")
	require.Contains(t, stderr, "; 3 not tried; ")
	s.Advance(time.Hour)
	t.Setenv("SIGNFORMS_LIMIT_STORE", filepath.Join(t.TempDir(), "another.json"))
	stdout, stderr, code = s.run(t, all)
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Equal(t, 3, strings.Count(stdout, "\treminded\t"), stdout)
	for what, n := range s.mailed("reminder") {
		require.Equal(t, 1, n, what)
	}
}

// A run over several windows of the limit reaches everybody: the oldest documents first, those that are made meanwhile after them, and
// what failed last.
func TestRemindReachesEverybody(t *testing.T) {
	for name, field := range map[string]string{"by time": "x", "without times": "createdAt"} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, nil)
			hidden := regexp.MustCompile(`"` + field + `":"[^"]*",?`)
			altered(t, s, func(r *http.Request) bool { return r.Method == http.MethodGet }, func(body string) string { return hidden.ReplaceAllString(body, "") })
			add := func(n int) (ids []string) {
				for range n {
					s.Advance(time.Minute)
					ids = append(ids, s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}}))
				}
				return ids
			}
			want := []string{s.lease, s.sent, s.notice} // the last two were made at one time
			if field == "createdAt" {
				want = []string{s.sent, s.lease, s.notice}
			}
			want = append(want, add(4)...)
			refused := add(6)
			for _, id := range refused {
				s.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, DocumentID: id, Status: 409})
			}
			want = append(want, refused...)
			var tried []string
			for window := range 5 {
				t.Setenv("SIGNFORMS_LIMIT_STORE", filepath.Join(t.TempDir(), "another.json"))
				stdout, stderr, code := execute(t, "documents", "remind", "--all-pending", "--yes", "--max-wait", "1s")
				require.NotEqual(t, cli.ExitOK, code, stderr)
				for _, text := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
					id, _, _ := strings.Cut(text, "\t")
					tried = append(tried, id)
				}
				if window < 2 {
					want = append(want, add(2)...)
				}
				s.Advance(time.Hour)
			}
			require.Equal(t, slices.Concat(want, refused[:3], want[:5]), tried, "what the limit allows beyond the last goes to those that failed; then a new run begins")
		})
	}
}

// cronRuns repeats remind --all-pending every five minutes of the service's clock, as a cron job with --max-wait does, until so many runs
// have ended. It calls each after each command, with the number of runs that have ended. The first command has these args too.
func (s *testService) cronRuns(t *testing.T, runs int, args string, each func(ended int, stderr string, code int)) {
	t.Helper()
	store := signforms.NewMemoryLimitStore(s.Now)
	commands := service.Commands{OpenLimitFile: func(string) signforms.LimitStore { return store }}
	began := len(s.Requests())
	for ended, n := 0, 0; ended < runs; n++ {
		require.Less(t, n, 24*runs, "a run does not end")
		var out, errs strings.Builder
		code := run(t.Context(), commands, strings.Fields("documents remind --all-pending --yes --max-wait 1s "+args), strings.NewReader(""), &out, &errs)
		if !strings.Contains(errs.String(), "goes on with the rest") {
			ended++
		}
		args = ""
		each(ended, errs.String(), code)
		s.Advance(5 * time.Minute)
	}
	var at []time.Time
	for _, r := range s.Requests()[began:] {
		if r.Operation == signforms.OpSendReminder {
			at = append(at, r.At)
		}
	}
	for i := 5; i < len(at); i++ {
		require.Greater(t, at[i].Sub(at[i-5]), 15*time.Minute, "more than 5 in 15 minutes")
	}
}

// tried returns how often a reminder of each document was asked for, and how often it was sent.
func (s *testService) tried() (asked, sent map[string]int) {
	asked, sent = map[string]int{}, map[string]int{}
	id := regexp.MustCompile(`"(?:documentId|responseId)":"([^"]+)"`)
	for _, r := range s.Requests() {
		if r.Operation == signforms.OpSendReminder {
			ids := id.FindAllStringSubmatch(string(r.Body), -1)
			name := ids[len(ids)-1][1]
			if asked[name]++; r.StatusCode == http.StatusOK {
				sent[name]++
			}
		}
	}
	return asked, sent
}

// However many documents the service refuses, each run reminds everybody else exactly once, tries those, and ends.
func TestRunsOfRemindEnd(t *testing.T) {
	s := newService(t, nil)
	refused, good := map[string]bool{}, []string{s.lease, s.sent, s.notice}
	for i := range 14 {
		s.Advance(time.Minute)
		id := s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}})
		if i < 6 || i > 11 { // the oldest and the newest of them
			s.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, DocumentID: id, Status: 409})
			refused[id] = true
		} else {
			good = append(good, id)
		}
	}
	before := 0
	s.cronRuns(t, 5, "", func(ended int, stderr string, code int) {
		asked, sent := s.tried()
		require.LessOrEqual(t, len(sent), len(good))
		for _, id := range good {
			require.LessOrEqual(t, sent[id], before+1, "more than once in a run")
		}
		if ended == before {
			return
		}
		before = ended
		require.Contains(t, []int{cli.ExitPartial, cli.ExitFailure}, code)
		require.Contains(t, stderr, "8 failed; each document was tried, so the same command again begins a new run\n")
		for _, id := range good {
			require.Equal(t, ended, sent[id])
		}
		for id := range refused {
			require.GreaterOrEqual(t, asked[id], ended)
		}
	})
}

// With --new-run everybody is reminded again, also by the commands that go on with the new run.
func TestANewRunOfRemindReachesEverybody(t *testing.T) {
	s := newService(t, nil)
	for range 8 {
		s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}})
	}
	_, stderr, code := s.run(t, "documents remind --all-pending --yes --max-wait 1s")
	require.Equal(t, cli.ExitPartial, code, stderr)
	s.Advance(time.Hour)
	_, before := s.tried()
	require.Len(t, before, 5)
	says := "5 of 11 documents were reminded by a run that has not ended"
	s.cronRuns(t, 1, "--new-run", func(_ int, stderr string, _ int) {
		require.Contains(t, stderr, says)
		says = ""
	})
	_, after := s.tried()
	require.Len(t, after, 11)
	for id, n := range after {
		require.Equal(t, 1, n-before[id])
	}
}

// A dry run says what would be, not what is.
func TestDryRunsSayWould(t *testing.T) {
	s := newService(t, nil)
	s.Advance(time.Minute)
	var more []string
	for range 5 {
		more = append(more, s.AddDocument(signformstest.Document{Name: "More", Signers: []signformstest.Signer{{Name: "Cem", Email: "cem@example.com"}}}))
	}
	dry := func(says string, args ...string) {
		t.Helper()
		_, stderr, code := s.run(t, append([]string{"documents remind --all-pending --dry-run"}, args...)...)
		require.Equal(t, cli.ExitOK, code, stderr)
		require.Contains(t, stderr, says)
		require.NotRegexp(t, `\b(takes|will|ends|begins|going|are left)\b`, stderr)
	}
	dry("8 documents to be reminded; at most 5 in 15 minutes are accepted, so this would take 15m1s\n")
	_, stderr, code := s.run(t, "documents remind --all-pending --yes --max-wait 1s")
	require.Equal(t, cli.ExitPartial, code, stderr)
	dry("5 of 8 documents were reminded by a run that has not ended")
	dry("and would be reminded again\n", "--new-run")
	_, sent := s.tried()
	for _, id := range more {
		if sent[id] == 0 { // the limit held it back
			require.NoError(t, s.Signer(id, "cem@example.com").Sign())
		}
	}
	dry("nothing is left: that run would end here, and the same command again would begin a new one\n")
}

// Where no workspace is named, the API key chooses it: another key has a run of its own.
func TestRunsOfAnotherKey(t *testing.T) {
	s := newService(t, nil)
	t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
	heal := s.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Nth: 2, Times: 1, Status: 403})
	_, stderr, code := s.run(t, "documents remind --all-pending --yes")
	require.Equal(t, cli.ExitPartial, code, stderr)
	heal()
	another, err := s.AddAPIKey()
	require.NoError(t, err)
	for key, says := range map[string]string{another: "3 documents to be reminded", s.APIKey: "1 of 3 documents were reminded by a run that has not ended"} {
		t.Setenv("SIGNFORMS_API_KEY", key)
		_, stderr, _ = s.run(t, "documents remind --all-pending --dry-run")
		require.Contains(t, stderr, says)
	}
}
