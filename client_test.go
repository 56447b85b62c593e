package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// unhashable is a LimitStore that cannot be the key of a map.
type unhashable struct {
	*signforms.MemoryLimitStore
	_ []int
}

func TestNew_invalidOptions(t *testing.T) {
	c, err := signforms.New("ftp://user:base-secret@api.example.com/?token=base-secret", " key-secret\n", &signforms.Options{
		WorkspaceID: "a\x00b", UserAgent: " x", AttemptTimeout: -1, MaxAttempts: -1, RetryWaitMin: 2, RetryWaitMax: 1,
		LimitStore: unhashable{MemoryLimitStore: signforms.NewMemoryLimitStore(nil)},
		Endpoints: map[signforms.Operation]signforms.Endpoint{
			signforms.OpSend: {Path: "send"}, "sign": {},
			signforms.OpVoidDocument: {Method: "VOID", Path: "{id}/{name}/void", Inputs: "path"},
		},
	})
	require.Nil(t, c)
	var wrong []string
	refused, ok := errors.AsType[*signforms.Error](err)
	require.True(t, ok)
	for _, f := range refused.Fields {
		wrong = append(wrong, f.String())
	}
	require.Equal(t, []string{
		"baseURL must begin with http:// or https:// and a host, such as https://api.example.com",
		"apiKey must be printable and without blanks at its ends",
		`Options.Endpoints["send"] cannot be used: Path "send" must begin with a slash and hold no query, fragment or blank`,
		`Options.Endpoints holds "sign", which is not an operation: use one of the Op constants`,
		`Options.Endpoints["void document"] cannot be used: Method "VOID" is not one of GET, POST, PUT, PATCH, DELETE`,
		`Options.Endpoints["void document"] cannot be used: Inputs "path" is not query, body or both`,
		`Options.Endpoints["void document"] cannot be used: Path holds {id}, which is not an input; it may hold documentId, documentType, responseId`,
		`Options.Endpoints["void document"] cannot be used: Path holds {name}, which is not an input; it may hold documentId, documentType, responseId`,
		`Options.Endpoints["void document"] cannot be used: Path "{id}/{name}/void" must begin with a slash and hold no query, fragment or blank`,
		"Options.WorkspaceID must be printable and without blanks at its ends",
		"Options.UserAgent must be printable and without blanks at its ends",
		"Options.AttemptTimeout must be from 0 (which means 30 s) to 24 h",
		"Options.MaxAttempts must be 1 or more (0 means 4)",
		"Options.RetryWaitMin must not be negative, nor above RetryWaitMax",
		"Options.LimitStore signforms_test.unhashable is not comparable: use a pointer",
	}, wrong)
	require.NotContains(t, err.Error(), "secret")

	for _, d := range []time.Duration{24*time.Hour + 1, math.MaxInt64} {
		t.Run(fmt.Sprint(d), func(t *testing.T) {
			_, err = signforms.New("https://api.example.com", clienttest.APIKey, &signforms.Options{AttemptTimeout: d})
			require.EqualError(t, err, "new client: invalid input: Options.AttemptTimeout must be from 0 (which means 30 s) to 24 h",
				"the time that a slot is held would overflow, and the slot be free at once")
		})
	}
	_, err = signforms.New("https://api.example.com", clienttest.APIKey, &signforms.Options{RetryWaitMax: -1})
	require.EqualError(t, err, "new client: invalid input: Options.RetryWaitMax must not be negative")
	_, err = signforms.New("https://api.example.com", clienttest.APIKey, &signforms.Options{RetryWaitMin: -1})
	require.EqualError(t, err, "new client: invalid input: Options.RetryWaitMin must not be negative, nor above RetryWaitMax")

	for _, key := range []string{"key\u200b", "key\ufeff", "two\u00a0words"} { // as they come from a page's clipboard
		t.Run(key, func(t *testing.T) {
			_, err = signforms.New("https://api.example.com", key, nil)
			require.EqualError(t, err, "new client: invalid input: apiKey must be printable and without blanks at its ends")
		})
	}
	_, err = signforms.New("https://api.example.com", "", nil)
	require.EqualError(t, err, "new client: invalid input: apiKey must not be empty")
}

