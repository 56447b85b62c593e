package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service/probe"
)

// Probe asks with a few GET requests, and says what came without names, addresses and keys.
func TestProbe(t *testing.T) {
	s := newService(t, nil)
	file := filepath.Join(t.TempDir(), "probe.md")
	stdout, stderr, code := s.run(t, "probe --form SURVEY --report "+file)
	require.Equal(t, cli.ExitOK, code, stderr)
	report, err := os.ReadFile(file)
	require.NoError(t, err)
	asked := s.asked()
	require.LessOrEqual(t, len(asked), probe.MostGets)
	for _, request := range asked {
		require.True(t, strings.HasPrefix(request, "GET "), request)
	}
	for _, text := range []string{stdout, string(report)} {
		require.NotRegexp(t, `(?i)\bann\b|ben@|cem|lease|notice|survey|offer|author@`, text)
		require.NotContains(t, text, s.APIKey)
		require.NotContains(t, text, s.WorkspaceID)
		require.NotContains(t, text, s.URL)
		for _, id := range []string{s.lease, s.notice, s.offer, s.survey, s.sent} {
			require.NotContains(t, text, id)
		}
	}
	for _, line := range []string{
		"page size\n  assumed  without a limit a page has 10 records\n  asked    GET /get-documents?documentType=PDF\n" +
			"  came     200 OK, 3 records in documents; documentId UUID, UUID, UUID\n           the SDK reads it\n",
		"2 records in documents; beside: documentsCount 3, formCount 1, message text 1, pagination.currentPage 1, " +
			"pagination.totalDocuments 3",
		"2 records in documents; status PENDING ×2\n", "1 record in documents; status SIGNED\n",
		"limit=1, without a key\n  came     403 Forbidden; beside: code forbidden, message text ",
		"limit=1, with a wrong key\n", "the SDK's error: ErrForbidden\n", "documentId a UUID; createdAt " +
			"9999-99-99T99:99:99.999Z",
		"1 record in respondents", "1 record in responses",
	} {
		require.Contains(t, stdout, line)
	}
	require.Equal(t, 14, strings.Count(string(report), "\n## "))
	require.Contains(t, string(report), "```json\n{\n")
}

// Whatever a service answers, probe says only what came, and nothing of whose it is.
func TestProbeOfOtherServices(t *testing.T) {
	const secret = "Zoe Smith"
	for name, c := range map[string]struct {
		status int
		body   string
		says   []string
		code   int
	}{
		"not JSON":      {200, "<html>" + secret + "</html>", []string{"200 OK, 22 bytes of text/html that are not JSON\n           the SDK's error: ErrBadResponse, a gateway or proxy responded, not the service"}, 0},
		"empty":         {204, "", []string{"204 No Content, no body"}, 0},
		"a list alone":  {200, `[{"documentId":7,"status":"` + secret + `","owner":"` + secret + `"},{}]`, []string{"2 records in the answer itself; status text 1, none in 1 record"}, 0},
		"another field": {200, `{"` + secret + `":[],"total":57,"weight":57,"ok":true}`, []string{"0 records in field 1; beside: field 2 (number 1), field 3 (boolean), total 57\n"}, 0},
		"names": {200, `{"documents":[{"documentId":"` + secret + `","createdAt":"` + secret + `","documentName":"` + secret + `"}]}`, []string{"documentId text 1", "documentId a text of 9 characters; createdAt a text of 9 characters; updatedAt none in 1 record\n",
			"note     the SDK sent nothing: the template's id must be a UUID such as 0d8e3a4c"}, 0},
		"other kinds": {200, `{"zoe":[{"documentId":12,"createdAt":true,"updatedAt":{"a":1}}],"adam":[{"documentId":"` + secret + `"}]}`, []string{"1 record in field 1",
			"documentId the number 99; createdAt a boolean; updatedAt an object or a list\n"}, 0},
		"an object": {200, `{"documents":{"documentId":"a","history":[{},{}]}}`, []string{"1 record in documents, which is an object; "}, 0},
		"an order": {200, `{"documents":[{"documentId":"a"},{"documentId":"b"},{"documentId":"b"},{"documentId":"a"}],"next":null}`,
			[]string{"documentId text 1, text 2 ×2, text 1", "next null"}, 0},
		"numbers":          {200, `{"documents":[{"documentId":71},{"documentId":72},{"documentId":72}]}`, []string{"documentId (number 1), (number 2) ×2"}, 0},
		"errors in a list": {400, `{"errors":[{"documentId":"a"}]}`, []string{"400 Bad Request\n"}, 0},
		"cut off":          {200, `{"documents":[`, []string{"200 OK, cut off after 14 bytes"}, 0},
		"too many":         {429, `{"message":"` + secret + `"}`, []string{"429 Too Many Requests"}, cli.ExitPartial},
		"an error":         {500, secret, []string{"500 Internal Server Error, 9 bytes of text/plain that are not JSON\n           the SDK's error: ErrUnavailable\n"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			newService(t, nil)
			gets := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				gets++
				if name == "cut off" {
					w.Header().Set("Content-Length", "100")
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer srv.Close()
			file := filepath.Join(t.TempDir(), "probe.md")
			stdout, stderr, code := execute(t, "probe", "--base-url", srv.URL, "--report", file)
			require.Equal(t, c.code, code, stderr)
			report, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, says := range c.says {
				require.Contains(t, stdout, says)
			}
			for _, word := range strings.Fields(secret) {
				require.NotContains(t, stdout+stderr+string(report), word)
			}
			require.LessOrEqual(t, gets, probe.MostGets)
			if c.status == 429 {
				require.Equal(t, 1, gets)
				require.Contains(t, stderr, "ended early, after 1 of 14 questions: the service answered that there were too many requests")
				require.Contains(t, string(report), "**The run ended early, after 1 of 14 questions.**")
			}
		})
	}
}

func TestProbeOfWhatIsNotThere(t *testing.T) {
	newService(t, nil)
	stdout, stderr, code := execute(t, "probe", "--base-url", "http://127.0.0.1:1")
	require.NotEqual(t, cli.ExitOK, code)
	require.Contains(t, stdout, "came     no answer\n")
	require.Contains(t, stderr, "connection refused")
	_, stderr, code = execute(t, "probe", "--report", filepath.Join(t.TempDir(), "none", "x"))
	require.Equal(t, cli.ExitUsage, code)
	require.Contains(t, stderr, "--report: ")
	stdout, _, code = execute(t, "probe", "--endpoint", "list documents=POST")
	require.Equal(t, cli.ExitOK, code)
	require.Contains(t, stdout, "note     probe sends GET requests alone")
}

// Requests are a second apart.
func TestProbeIsPaced(t *testing.T) {
	s := newService(t, nil)
	var waits []time.Duration
	paced := replaced{sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}
	var out, errs strings.Builder
	require.Equal(t, cli.ExitOK, run(t.Context(), paced, []string{"probe"}, strings.NewReader(""), &out, &errs), errs.String())
	require.Len(t, waits, len(s.asked())-1)
	for _, d := range waits {
		require.Greater(t, d, time.Duration(0))
		require.LessOrEqual(t, d, time.Second)
	}
}
