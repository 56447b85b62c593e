package api

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// Record describes one request: the client's input, the missing inputs, the rule that refused the
// request, and the response. It contains no API key. Its String contains neither a value that the
// client sent nor the secret of a link, so it can be printed anywhere.
type Record struct {
	ID           int64       `json:"id"`                  // number that the log assigns, ascending from 1 over all requests since the start
	At           time.Time   `json:"at"`                  // when it arrived, by the service's clock
	Operation    Operation   `json:"operation,omitempty"` // empty: the service has no such path
	Method       string      `json:"method"`
	Path         string      `json:"path"`                  // at most 1,000 bytes; the same holds for RequestID
	WorkspaceID  string      `json:"workspaceId,omitempty"` // workspace of the API key; empty: not authenticated
	RequestID    string      `json:"requestId,omitempty"`   // x-request-id as sent
	Header       http.Header `json:"header"`                // without the API key and other secrets
	Query        url.Values  `json:"query"`                 // the part that could be read, without secrets
	RawQuery     string      `json:"rawQuery,omitempty"`    // the unparsed query, without secrets, if a part of it could not be read; empty: all of it is in Query
	Body         []byte      `json:"body,omitempty"`        // the first 64 KiB; nil if the request was refused before its body was read
	BodySize     int64       `json:"bodySize,omitempty"`    // size of the whole body in bytes, as announced; otherwise the number of bytes that were read
	IsCut        bool        `json:"cut,omitempty"`         // the largest fields were dropped later, to bound the log; see Cut
	Missing      []string    `json:"missing,omitempty"`     // missing required inputs
	Notes        []string    `json:"notes,omitempty"`       // hints: which inputs were ignored and why, which had another spelling than the published one, and others
	Rule         string      `json:"rule,omitempty"`        // rule that refused the request: "path", "method", "api key", "workspace", "limit", "size", "media type", "input", "exists", "status" or "storage"; empty: none
	StatusCode   int         `json:"status"`                // of the response; 0: no response was written
	Code         string      `json:"code,omitempty"`        // code of an error response
	Message      string      `json:"message,omitempty"`     // message of an error response
	Counted      bool        `json:"counted,omitempty"`     // the request is a reminder that counts towards the limit
	AnswerHeader http.Header `json:"answerHeader,omitempty"`
	Answer       []byte      `json:"answer,omitempty"`     // the first 4 KiB of the response's body, which may contain signing links
	AnswerLost   bool        `json:"answerLost,omitempty"` // the request may have been executed, but the client did not get the response

	reason string // Message without the client's input
}

// String returns one line with the operation, the status and its reasons.
func (r Record) String() string {
	name := string(r.Operation)
	if name == "" {
		name = fmt.Sprintf("%.16q %.64q", r.Method, firstSegment(r.Path))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d", timeText(r.At), name, r.StatusCode)
	if r.Rule != "" {
		fmt.Fprintf(&b, " %s (rule: %s): %s", r.Code, r.Rule, r.reason)
	}
	for _, note := range r.Notes {
		b.WriteString(", " + note)
	}
	if r.AnswerLost {
		b.WriteString(", answer lost")
	}
	return b.String()
}

// firstSegment returns only the first segment of a path, because the rest of a link is a secret.
func firstSegment(path string) string {
	first, _, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if more {
		return "/" + first + "/…"
	}
	return "/" + first
}

// Cut returns the record without its largest fields: Header, Query, RawQuery, Body, AnswerHeader
// and Answer.
func (r Record) Cut() Record {
	r.Header, r.Query, r.RawQuery, r.Body, r.AnswerHeader, r.Answer, r.IsCut = nil, nil, "", nil, nil, nil, true
	return r
}

// Weight returns about how many bytes Cut frees.
func (r Record) Weight() int {
	n := cap(r.Body) + cap(r.Answer) + len(r.RawQuery)
	for _, m := range []map[string][]string{r.Header, r.Query, r.AnswerHeader} {
		if len(m) > 0 {
			n += 400 // size of an empty map
		}
		for name, values := range m {
			n += len(name) + 32
			for _, v := range values {
				n += len(v) + 16
			}
		}
	}
	return n
}

// beginning returns the part of a text that a record contains. It is a copy, so the rest of the
// request line can be freed.
func beginning(s string) string {
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), signing.MaxName)], ""))
}

// secretWords are parts of the names of headers and query parameters whose values are not recorded.
// The names are recorded, because a key in the wrong header is a common error.
var secretWords = []string{"api-key", "api_key", "apikey", "token", "secret", "authorization", "cookie", "password"}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return name == "key" || strings.Contains(strings.ReplaceAll(name, "autho", ""), "auth") || // "auth" also occurs in "author", which is not a secret
		slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

const hidden = "(hidden)"

// withoutSecrets returns a copy of headers or a query in which the values that must not be recorded
// are hidden.
func withoutSecrets(values map[string][]string) map[string][]string {
	kept := maps.Clone(values)
	for name, texts := range kept {
		if isSecret(name) && strings.Join(texts, "") != "" {
			kept[name] = []string{hidden}
		}
	}
	return kept
}

// rawWithoutSecrets is like withoutSecrets, for a query that cannot be read.
func rawWithoutSecrets(query string) string {
	parts := strings.Split(query, "&")
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if value != "" && isSecret(name) {
			parts[i] = strings.TrimSuffix(part, value) + hidden
		}
	}
	return strings.Join(parts, "&")
}

// newRecord begins the record of a request.
func newRecord(r *http.Request, at time.Time) *Record {
	return &Record{
		At: at, Method: beginning(r.Method), Path: beginning(r.URL.Path), Header: withoutSecrets(r.Header), RequestID: beginning(r.Header.Get("x-request-id")),
		BodySize: max(r.ContentLength, 0),
	}
}

// received records a body, or the part of it that was read.
func (r *Record) received(body []byte) {
	r.Body, r.BodySize = slices.Clone(body[:min(len(body), maxRecorded)]), max(r.BodySize, int64(len(body)))
}

// noteUnknown notes the names that are not in known.
func (r *Record) noteUnknown(where string, names []string, known []string) {
	slices.Sort(names)
	for _, name := range names {
		if len(r.Notes) < maxProblems && !slices.Contains(known, name) {
			r.Notes = append(r.Notes, fmt.Sprintf("ignored %s %.32q%s", where, name, meant(name, known)))
		}
	}
}

// meant returns the known input that name probably means: it may differ in case, separators or a
// plural.
func meant(name string, known []string) string {
	plain := func(s string) string {
		return strings.TrimSuffix(strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)), "s")
	}
	for _, k := range known {
		if plain(k) == plain(name) {
			return fmt.Sprintf(" (did you mean %s?)", k)
		}
	}
	return ""
}
