package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Commands that read or wait say that they were interrupted, in one word and with an exit code of its own.
func TestInterruptedCommandsSaySo(t *testing.T) {
	s := newService(t, nil)
	results := filepath.Join(t.TempDir(), "results.csv")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"documents wait LEASE", "documents list", "documents get LEASE", "whoami", "documents remind --all-pending --results " + results,
		"ready --wait 20s --url http://127.0.0.1:1"} {
		var out, errs strings.Builder
		code := run(ctx, hasty, s.ids(args), strings.NewReader(""), &out, &errs)
		require.Equal(t, cli.ExitInterrupted, code, "%s: %s", args, errs.String())
		require.Equal(t, "signforms: interrupted\n", errs.String(), args)
		require.Empty(t, out.String(), args)
	}
}

// A batch that is interrupted before it did anything ends as other commands do, and one that did a part says so.
func TestInterruptedBatches(t *testing.T) {
	for done, code := range []int{cli.ExitInterrupted, cli.ExitPartial} {
		s := newService(t, nil)
		args, _ := pendingOf(t)
		ctx, cancel := context.WithCancel(t.Context())
		after := []string{"3 of 3 reminders to be sent", "\tsent\t"}[done]
		out, errs := interrupting{cancel: cancel, after: after}, interrupting{cancel: cancel, after: after}
		require.Equal(t, code, run(ctx, hasty, s.ids(args), strings.NewReader(""), &out, &errs), errs.String())
		require.Contains(t, errs.String(), fmt.Sprintf("signforms: %d sent; 0 failed; 0 unknown; %d not tried; interrupted; ", done, 3-done))
		require.Equal(t, done, strings.Count(out.String(), "\tsent\t"), out.String())
	}
	s := newService(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	out, errs := interrupting{cancel: cancel, after: "\tvoided\t"}, strings.Builder{}
	require.Equal(t, cli.ExitInterrupted, run(ctx, hasty, s.ids("documents void LEASE NOTICE --yes"), strings.NewReader(""), &out, &errs))
	require.Equal(t, "signforms: interrupted\n", errs.String())
	require.Equal(t, 1, strings.Count(out.String(), "\tvoided\t"), out.String())
}

// interrupting is an output that cancels after this text.
type interrupting struct {
	strings.Builder
	after  string
	cancel func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.after)) {
		w.cancel()
	}
	return w.Builder.Write(p)
}

// A list is printed while its pages arrive. One that is interrupted has whole lines in its format, and says on stderr that it
// ends early.
func TestInterruptedLists(t *testing.T) {
	newService(t, nil)
	for _, format := range []string{"", "--json", "--csv"} {
		ctx, cancel := context.WithCancel(t.Context())
		var out syncBuffer
		early := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if page, _ := strconv.Atoi(r.URL.Query().Get("page")); page > 2 {
				early = strings.Count(out.String(), "PENDING")
				cancel()
				<-r.Context().Done()
				return
			}
			var docs []string
			for i := range 100 {
				docs = append(docs, fmt.Sprintf(`{"documentId":"%s%06x-0000-4000-8000-000000000000","documentName":"a\nb","status":"PENDING"}`, "0"+r.URL.Query().Get("page"), i))
			}
			fmt.Fprintf(w, `{"documents":[%s],"pagination":{"totalPages":9,"totalDocuments":900}}`, strings.Join(docs, ","))
		}))
		t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
		var errs strings.Builder
		code := run(ctx, hasty, strings.Fields("documents list "+format), strings.NewReader(""), &out, &errs)
		srv.Close()
		require.Equal(t, cli.ExitInterrupted, code, errs.String())
		require.Greater(t, early, 80, "%s: the first page is printed before the third is asked for", format)
		found := regexp.MustCompile(`^signforms: interrupted; this list ends early, after (\d+) records\n$`).FindStringSubmatch(errs.String())
		require.NotNil(t, found, errs.String())
		printed, err := strconv.Atoi(found[1])
		require.NoError(t, err)
		require.Positive(t, printed)
		if format == "--json" {
			for line := range strings.Lines(out.String()) {
				require.True(t, json.Valid([]byte(line)), line)
				printed--
			}
			require.Zero(t, printed)
			continue
		}
		r := csv.NewReader(strings.NewReader(out.String()))
		if format == "" {
			r.Comma = '\t'
		}
		rows, err := r.ReadAll() // refuses rows of other lengths
		require.NoError(t, err)
		require.Len(t, rows, printed+1)
		require.True(t, strings.HasSuffix(out.String(), "\n"))
	}
}

// Two signals at once, as coreutils' timeout sends them, are one.
func TestSignalsAtOnceAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var stopped time.Time
		secondEnds(ctx, func() { stopped = time.Now() })
		began := time.Now()
		cancel()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, sameSignal, stopped.Sub(began))
	})
}

// Errors have the words of the command line.
func TestErrorsHaveTheWordsOfTheCommandLine(t *testing.T) {
	newService(t, nil)
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer srv.Close()
	defer close(release)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
	const id = "00000000-0000-4000-8000-000000000001"
	for _, args := range [][]string{{"list"}, {"get", id}} {
		_, stderr, _ := execute(t, append([]string{"documents", "--max-attempts", "1", "--attempt-timeout", "10ms"}, args...)...)
		require.Contains(t, stderr, "no complete response within --attempt-timeout, 10ms")
	}
}

func TestCompletionsOfValues(t *testing.T) {
	newService(t, nil)
	file := filepath.Join(t.TempDir(), "accounts.json")
	accounts(t, file, `"main":{"baseURL":"http://a","apiKey":{"variable":"X"}}`, `"test":{"baseURL":"http://a","apiKey":{"variable":"X"}}`)
	stdout, _, _ := execute(t, "__complete", "documents", "wait", "--for", "")
	require.Contains(t, stdout, "signed\n")
	stdout, _, _ = execute(t, "__complete", "documents", "list", "--settings", file, "--account", "")
	require.True(t, strings.HasPrefix(stdout, "main\ntest\n"), stdout)
}
