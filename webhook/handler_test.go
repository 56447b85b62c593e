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

func TestHandlerAnswers(t *testing.T) {
	const unauthorized, mediaType, invalid = `{"status":"unauthorized"}`, `{"status":"unsupported_media_type"}`, `{"status":"invalid_payload"}`
	for name, c := range map[string]struct {
		request *http.Request
		status  int
		body    string
	}{
		"array":               {request: payload("[" + form + "]"), status: 200, body: `{"status":"ok"}`},
		"object":              {request: payload(form), status: 200, body: `{"status":"ok"}`},
		"empty array":         {request: payload("[]"), status: 200, body: `{"status":"ok"}`},
		"parameters":          {request: altered("Content-Type", `application/json; charset="utf-8"`), status: 200, body: `{"status":"ok"}`},
		"upper-case type":     {request: altered("Content-Type", "Application/JSON"), status: 200, body: `{"status":"ok"}`},
		"identity":            {request: altered("Content-Encoding", "Identity"), status: 200, body: `{"status":"ok"}`},
		"GET":                 {request: method("GET"), status: 405, body: `{"status":"method_not_allowed"}`},
		"post in lower case":  {request: method("post"), status: 405, body: `{"status":"method_not_allowed"}`},
		"no type":             {request: altered("Content-Type"), status: 415, body: mediaType},
		"form type":           {request: altered("Content-Type", "application/x-www-form-urlencoded"), status: 415, body: mediaType},
		"type with more":      {request: altered("Content-Type", "application/jsonp"), status: 415, body: mediaType},
		"parameter twice":     {request: altered("Content-Type", "application/json; charset=utf-8; charset=UTF-8"), status: 200, body: `{"status":"ok"}`},
		"empty parameters":    {request: altered("Content-Type", " Application/JSON ;;"), status: 200, body: `{"status":"ok"}`},
		"parameter, no value": {request: altered("Content-Type", "application/json; charset"), status: 200, body: `{"status":"ok"}`},
		"open quote":          {request: altered("Content-Type", `application/json; charset="utf-8`), status: 200, body: `{"status":"ok"}`},
		"type joined":         {request: altered("Content-Type", "application/json, application/json"), status: 200, body: `{"status":"ok"}`},
		"type after another":  {request: altered("Content-Type", "text/html, application/json"), status: 415, body: mediaType},
		"two types":           {request: altered("Content-Type", "application/json", "application/json"), status: 415, body: mediaType},
		"gzip":                {request: altered("Content-Encoding", "gzip"), status: 415, body: mediaType},
		"second encoding":     {request: altered("Content-Encoding", "identity", "br"), status: 415, body: mediaType},
		"no signature":        {request: altered("X-Signature"), status: 401, body: unauthorized},
		"malformed signature": {request: altered("X-Signature", "00"), status: 401, body: unauthorized},
		"malformed timestamp": {request: altered("X-Timestamp", "0"), status: 401, body: unauthorized},
		"forged":              {request: altered("X-Timestamp", "1795176001"), status: 401, body: unauthorized},
		"late":                {request: webhooktest.NewRequest(target, secret, noon.Add(-301e9), []byte("[]")), status: 401, body: unauthorized},
		"empty body":          {request: payload(""), status: 400, body: invalid},
		"not JSON":            {request: payload("[{}"), status: 400, body: invalid},
		"null":                {request: payload("null"), status: 400, body: invalid},
		"array of numbers":    {request: payload("[1]"), status: 500, body: `{"status":"failed"}`},
	} {
		t.Run(name, func(t *testing.T) {
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

func TestHandlerSizes(t *testing.T) {
	const limit = 1000
	newHandler := func(t *testing.T) *webhook.Handler {
		return webhook.NewHandler(newVerifier(t, &webhook.VerifierOptions{Now: atNoon, MaxBody: limit}), webhook.Funcs{Default: ignore}, nil)
	}
	for name, c := range map[string]struct {
		size   int
		status int
	}{
		"0 B":       {size: 0, status: 400},
		"1 B":       {size: 1, status: 400},
		"limit":     {size: limit, status: 200},
		"limit + 1": {size: limit + 1, status: 413},
	} {
		body := strings.Repeat("[", min(1, c.size)) + strings.Repeat(" ", max(0, c.size-2)) + strings.Repeat("]", max(0, min(1, c.size-1)))
		require.Len(t, body, c.size)
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.status, serve(newHandler(t), body).Code)
		})
		t.Run(name+" byte by byte, of unknown length", func(t *testing.T) {
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

func TestHandlerBrokenBodies(t *testing.T) {
	for name, c := range map[string]struct {
		rest   io.Reader
		status int
	}{
		"cut short":           {rest: brokenReader{io.ErrUnexpectedEOF}, status: 408},
		"reset":               {rest: brokenReader{errors.New("read tcp 203.0.113.7: connection reset by peer")}, status: 408},
		"limit of the router": {rest: brokenReader{&http.MaxBytesError{Limit: 10}}, status: 413},
		"no progress":         {rest: brokenReader{}, status: 408},
		"hardly any progress": {rest: &slowReader{body: "]", pause: 100}, status: 408},
	} {
		t.Run(name, func(t *testing.T) {
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

// TestBodyReadBefore has something before the handler that takes bytes of the body away.
func TestBodyReadBefore(t *testing.T) {
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
		for _, length := range []string{"known", "unknown"} {
			var reported error
			h := webhook.NewHandler(newVerifier(t, nil), webhook.Funcs{Default: ignore}, &webhook.HandlerOptions{
				OnError: func(_ context.Context, err error) { reported = err },
			})
			r := payload(form)
			if length == "unknown" {
				if c.name == "a part" {
					continue // nobody can know
				}
				r.ContentLength = -1
			}
			c.take(r)
			require.Equal(t, c.status, serveRequest(h, r).Code, c.name)
			require.Equal(t, c.consumed, errors.Is(reported, webhook.ErrBodyConsumed), "%s: %v", c.name, reported)
			require.Equal(t, c.status == 401, errors.Is(reported, webhook.ErrSignature), c.name)
		}
	}
	_, err := newVerifier(t, nil).Verify(signed(secret, "1795176000", form), nil)
	require.ErrorIs(t, err, webhook.ErrBodyConsumed)
	_, err = newVerifier(t, nil).Verify(signed(secret, "1795176000", ""), nil)
	require.NoError(t, err, "an empty body that was signed so")
}

func TestNewHandlerPanics(t *testing.T) {
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
	for text, build := range map[string]func(){
		"no Verifier":      func() { webhook.NewHandler(nil, on, nil) },
		"no function":      func() { webhook.NewHandler(v, webhook.Funcs{}, nil) },
		"negative Timeout": func() { webhook.NewHandler(v, on, &webhook.HandlerOptions{Timeout: -1}) },
		"ReplayTTL":        func() { webhook.NewHandler(v, on, &webhook.HandlerOptions{ReplayTTL: -1}) },
		"DisableReplayProtection together": func() {
			webhook.NewHandler(v, on, &webhook.HandlerOptions{DisableReplayProtection: true, ReplayStore: webhook.NewMemoryReplayStore(nil)})
		},
	} {
		func() {
			defer func() { require.Contains(t, recover(), text) }()
			build()
		}()
	}
}
