package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
	"github.com/stretchr/testify/require"
)

func ignore(context.Context, webhook.Event) error { return nil }

const form = `{"webhookEvent":"new_form_response","formId":"f","formResponseId":"r"}`

// altered returns a genuine delivery with one header set to these values.
func altered(key string, values ...string) *http.Request {
	r := payload("[" + form + "]")
	r.Header[key] = values
	return r
}

func method(m string) *http.Request {
	r := payload("[" + form + "]")
	r.Method = m
	return r
}

func payload(body string) *http.Request {
	return webhooktest.NewRequest(target, secret, noon, []byte(body))
}

func TestHandler_responses(t *testing.T) {
	const unauthorized, mediaType, invalid = `{"status":"unauthorized"}`, `{"status":"unsupported_media_type"}`, `{"status":"invalid_payload"}`
	for _, c := range []struct {
		name    string
		request *http.Request
		status  int
		body    string
	}{
		{name: "array", request: payload("[" + form + "]"), status: 200, body: `{"status":"ok"}`},
		{name: "object", request: payload(form), status: 200, body: `{"status":"ok"}`},
		{name: "empty array", request: payload("[]"), status: 200, body: `{"status":"ok"}`},
		{name: "parameters", request: altered("Content-Type", `application/json; charset="utf-8"`), status: 200, body: `{"status":"ok"}`},
		{name: "upper-case type", request: altered("Content-Type", "Application/JSON"), status: 200, body: `{"status":"ok"}`},
		{name: "identity", request: altered("Content-Encoding", "Identity"), status: 200, body: `{"status":"ok"}`},
		{name: "GET", request: method("GET"), status: 405, body: `{"status":"method_not_allowed"}`},
		{name: "post in lower case", request: method("post"), status: 405, body: `{"status":"method_not_allowed"}`},
		{name: "no type", request: altered("Content-Type"), status: 415, body: mediaType},
		{name: "form type", request: altered("Content-Type", "application/x-www-form-urlencoded"), status: 415, body: mediaType},
		{name: "type with more", request: altered("Content-Type", "application/jsonp"), status: 415, body: mediaType},
		{name: "parameter twice", request: altered("Content-Type", "application/json; charset=utf-8; charset=UTF-8"), status: 200, body: `{"status":"ok"}`},
		{name: "empty parameters", request: altered("Content-Type", " Application/JSON ;;"), status: 200, body: `{"status":"ok"}`},
		{name: "parameter, no value", request: altered("Content-Type", "application/json; charset"), status: 200, body: `{"status":"ok"}`},
		{name: "open quote", request: altered("Content-Type", `application/json; charset="utf-8`), status: 200, body: `{"status":"ok"}`},
		{name: "type joined", request: altered("Content-Type", "application/json, application/json"), status: 200, body: `{"status":"ok"}`},
		{name: "type after another", request: altered("Content-Type", "text/html, application/json"), status: 415, body: mediaType},
		{name: "two types", request: altered("Content-Type", "application/json", "application/json"), status: 415, body: mediaType},
		{name: "gzip", request: altered("Content-Encoding", "gzip"), status: 415, body: mediaType},
		{name: "second encoding", request: altered("Content-Encoding", "identity", "br"), status: 415, body: mediaType},
		{name: "no signature", request: altered("X-Signature"), status: 401, body: unauthorized},
		{name: "malformed signature", request: altered("X-Signature", "00"), status: 401, body: unauthorized},
		{name: "malformed timestamp", request: altered("X-Timestamp", "0"), status: 401, body: unauthorized},
		{name: "forged", request: altered("X-Timestamp", "1795176001"), status: 401, body: unauthorized},
		{name: "late", request: webhooktest.NewRequest(target, secret, noon.Add(-301e9), []byte("[]")), status: 401, body: unauthorized},
		{name: "empty body", request: payload(""), status: 400, body: invalid},
		{name: "not JSON", request: payload("[{}"), status: 400, body: invalid},
		{name: "null", request: payload("null"), status: 400, body: invalid},
		{name: "array of numbers", request: payload("[1]"), status: 500, body: `{"status":"failed"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := 0
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{FormResponse: func(context.Context, *webhook.FormResponse) error {
				ran++
				return nil
			}}, nil)
			w := serveRequest(h, c.request)
			requireAnswer(t, w, c.status, c.body)
			require.Equal(t, c.status == 405, w.Header().Get("Allow") == "POST")
			if c.status != 200 {
				require.Zero(t, ran)
			}
		})
	}
}

func TestHandler_sizes(t *testing.T) {
	const limit = 1000
	newHandler := func(t *testing.T) *webhook.Handler {
		return webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Now: atNoon, MaxBody: limit}), webhook.Funcs{Default: ignore}, nil)
	}
	for _, c := range []struct {
		name   string
		size   int
		status int
	}{
		{name: "0 B", size: 0, status: 400},
		{name: "1 B", size: 1, status: 400},
		{name: "limit", size: limit, status: 200},
		{name: "limit + 1", size: limit + 1, status: 413},
	} {
		body := strings.Repeat("[", min(1, c.size)) + strings.Repeat(" ", max(0, c.size-2)) + strings.Repeat("]", max(0, min(1, c.size-1)))
		require.Len(t, body, c.size)
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.status, serve(newHandler(t), body).Code)
		})
		t.Run(c.name+" byte by byte, of unknown length", func(t *testing.T) {
			r := webhooktest.NewRequest(target, secret, noon, []byte(body))
			r.Body, r.ContentLength = io.NopCloser(&slowReader{body: body, pause: 99}), -1
			require.Equal(t, c.status, serveRequest(newHandler(t), r).Code)
		})
	}
	w := serve(newHandler(t), strings.Repeat(" ", limit+1))
	requireAnswer(t, w, 413, `{"status":"too_large"}`)
	require.Equal(t, "close", w.Header().Get("Connection"))
}

// slowReader returns one byte after each so many calls that return nothing.
type slowReader struct {
	body        string
	pause, idle int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.body == "" {
		return 0, io.EOF
	}
	if r.idle < r.pause {
		r.idle++
		return 0, nil
	}
	r.idle = 0
	n := copy(p[:1], r.body)
	r.body = r.body[n:]
	return n, nil
}

type brokenReader struct{ err error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.err }

func TestHandler_brokenBodies(t *testing.T) {
	for _, c := range []struct {
		name   string
		rest   io.Reader
		status int
	}{
		{name: "cut short", rest: brokenReader{io.ErrUnexpectedEOF}, status: 408},
		{name: "reset", rest: brokenReader{errors.New("read tcp 203.0.113.7: connection reset by peer")}, status: 408},
		{name: "limit of the router", rest: brokenReader{&http.MaxBytesError{Limit: 10}}, status: 413},
		{name: "no progress", rest: brokenReader{}, status: 408},
		{name: "hardly any progress", rest: &slowReader{body: "]", pause: 100}, status: 408},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reported error
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, &webhook.HandlerOptions{
				OnError: func(_ context.Context, err error) { reported = err },
			})
			r := webhooktest.NewRequest(target, secret, noon, []byte("[]"))
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader("["), c.rest))
			require.Equal(t, c.status, serveRequest(h, r).Code)
			require.Error(t, reported)
			require.NotContains(t, reported.Error(), "203.0.113.7")
		})
	}
}

// TestHandler_bodyReadBefore has something before the handler that takes bytes of the body away.
func TestHandler_bodyReadBefore(t *testing.T) {
	for _, c := range []struct {
		name     string
		take     func(*http.Request)
		status   int
		consumed bool
	}{
		{name: "all", take: func(r *http.Request) { io.Copy(io.Discard, r.Body) }, status: 401, consumed: true},
		{name: "a part", take: func(r *http.Request) { io.CopyN(io.Discard, r.Body, 5) }, status: 401, consumed: true},
		{name: "nil", take: func(r *http.Request) { r.Body = nil }, status: 401, consumed: true},
		{name: "closed", take: func(r *http.Request) { r.Body = io.NopCloser(brokenReader{http.ErrBodyReadAfterClose}) }, status: 401, consumed: true},
		{name: "nothing", take: func(*http.Request) {}, status: 200},
		{name: "forged", take: func(r *http.Request) { r.Header.Set("X-Signature", strings.Repeat("0", 64)) }, status: 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, length := range []string{"known", "unknown"} {
				t.Run(length, func(t *testing.T) {
					var reported error
					h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, &webhook.HandlerOptions{
						OnError: func(_ context.Context, err error) { reported = err },
					})
					r := payload(form)
					if length == "unknown" {
						if c.name == "a part" {
							return // nobody can know
						}
						r.ContentLength = -1
					}
					c.take(r)
					require.Equal(t, c.status, serveRequest(h, r).Code)
					require.Equal(t, c.consumed, errors.Is(reported, webhook.ErrBodyConsumed), "%s: %v", c.name, reported)
					require.Equal(t, c.status == 401, errors.Is(reported, webhook.ErrSignature))
				})
			}
		})
	}
	_, err := newVerifier(t, nil).Verify(signed(secret, "1795176000", form), nil)
	require.ErrorIs(t, err, webhook.ErrBodyConsumed)
	_, err = newVerifier(t, nil).Verify(signed(secret, "1795176000", ""), nil)
	require.NoError(t, err, "an empty body that was signed so")
}

func TestNewHandler_panics(t *testing.T) {
	v := newVerifier(t, nil)
	all := record(new([]string))
	for _, one := range []webhook.Funcs{
		{FormResponse: all.FormResponse}, {SignatureViewed: all.SignatureViewed}, {SignatureSigned: all.SignatureSigned},
		{SignatureCompleted: all.SignatureCompleted}, {TemplateViewed: all.TemplateViewed}, {TemplateSigned: all.TemplateSigned},
		{TemplateResponse: all.TemplateResponse}, {Unknown: all.Unknown}, {Default: all.Default},
	} {
		require.NotNil(t, webhook.NewHandler(v, one, nil))
	}
	on := webhook.Funcs{Default: ignore}
	for _, row := range []struct {
		text  string
		build func()
	}{
		{text: "no Verifier", build: func() { webhook.NewHandler(nil, on, nil) }},
		{text: "no function", build: func() { webhook.NewHandler(v, webhook.Funcs{}, nil) }},
		{text: "negative Timeout", build: func() { webhook.NewHandler(v, on, &webhook.HandlerOptions{Timeout: -1}) }},
		{text: "ReplayTTL", build: func() { webhook.NewHandler(v, on, &webhook.HandlerOptions{ReplayTTL: -1}) }},
		{text: "DisableReplayProtection together", build: func() {
			webhook.NewHandler(v, on, &webhook.HandlerOptions{DisableReplayProtection: true, ReplayStore: webhook.NewMemoryReplayStore(nil)})
		}},
	} {
		t.Run(row.text, func(t *testing.T) {
			func() {
				defer func() { require.Contains(t, recover(), row.text) }()
				row.build()
			}()
		})
	}
}