func TestNew_baseURL(t *testing.T) {
	const absolute, parsed, bare = "must begin with http:// or https:// and a host", "cannot be parsed", "must have no user, query or fragment"
	const host, path, port = "must have a host of ASCII letters", "must have a path without escapes", "must have a port from 1"
	for _, row := range []struct{ in, want string }{
		{in: "", want: absolute}, {in: "api.example.com", want: absolute}, {in: "//api.example.com", want: absolute}, {in: "/v1", want: absolute},
		{in: "mailto:a@b.c", want: absolute},
		{in: "https://", want: absolute}, {in: "https://:8443", want: absolute}, {in: "HTTPS:api.example.com", want: absolute}, {in: "ws://x", want: absolute},
		{in: "https://a b/", want: parsed}, {in: "https://[::1", want: parsed}, {in: "https://x/%zz", want: parsed}, {in: "https://x\n", want: parsed},
		{in: "http://x:port", want: parsed},
		{in: "https://me@x", want: bare}, {in: "https://x?", want: bare}, {in: "https://x?a=b", want: bare}, {in: "https://x#y", want: bare},
		{in: "https://x#", want: bare},
		{in: "https://x:0", want: port}, {in: "https://x:65536", want: port}, {in: "https://x:99999999999999999999", want: port},
		{in: "https://bücher.example/", want: host}, {in: "https://b%C3%BCcher.example", want: host}, {in: "https://a..b", want: host},
		{in: "https://.", want: host}, {in: "https://x..", want: host},
		{in: "https://[FE80::1%25eth0]", want: host},
		{in: "https://x/a//b", want: path}, {in: "https://x//a", want: path}, {in: "https://x/a/../b", want: path}, {in: "https://x/./b", want: path},
		{in: "https://x/a/%2e%2E/b", want: path},
		{in: "https://x/a/..", want: path}, {in: "https://x/%61", want: path}, {in: "https://x/a%2fb", want: path}, {in: "https://x/ü", want: path},
		{in: "https://x/a b", want: path},
	} {
		t.Run(row.in, func(t *testing.T) {
			_, err := signforms.New(row.in, clienttest.APIKey, nil)
			require.ErrorContains(t, err, row.want)
		})
	}
	for _, row := range []struct{ in, want string }{
		{in: "https://x", want: "https://x"}, {in: "http://host/a/B/", want: "http://host/a/B"}, {in: "https://[::1]:8443", want: "https://[::1]:8443"},
		{in: "https://x//", want: "https://x"},
		{in: "https://xn--bcher-kva.example/", want: "https://xn--bcher-kva.example"}, {in: "http://127.0.0.1:443", want: "http://127.0.0.1:443"},
		{in: "https://my_host:8080/api/v1.2/~me", want: "https://my_host:8080/api/v1.2/~me"},
		{in: "HTTPS://API.Example.COM:443/V1", want: "https://api.example.com/V1"}, {in: "http://x:80", want: "http://x"}, {in: "https://x:0443", want: "https://x"},
		{in: "https://x:", want: "https://x"},
		{in: "https://x.", want: "https://x."}, {in: "https://x.:443/v1", want: "https://x./v1"}, {in: "https://[0:0:0:0:0:0:0:1]", want: "https://[::1]"},
		{in: "https://[FE80::1]", want: "https://[fe80::1]"},
	} {
		t.Run(row.in, func(t *testing.T) {
			rec := &clienttest.Recorder{Answer: clienttest.AnyAnswer}
			client, err := signforms.New(row.in, clienttest.APIKey, &signforms.Options{Transport: rec})
			require.NoError(t, err)
			require.Equal(t, row.want, client.BaseURL())
			require.NoError(t, clienttest.Second(client.Documents.List(t.Context(), signforms.DocumentListParams{})))
			got := rec.Sent[0].URL
			got.RawQuery = ""
			require.Equal(t, row.want+"/get-documents", got.String())
		})
	}
}

