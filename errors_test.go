package signforms_test

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// errorAnswer says what a client makes of an error answer in testdata.
type errorAnswer struct {
	status  int
	code    string
	message string
	kind    error // what most operations match
	// open: a send or reminder matches ErrOutcomeUnknown instead.
	open bool
	// refusal: a void or reminder matches ErrRefused too.
	refusal bool
}

var errorAnswers = map[string]errorAnswer{
	"error_400.json":              {status: 400, code: "invalid_input", message: "documentId must be a UUID", kind: signforms.ErrInvalid, refusal: true},
	"error_400_error.json":        {status: 400, message: "receiversList is required", kind: signforms.ErrInvalid, refusal: true},
	"error_400_data_message.json": {status: 400, message: "limit must be at most 100", kind: signforms.ErrInvalid, refusal: true},
	"error_400_data_error.json":   {status: 400, message: "page must be at least 1", kind: signforms.ErrInvalid, refusal: true},
	"error_400_order.json":        {status: 400, message: "first: message", kind: signforms.ErrInvalid, refusal: true},
	"error_400_refused.json":      {status: 400, message: "Cannot send a reminder for a document that is EXPIRED", kind: signforms.ErrInvalid, refusal: true},
	"error_401.json":              {status: 401, message: "Unauthorized", kind: signforms.ErrForbidden},
	"error_403.json":              {status: 403, code: "forbidden", message: "The API key or the workspace is not valid", kind: signforms.ErrForbidden},
	"error_403_gateway.json":      {status: 403, message: "Forbidden", kind: signforms.ErrForbidden},
	"error_404.json":              {status: 404, code: "not_found", message: "No such document", kind: signforms.ErrNotFound},
	"error_405.json":              {status: 405, code: "method_not_allowed", message: "Method GET is not allowed here", kind: signforms.ErrInvalid},
	"error_409.json":              {status: 409, code: "invalid_status", message: "A document that is SIGNED cannot be voided", kind: signforms.ErrRefused},
	"error_413.json":              {status: 413, code: "too_large", message: "The body is larger than 10 MiB", kind: signforms.ErrInvalid},
	"error_415.json":              {status: 415, code: "unsupported_media_type", message: "The body must be application/json", kind: signforms.ErrInvalid},
	"error_422.json":              {status: 422, message: "A document that is DECLINED cannot be reminded", kind: signforms.ErrRefused},
	"error_429.json":              {status: 429, code: "rate_limited", message: "At most 5 reminders in 15 minutes", kind: signforms.ErrRateLimited},
	"error_500.json":              {status: 500, message: "Internal server error", kind: signforms.ErrUnavailable, open: true},
	"error_502.html": {status: 502, message: "a gateway or proxy responded, not the service (502 Bad Gateway)",
		kind: signforms.ErrUnavailable, open: true},
	"error_503.txt":                 {status: 503, message: "upstream connect error or disconnect/reset before headers", kind: signforms.ErrUnavailable, open: true},
	"error_504_gateway.json":        {status: 504, message: "Endpoint request timed out", kind: signforms.ErrUnavailable, open: true},
	"error_200_error.json":          {status: 200, message: "Template not found", kind: signforms.ErrUnavailable, open: true},
	"error_400_invalid_status.json": {status: 400, code: "invalid_status", message: "A document that is SIGNED cannot be voided", kind: signforms.ErrInvalid, refusal: true}, // and ErrRefused by its code, whatever the operation
}

func (a errorAnswer) kinds(call clienttest.Call) (kinds []error) {
	switch {
	case a.open && call.SendsMail():
		return []error{signforms.ErrOutcomeUnknown}
	}
	kinds = append(kinds, a.kind)
	actsOnStatus := call.Op == signforms.OpVoidDocument || call.Op == signforms.OpRemind
	if a.code == "invalid_status" || a.refusal && actsOnStatus {
		kinds = append(kinds, signforms.ErrRefused)
	}
	return kinds
}

