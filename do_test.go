package signforms_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

func TestDo_request(t *testing.T) {
	rec := &clienttest.Recorder{Answer: `{"name":"Lease","pages":3}`}
	var attempts []signforms.Attempt
	c := clienttest.Scripted(t, rec, func(o *signforms.Options) {
		o.OnAttempt = func(_ context.Context, a signforms.Attempt) { attempts = append(attempts, a) }
	})
	var out struct {
		Name  string
		Pages int
	}
	raw, err := c.Do(t.Context(), signforms.Request{
		Method: "PATCH", Path: "/folders/a%2Fb", Query: url.Values{"deep": {"1", "2"}}, Body: map[string]any{"title": "<Ann>"},
	}, &out)
	require.NoError(t, err)
	require.Equal(t, "Lease", out.Name)
	require.Equal(t, 3, out.Pages)
	require.Equal(t, rec.Answer, string(raw))
	require.Len(t, rec.Sent, 1)
	got := rec.Sent[0]
	require.Equal(t, "PATCH https://api.example.com/base/folders/a%2Fb?deep=1&deep=2", got.Method+" "+got.URL.String())
	require.JSONEq(t, `{"title":"<Ann>"}`, string(got.Content))
	require.Equal(t, clienttest.APIKey, got.Header.Get("X-Api-Key"))
	require.Equal(t, clienttest.WorkspaceID, got.Header.Get("Workspaceid"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "signforms-go/devel", got.Header.Get("User-Agent"))
	require.Len(t, attempts, 1)
	require.Equal(t, signforms.Operation("request"), attempts[0].Operation)
	require.Equal(t, got.Header.Get("X-Request-Id"), attempts[0].RequestID)

	_, err = c.Do(t.Context(), signforms.Request{Path: "/folders"}, nil)
	require.NoError(t, err)
	require.Equal(t, "GET https://api.example.com/base/folders", rec.Sent[1].Method+" "+rec.Sent[1].URL.String())
	require.Empty(t, rec.Sent[1].Header.Get("Content-Type"))
}

func TestDo_retriesGetOnly(t *testing.T) {
	for _, want := range []struct {
		method   string
		attempts int
		kind     error
	}{
		{method: "", attempts: 4, kind: signforms.ErrUnavailable},
		{method: "GET", attempts: 4, kind: signforms.ErrUnavailable},
		{method: "POST", attempts: 1, kind: signforms.ErrOutcomeUnknown},
		{method: "PUT", attempts: 1, kind: signforms.ErrOutcomeUnknown},
		{method: "PATCH", attempts: 1, kind: signforms.ErrOutcomeUnknown},
		{method: "DELETE", attempts: 1, kind: signforms.ErrOutcomeUnknown},
	} {
		t.Run(want.method, func(t *testing.T) {
			_, err := clienttest.Scripted(t, clienttest.Answers(503, "down")).Do(t.Context(), signforms.Request{Method: want.method, Path: "/folders"}, nil)
			clienttest.RequireMatches(t, err, want.kind)
			require.Equal(t, want.attempts, clienttest.AsError(t, err).Attempts)
			require.Equal(t, signforms.Operation("request"), clienttest.AsError(t, err).Operation)
			_, err = clienttest.Scripted(t, clienttest.Answers(404, `{"message":"No such folder"}`)).Do(t.Context(), signforms.Request{Method: want.method, Path: "/folders"}, nil)
			clienttest.RequireMatches(t, err, signforms.ErrNotFound)
			require.EqualError(t, err, "request: 404: No such folder (check the ids, the base URL and the endpoint)")
		})
	}
}

func TestDo_response(t *testing.T) {
	get, post := signforms.Request{Path: "/x"}, signforms.Request{Method: "POST", Path: "/x"}
	for _, body := range []string{"", " \n"} {
		t.Run(body, func(t *testing.T) {
			out := 7
			_, err := clienttest.Scripted(t, clienttest.Answers(200, body)).Do(t.Context(), post, &out)
			require.NoError(t, err, "an empty answer is a success")
			require.Equal(t, 7, out)
		})
	}
	raw, err := clienttest.Scripted(t, clienttest.Answers(200, "<html>")).Do(t.Context(), get, nil)
	require.NoError(t, err)
	require.Equal(t, "<html>", string(raw))
	var list []string
	_, err = clienttest.Scripted(t, clienttest.Answers(200, `["a","b"]`)).Do(t.Context(), get, &list)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, list)
	_, err = clienttest.Scripted(t, clienttest.Answers(200, `{}`)).Do(t.Context(), get, &list)
	clienttest.RequireMatches(t, err, signforms.ErrBadResponse)
	_, err = clienttest.Scripted(t, clienttest.Answers(200, `{}`)).Do(t.Context(), post, &list)
	clienttest.RequireMatches(t, err, signforms.ErrOutcomeUnknown)
}