// TestNew_keepsConnections: a Transport is used as it is, without cookies, and its idle connections stay open.
func TestNew_keepsConnections(t *testing.T) {
	connections := map[string]bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		connections[r.RemoteAddr] = true
		if r.Header.Get("Cookie") != "" {
			t.Error("a cookie came")
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		w.WriteHeader(503) // makes the client retry, give up and clean up
	}))
	defer srv.Close()
	o := clienttest.Options(nil)
	o.Transport = srv.Client().Transport
	c, err := signforms.New(srv.URL, clienttest.APIKey, o)
	require.NoError(t, err)
	o.MaxAttempts, o.Transport = 1, nil // changing Options after New changes nothing
	for range 3 {
		err := clienttest.Second(c.Documents.List(t.Context(), signforms.DocumentListParams{}))
		require.Equal(t, 503, clienttest.AsError(t, err).StatusCode)
		require.Equal(t, 4, clienttest.AsError(t, err).Attempts)
	}
	require.Len(t, connections, 1, "twelve requests went through one connection")
}

func TestOptions_OnAttempt(t *testing.T) {
	type key struct{}
	var got []signforms.Attempt
	statuses := []int{503, 0, 200}
	c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		status := statuses[0]
		statuses = statuses[1:]
		if status == 0 {
			return nil, http.ErrHandlerTimeout
		}
		return clienttest.Reply(req, status, clienttest.AnyAnswer), nil
	}), func(o *signforms.Options) {
		o.OnAttempt = func(ctx context.Context, a signforms.Attempt) {
			require.Equal(t, "value", ctx.Value(key{}), "the call's own context")
			got = append(got, a)
		}
	})
	require.NoError(t, clienttest.CallOf(t, "Documents.Void").Do(context.WithValue(t.Context(), key{}, "value"), c))
	require.Len(t, got, 3)
	for i, a := range got {
		require.Equal(t, signforms.OpVoidDocument, a.Operation)
		require.Equal(t, i+1, a.Number)
		require.Equal(t, got[0].RequestID, a.RequestID)
		require.Zero(t, a.SlotWait)
		require.Positive(t, a.Duration)
	}
	require.Equal(t, []int{503, 0, 200}, []int{got[0].StatusCode, got[1].StatusCode, got[2].StatusCode})
	require.NoError(t, got[0].Err, "a complete answer")
	require.ErrorIs(t, got[1].Err, http.ErrHandlerTimeout)
	require.NoError(t, got[2].Err)
}

func TestOptions_OnCall(t *testing.T) {
	type key struct{}
	var seen []string
	service := signformstest.NewServer(t, nil)
	options := service.ClientOptions()
	options.OnCall = func(ctx context.Context, op signforms.Operation) (context.Context, func(error)) {
		return context.WithValue(ctx, key{}, "from OnCall"), func(err error) {
			seen = append(seen, fmt.Sprintf("%s: refused %t", op, errors.Is(err, signforms.ErrNotFound)))
		}
	}
	options.OnAttempt = func(ctx context.Context, a signforms.Attempt) {
		seen = append(seen, fmt.Sprintf("attempt %d %v", a.Number, ctx.Value(key{})))
	}
	client, err := signforms.New(service.URL, service.APIKey, options)
	require.NoError(t, err)
	_, err = client.Documents.List(t.Context(), signforms.DocumentListParams{})
	require.NoError(t, err)
	_, err = client.Documents.Void(t.Context(), signforms.PDFDocument("00000000-0000-4000-8000-000000000000"))
	require.ErrorIs(t, err, signforms.ErrNotFound)
	_, err = client.Do(t.Context(), signforms.Request{Path: "/no-such-path"}, nil)
	require.ErrorIs(t, err, signforms.ErrNotFound)
	require.Equal(t, []string{
		"attempt 1 from OnCall", "list documents: refused false",
		"attempt 1 from OnCall", "void document: refused true",
		"attempt 1 from OnCall", "request: refused true",
	}, seen)
}