func TestError_byStatus(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/error_*")
	require.NoError(t, err)
	require.Len(t, errorAnswers, len(files), "every file needs its row, every row its file")
	for _, file := range files {
		name := filepath.Base(file)
		require.Contains(t, errorAnswers, name)
		want, body := errorAnswers[name], clienttest.Testdata(t, "answers/"+name)
		for _, call := range clienttest.Calls {
			t.Run(name+"/"+call.Name, func(t *testing.T) {
				var id string
				c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
					id = req.Header.Get("X-Request-Id")
					resp := clienttest.Reply(req, want.status, body)
					if want.status == 429 {
						resp.Header.Set("Retry-After", "840")
					}
					return resp, nil
				}), func(o *signforms.Options) { o.MaxAttempts = 1 })
				err := call.Do(t.Context(), c)
				e := clienttest.AsError(t, err)
				require.Equal(t, call.Op, e.Operation)
				require.Equal(t, want.status, e.StatusCode)
				require.Equal(t, want.code, e.Code)
				require.Equal(t, want.message, e.Message)
				require.Equal(t, body, string(e.Body))
				require.Equal(t, id, e.RequestID)
				require.Equal(t, 1, e.Attempts)
				require.Empty(t, e.Fields)
				require.Equal(t, want.status == 429, e.RetryAfter == 840*time.Second, "RetryAfter %s", e.RetryAfter)
				clienttest.RequireMatches(t, err, want.kinds(call)...)
			})
		}
	}
}

func TestError_text(t *testing.T) {
	voiding, sending := clienttest.CallOf(t, "Documents.Void"), clienttest.CallOf(t, "Templates.Send")
	for _, c := range []struct {
		call   clienttest.Call
		status int
		body   string
		want   string
	}{
		{call: voiding, status: 409, body: clienttest.Testdata(t, "answers/error_409.json"), want: "void document: 409 invalid_status: A document that is SIGNED cannot be voided"},
		{call: voiding, status: 404, want: "void document: 404: Not Found (check the ids, the base URL and the endpoint)"},
		{call: voiding, status: 401, body: "Who?", want: "void document: 401: Who? (check the API key and the workspace id)"},
		{call: sending, status: 403, body: clienttest.Testdata(t, "answers/error_403_gateway.json"), want: "send template: 403: Forbidden (check the API key and the workspace id)"},
		{call: voiding, status: 405, want: "void document: 405: Method Not Allowed (check the endpoint)"},
		{call: sending, status: 415, want: "send template: 415: Unsupported Media Type (check the endpoint)"},
		{call: voiding, status: 503, body: "busy", want: "void document: 503: busy (after 4 attempts)"},
		{call: sending, status: 504, body: clienttest.Testdata(t, "answers/error_504_gateway.json"), want: "send template: outcome unknown, check before you repeat the call (504): Endpoint request timed out"},
		{call: sending, status: 200, body: `{"message":"Sent"}`, want: "send template: outcome unknown, check before you repeat the call (200): " +
			"unreadable response (it lacks createdDocumentId)"},
		{call: voiding, status: 200, body: "<html>", want: "void document: bad response (200): a gateway or proxy responded, not the service (a page without a title); check the base URL"},
	} {
		t.Run(c.want, func(t *testing.T) {
			err := c.call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(c.status, c.body)))
			require.EqualError(t, err, c.want)
		})
	}
	c := clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		resp := clienttest.Reply(req, 429, `{"message":"Slow down"}`)
		resp.Header.Set("Retry-After", "90")
		return resp, nil
	}))
	require.EqualError(t, voiding.Do(t.Context(), c), "void document: 429: Slow down (retry after 1m30s)")
	require.EqualError(t, &signforms.Error{Operation: signforms.OpRemind, StatusCode: 429, RetryAfter: 1}, "send reminder: 429 (retry after 1s)", "rounded up")
	c = clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("cable cut") }))
	require.EqualError(t, voiding.Do(t.Context(), c), "void document: unavailable: cable cut (after 4 attempts)")
	c = clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "Post", URL: req.URL.String(), Err: errors.New("cable cut")}
	}))
	require.EqualError(t, voiding.Do(t.Context(), c), "void document: unavailable: cable cut (after 4 attempts)", "without the URL")
}