func TestDo_invalidRequest(t *testing.T) {
	c := clienttest.Scripted(t, clienttest.Silent(t))
	var nowhere *int
	for _, r := range []struct {
		name    string
		request signforms.Request
		out     any
		field   string
	}{
		{name: "method", request: signforms.Request{Method: "HEAD", Path: "/x"}, field: "Method"},
		{name: "method in lower case", request: signforms.Request{Method: "get", Path: "/x"}, field: "Method"},
		{name: "no path", request: signforms.Request{}, field: "Path"},
		{name: "path without a slash", request: signforms.Request{Path: "x"}, field: "Path"},
		{name: "another host", request: signforms.Request{Path: "https://evil.example.com/x"}, field: "Path"},
		{name: "user info", request: signforms.Request{Path: "@evil.example.com/x"}, field: "Path"},
		{name: "query in the path", request: signforms.Request{Path: "/x?y=z"}, field: "Path"},
		{name: "fragment", request: signforms.Request{Path: "/x#y"}, field: "Path"},
		{name: "blank", request: signforms.Request{Path: "/x y"}, field: "Path"},
		{name: "line break", request: signforms.Request{Path: "/x\r\nX-Evil: 1"}, field: "Path"},
		{name: "backslash", request: signforms.Request{Path: `/x\y`}, field: "Path"},
		{name: "step up", request: signforms.Request{Path: "/x/../../y"}, field: "Path"},
		{name: "escaped step up", request: signforms.Request{Path: "/x/%2e%2E/y"}, field: "Path"},
		{name: "not escaped", request: signforms.Request{Path: "/{x}"}, field: "Path"},
		{name: "half an escape", request: signforms.Request{Path: "/x%2"}, field: "Path"},
		{name: "body of a GET", request: signforms.Request{Path: "/x", Body: 1}, field: "Body"},
		{name: "body that is no JSON", request: signforms.Request{Method: "POST", Path: "/x", Body: func() {}}, field: "Body"},
		{name: "out by value", request: signforms.Request{Path: "/x"}, out: 1, field: "out"},
		{name: "nil pointer", request: signforms.Request{Path: "/x"}, out: nowhere, field: "out"},
	} {
		t.Run(r.name, func(t *testing.T) {
			_, err := c.Do(t.Context(), r.request, r.out)
			clienttest.RequireMatches(t, err, signforms.ErrInvalid)
			e := clienttest.AsError(t, err)
			require.Zero(t, e.Attempts)
			require.Len(t, e.Fields, 1)
			require.Equal(t, r.field, e.Fields[0].Field)
		})
	}
}

// TestDo_refusesReminderPath: a reminder needs a slot of the budget.
func TestDo_refusesReminderPath(t *testing.T) {
	overridden := signforms.Endpoint{Path: "/documents/{documentId}/Remind"}
	for _, c := range []struct {
		endpoint signforms.Endpoint
		path     string
		refused  bool
	}{
		{endpoint: signforms.Endpoint{}, path: "/send-reminder", refused: true},
		{endpoint: signforms.Endpoint{}, path: "/send-reminders"},
		{endpoint: signforms.Endpoint{}, path: "/send-reminder/settings"},
		{endpoint: overridden, path: "/documents/" + clienttest.PDFID + "/Remind", refused: true},
		{endpoint: overridden, path: "/documents/a%2Fb/Remind", refused: true},
		{endpoint: overridden, path: "/documents/" + clienttest.PDFID},
		{endpoint: overridden, path: "/documents/" + clienttest.PDFID + "/remind/again"},
		{endpoint: overridden, path: "/send-reminder"},
	} {
		t.Run(c.path, func(t *testing.T) {
			for _, method := range []string{"GET", "POST"} {
				t.Run(method, func(t *testing.T) {
					client := clienttest.Scripted(t, clienttest.Answers(200, `{}`), func(o *signforms.Options) {
						o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpRemind: c.endpoint}
					})
					_, err := client.Do(t.Context(), signforms.Request{Method: method, Path: c.path}, nil)
					if !c.refused {
						require.NoError(t, err)
						return
					}
					clienttest.RequireMatches(t, err, signforms.ErrInvalid)
					require.ErrorContains(t, err, "use Documents.Remind")
				})
			}
		})
	}
}