// TestOptions_OnCall_panic: a server that recovers from one must not report the call as a success.
func TestOptions_OnCall_panic(t *testing.T) {
	var ends []error
	c, err := signforms.New("https://service.invalid", clienttest.APIKey, &signforms.Options{
		Transport: clienttest.Transport(func(*http.Request) (*http.Response, error) { panic("broken") }),
		OnCall: func(ctx context.Context, _ signforms.Operation) (context.Context, func(error)) {
			return ctx, func(err error) { ends = append(ends, err) }
		},
	})
	require.NoError(t, err)
	require.PanicsWithValue(t, "broken", func() { _, _ = c.Documents.List(t.Context(), signforms.DocumentListParams{}) })
	require.PanicsWithValue(t, "broken", func() { _, _ = c.Do(t.Context(), signforms.Request{Path: "/"}, nil) })
	require.Len(t, ends, 2)
	require.ErrorContains(t, ends[0], "panicked")
	require.ErrorContains(t, ends[1], "panicked")
}

// TestNew_defaultTransport: a program that replaces http.DefaultTransport after New, as httpmock.Activate does, has it used.
func TestNew_defaultTransport(t *testing.T) {
	c, err := signforms.New("https://service.invalid", clienttest.APIKey, &signforms.Options{MaxAttempts: 1})
	require.NoError(t, err)
	before := http.DefaultTransport
	http.DefaultTransport = clienttest.Answers(200, `{"message":"Voided"}`)
	err = clienttest.CallOf(t, "Documents.Void").Do(t.Context(), c)
	http.DefaultTransport = before
	require.NoError(t, err)
}

// TestOptions_OnAttempt_panic reaches the goroutine that made the call, in All too, where a page may be fetched in another.
func TestOptions_OnAttempt_panic(t *testing.T) {
	for _, page := range []int{1, 2} {
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			attempts := 0
			c := clienttest.Scripted(t, numberedPages(), func(o *signforms.Options) {
				o.OnAttempt = func(context.Context, signforms.Attempt) {
					if attempts++; attempts == page {
						panic("in the hook")
					}
				}
			})
			seen := 0
			require.PanicsWithValue(t, "in the hook", func() {
				for range c.Documents.All(t.Context(), signforms.DocumentListParams{}) {
					seen++
				}
			})
			require.Equal(t, 100*(page-1), seen)
		})
	}
	c := clienttest.Scripted(t, numberedPages(), func(o *signforms.Options) {
		o.OnAttempt = func(context.Context, signforms.Attempt) { panic("in the hook") }
	})
	require.PanicsWithValue(t, "in the hook", func() { c.Documents.List(t.Context(), signforms.DocumentListParams{}) })
}

// numberedPages answers with two pages of 100 documents.
func numberedPages() clienttest.Transport {
	return func(req *http.Request) (*http.Response, error) {
		page := max(req.URL.Query().Get("page"), "1")
		documents := make([]string, 100)
		for i := range documents {
			documents[i] = fmt.Sprintf(`{"documentId":"%s-%d"}`, page, i)
		}
		return clienttest.Reply(req, 200, fmt.Sprintf(`{"documents":[%s],"pagination":{"currentPage":%s,"totalPages":2,"totalDocuments":200}}`,
			strings.Join(documents, ","), page)), nil
	}
}

// TestNew_nilLimitStore, which would panic at the first reminder.
func TestNew_nilLimitStore(t *testing.T) {
	var none *signforms.MemoryLimitStore
	for _, row := range []struct {
		want  string
		store signforms.LimitStore
	}{
		{want: "LimitStore is a nil *signforms.MemoryLimitStore: leave it out for the default", store: none},
		{want: "LimitStore is a nil *signforms_test.ownStore: leave it out for the default", store: (*ownStore)(nil)},
	} {
		t.Run(row.want, func(t *testing.T) {
			_, err := signforms.New("https://api.example.com", clienttest.APIKey, &signforms.Options{LimitStore: row.store})
			require.EqualError(t, err, "new client: invalid input: Options."+row.want)
			require.ErrorIs(t, err, signforms.ErrInvalid)
		})
	}
}

type ownStore struct{ *signforms.MemoryLimitStore }