// TestError_messageIsCleaned looks at what an error's text makes of foreign text.
func TestError_messageIsCleaned(t *testing.T) {
	void := clienttest.CallOf(t, "Documents.Void")
	for _, row := range []struct{ in, want string }{
		{in: "a\x00b\x1b[31mc\u200bd\ufeffe", want: "ab[31mcde"},
		{in: "one\n\ttwo\u2028three  four", want: "one two three four"},
		{in: "see https://sign.example.com/s/1?token=abc, please", want: "see [url] please"},
		{in: "http:%2F%2Fx%2Fs%2F1, next=HTTPS%3a%2f%2fx%2Fs%3Ftoken%3Dabc", want: "[url] next=[url]"},
		{in: "HTTPS://X/y and wss://z", want: "[url] and [url]"},
		{in: "Cannot GET /get-documents?query=Ann%20Lease&page=1 here", want: "Cannot GET /get-documents?[query] here"},
		{in: "Really? Yes", want: "Really? Yes"},
		{in: "mail ann@example.com, <ben.o'neil+legal@example.com>; to=c%40d.org", want: "mail [email], <[email]>; [email]"},
		{in: "ann\u200b@exam\x00ple.com", want: "[email]"},
		{in: "key example-api-key, again example-api-\x00key", want: "key [key], again [key]"},
		{in: "key EXAMPLE-API-KEY, again Example-Api-Key", want: "key [key], again [key]"},
		{in: "bad \xff\xfe bytes", want: "bad bytes"},
		{in: strings.Repeat("é", 101), want: strings.Repeat("é", 98) + "…"},
		{in: strings.Repeat("x", 200), want: strings.Repeat("x", 200)},
	} {
		t.Run(row.in, func(t *testing.T) {
			err := void.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(404, row.in)))
			require.Equal(t, row.want, clienttest.AsError(t, err).Message, "message of %q", row.in)
			require.LessOrEqual(t, len(clienttest.AsError(t, err).Message), 200)
		})
	}
	long := strings.Repeat(" ", 60_000) + "ann@example.com " + strings.Repeat("https://x/secret ", 200)
	err := void.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(404, long)))
	require.Equal(t, "[email] "+strings.Repeat("[url] ", 31)+"[ur…", clienttest.AsError(t, err).Message)
}

// TestError_encodedMessageIsCleaned: a service, or a gateway before it, may quote a request in its own encoding.
func TestError_encodedMessageIsCleaned(t *testing.T) {
	void := clienttest.CallOf(t, "Documents.Void")
	const key = "sk+Live/7x9KEY=="
	for _, row := range []struct{ in, want string }{
		{in: "key " + url.QueryEscape(key), want: "key [key]"},
		{in: `key sk\u002bLive\/7x9KEY==`, want: "key [key]"},
		{in: `key sk\x2bLive\\/7x9KEY\u003D=`, want: "key [key]"},
		{in: "key sk&#43;Live&#x2F;7x9KEY&equals;=", want: "key [key]"},
		{in: "key %73%6b%2b" + "Live/7x9KEY==", want: "key [key]"},
		{in: `see https:\/\/sign.example.com\/s\/1, ok`, want: "see [url] ok"},
		{in: "see https:&#x2F;&#x2F;sign.example.com/s/1 ok", want: "see [url] ok"},
		{in: "see //sign.example.com/s/1 ok", want: "see [url] ok"},
		{in: "see sign.example.com/s/1 ok", want: "see [url] ok"},
		{in: "with token=abc&lang=en ok", want: "with [query] ok"},
		{in: "with token=abc ok", want: "with [query] ok"},
		{in: "at /sign#token=abc ok", want: "at /sign#[query] ok"},
		{in: "at https%3A%2F%2Fx%2Fs%3Fq%3D%22Ann%22 ok", want: "at [url] ok"},
		{in: "at /x%3Fquery%3DAnn%20Lease ok", want: "at /x?[query] ok"},
		{in: `mail ann\u0040example.com ok`, want: "mail [email] ok"},
		{in: "mail ann&#64;example.com ok", want: "mail [email] ok"},
		{in: "100% of 5%20x and/or a\\b, R&D; text/html &lt;p&gt;", want: "100% of 5%20x and/or a\\b, R&D; text/html &lt;p&gt;"},
	} {
		t.Run(row.in, func(t *testing.T) {
			c, err := signforms.New("https://api.example.com", key, &signforms.Options{Transport: clienttest.Answers(404, row.in)})
			require.NoError(t, err)
			require.Equal(t, row.want, clienttest.AsError(t, void.Do(t.Context(), c)).Message, "message of %q", row.in)
		})
	}
}

// TestError_codeHoldsNoSecret: a service may say which key it refuses, or for which link.
func TestError_codeHoldsNoSecret(t *testing.T) {
	for _, row := range []struct{ code, want string }{
		{code: "example-api-key", want: ""}, {code: "invalid_key.EXAMPLE-api-key", want: ""}, {code: "example-api-key_is_old", want: ""},
		{code: "token_9016EF28d3ca85f42183614d02ee7966", want: ""},
		{code: "9016ef28d3ca85f42183614d02ee796", want: "9016ef28d3ca85f42183614d02ee796"},
		{code: "invalid_key.example-api", want: "invalid_key.example-api"},
	} {
		t.Run(row.code, func(t *testing.T) {
			for _, status := range []int{200, 400, 503} {
				t.Run(fmt.Sprint(status), func(t *testing.T) {
					body := `{"success":false,"message":"no","code":"` + row.code + `"}`
					err := clienttest.CallOf(t, "Documents.Void").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(status, body)))
					require.Equal(t, row.want, clienttest.AsError(t, err).Code, "code %s of a %d", row.code, status)
					require.Equal(t, row.want != "", strings.Contains(err.Error(), row.code), "%s", err)
				})
			}
		})
	}
}

// TestGet_notFoundOrFilterIgnored: if a service ignores the filter, its response does not show whether the record exists.
func TestGet_notFoundOrFilterIgnored(t *testing.T) {
	const (
		none     = "the service has no record with this id"
		another  = "the service ignored the filter: the response has other ids than the requested one"
		otherDoc = `{"documents":[{"documentId":"11ded283-4170-42af-9f01-8a23a1c6321d"}]}`
	)
	for _, c := range []struct{ method, body, message string }{
		{method: "Documents.Get", body: `{"documents":[]}`, message: none},
		{method: "Documents.Get", body: `{"documentsCount":0}`, message: none},
		{method: "Documents.Get", body: otherDoc, message: another},
		{method: "Templates.Get", body: `{"documents":null,"pagination":{"totalDocuments":0}}`, message: none},
		{method: "Templates.Get", body: otherDoc, message: another},
		{method: "Respondents.Get", body: `{"respondents":[]}`, message: none},
		{method: "Respondents.Get", body: `{"respondents":{"respondentDocumentId":"6af5cb15f4f35018c124817b"}}`, message: another},
		{method: "FormResponses.Get", body: `{"responses":[]}`, message: none},
		{method: "FormResponses.Get", body: `{"responses":[{"responseId":"6afc0aaccca8bbc24a603532","formResponseId":"11ded283-4170-42af-9f01-8a23a1c6321d"}]}`, message: another},
	} {
		t.Run(c.method, func(t *testing.T) {
			requests := 0
			err := clienttest.CallOf(t, c.method).Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
				if requests++; requests == 1 {
					return clienttest.Reply(req, 503, ""), nil
				}
				return clienttest.Reply(req, 200, c.body), nil
			})))
			want := signforms.ErrNotFound
			if c.message == another {
				want = signforms.ErrBadResponse
			}
			clienttest.RequireMatches(t, err, want)
			e := clienttest.AsError(t, err)
			require.Equal(t, c.message, e.Message, "%s %s", c.method, c.body)
			require.Equal(t, 2, e.Attempts)
			require.NotEmpty(t, e.RequestID)
			require.Equal(t, c.body, string(e.Body))
		})
	}
}

// matched returns the sentinels that err matches.
func matched(err error) (sentinels []error) {
	for _, s := range clienttest.Sentinels {
		if errors.Is(err, s) {
			sentinels = append(sentinels, s)
		}
	}
	return sentinels
}

// TestError_matchesOneSentinel: no error leaves a caller without something to branch on.
func TestError_matchesOneSentinel(t *testing.T) {
	for status := 300; status < 600; status += clienttest.Long(3, 7) {
		for _, body := range []string{"", `{"code":"strange","message":"no"}`} {
			t.Run(body, func(t *testing.T) {
				for _, call := range clienttest.Calls {
					err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(status, body), func(o *signforms.Options) { o.MaxAttempts = 1 }))
					want := 1
					if status == 400 && (call.Op == signforms.OpVoidDocument || call.Op == signforms.OpRemind) {
						want = 2 // a refusal may have this status
					}
					require.Len(t, matched(err), want, "%s: %v", call.Name, err)
					if unknown := status/100 != 4 || status == 408 || status == 499; call.SendsMail() {
						require.Equal(t, unknown, errors.Is(err, signforms.ErrOutcomeUnknown), "%s: %v", call.Name, err)
					}
				}
			})
		}
	}
	for _, row := range []struct {
		status int
		want   error
	}{
		{status: 300, want: signforms.ErrInvalid}, {status: 399, want: signforms.ErrInvalid}, {status: 402, want: signforms.ErrRefused},
		{status: 405, want: signforms.ErrInvalid}, {status: 406, want: signforms.ErrRefused},
		{status: 410, want: signforms.ErrNotFound}, {status: 451, want: signforms.ErrRefused}, {status: 498, want: signforms.ErrRefused},
		{status: 499, want: signforms.ErrUnavailable}, {status: 500, want: signforms.ErrUnavailable},
	} {
		t.Run(fmt.Sprint(row.status), func(t *testing.T) {
			clienttest.RequireMatches(t, clienttest.CallOf(t, "Documents.List").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(row.status, ""), func(o *signforms.Options) { o.MaxAttempts = 1 })), row.want)
		})
	}
}

// TestError_builtByHand what a call with that response returns: fakes return them.
func TestError_builtByHand(t *testing.T) {
	for _, row := range []struct {
		status int
		want   error
	}{{status: 404, want: signforms.ErrNotFound}, {status: 429, want: signforms.ErrRateLimited}, {status: 503, want: signforms.ErrUnavailable}} {
		t.Run(fmt.Sprint(row.status), func(t *testing.T) {
			clienttest.RequireMatches(t, &signforms.Error{StatusCode: row.status}, row.want)
		})
	}
	for _, status := range []int{200, 307, 400, 408, 409, 429, 499, 500, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			for _, call := range clienttest.Calls {
				err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(status, `{"success":false}`), func(o *signforms.Options) { o.MaxAttempts = 1 }))
				clienttest.RequireMatches(t, &signforms.Error{Operation: call.Op, StatusCode: status}, matched(err)...)
			}
		})
	}
	clienttest.RequireMatches(t, &signforms.Error{})
	require.NotContains(t, (&signforms.Error{StatusCode: 404}).Unwrap(), nil, "no cause")
}

func TestError_Format(t *testing.T) {
	err := clienttest.CallOf(t, "Documents.Get").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(404, `{"message":"none","secret":"`+secretMail+`"}`)))
	e := clienttest.AsError(t, err)
	require.Equal(t, e.Error(), fmt.Sprintf("%v", err))
	require.Equal(t, e.Error()+` {Call:"get document" Operation:"list documents" StatusCode:404 Code:"" Message:"none" RequestID:"`+e.RequestID+
		`" RetryAfter:0s Attempts:1 Fields:[] Yielded:0 Reported:0}`, fmt.Sprintf("%+v", err))
	require.Contains(t, fmt.Sprintf("%+v", &signforms.Error{Fields: []signforms.FieldError{{Field: "Limit", Problem: "must be 1"}}}), `Fields:["Limit must be 1"]`)
}

// TestError_retryAfterIsSet in every error of a call that a user is told to repeat.
func TestError_retryAfterIsSet(t *testing.T) {
	for _, status := range []int{408, 429, 499, 503} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			for _, header := range []string{"", "0", "Fri, 31 Dec 1999 23:59:59 GMT"} {
				t.Run(header, func(t *testing.T) {
					for _, call := range clienttest.Calls {
						err := call.Do(t.Context(), clienttest.Scripted(t, clienttest.Transport(func(req *http.Request) (*http.Response, error) {
							resp := clienttest.Reply(req, status, "{}")
							resp.Header.Set("Retry-After", header)
							return resp, nil
						}), func(o *signforms.Options) { o.MaxAttempts = 1 }))
						want := time.Second
						if call.Op == signforms.OpRemind {
							want = 15 * time.Minute
						}
						if errors.Is(err, signforms.ErrOutcomeUnknown) {
							want = 0
						}
						require.Equal(t, want, clienttest.AsError(t, err).RetryAfter, "%s: %d with %q", call.Name, status, header)
						require.NotContains(t, err.Error(), "retry after")
					}
				})
			}
		})
	}
	unreachable := clienttest.Transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") })
	err := clienttest.CallOf(t, "Documents.List").Do(t.Context(), clienttest.Scripted(t, unreachable))
	require.Equal(t, time.Second, clienttest.AsError(t, err).RetryAfter)
	err = clienttest.CallOf(t, "Documents.Get").Do(t.Context(), clienttest.Scripted(t, clienttest.Answers(200, `{"documents":[]}`)))
	clienttest.RequireMatches(t, err, signforms.ErrNotFound)
	require.Zero(t, clienttest.AsError(t, err).RetryAfter, "calling again does not help")
}

// TestError_enormousRetryAfter: a Retry-After counts for at most a day, and a reminder's error agrees with its budget.
func TestError_enormousRetryAfter(t *testing.T) {
	require.NotContains(t, (&signforms.Error{RetryAfter: math.MaxInt64}).Error(), "-")
	for _, name := range []string{"Templates.Send", "Documents.Remind"} {
		t.Run(name, func(t *testing.T) {
			c := clienttest.Scripted(t, clienttest.Transport(func(*http.Request) (*http.Response, error) {
				return clienttest.Answers429("Fri, 31 Dec 9999 23:59:59 GMT"), nil
			}))
			err := clienttest.CallOf(t, name).Do(t.Context(), c)
			require.Equal(t, 24*time.Hour, clienttest.AsError(t, err).RetryAfter)
		})
	}
}
