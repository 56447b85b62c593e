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

// Record tells about one request: what the client sent, what was missing, which rule refused it and the answer. It
// holds no API key. Its String holds no value that the client sent and no link's secret, so it can be printed anywhere.
type Record struct {
	ID           int64       `json:"id"`                  // given by the log: from 1, ascending over all requests since the start
	At           time.Time   `json:"at"`                  // when it arrived, by the service's clock
	Operation    Operation   `json:"operation,omitempty"` // empty: the path is not one of the service's
	Method       string      `json:"method"`
	Path         string      `json:"path"`                  // at most 1,000 bytes of it, as of RequestID
	WorkspaceID  string      `json:"workspaceId,omitempty"` // that the API key acts for; empty: not authenticated
	RequestID    string      `json:"requestId,omitempty"`   // x-request-id as sent
	Header       http.Header `json:"header"`                // without the API key and other secrets
	Query        url.Values  `json:"query"`                 // as much of it as could be read, without secrets
	RawQuery     string      `json:"rawQuery,omitempty"`    // as sent, without secrets, if a part of it could not be read; empty: all of it is in Query
	Body         []byte      `json:"body,omitempty"`        // the first 64 KiB; none of a request that was refused before
	BodySize     int64       `json:"bodySize,omitempty"`    // of the whole body in bytes: as announced, otherwise as far as it was read
	IsCut        bool        `json:"cut,omitempty"`         // what takes the most room was dropped since, to bound the log: see Cut
	Missing      []string    `json:"missing,omitempty"`     // required inputs that were not there
	Notes        []string    `json:"notes,omitempty"`       // what was ignored and why, what was taken in another spelling than the published one, and other hints
	Rule         string      `json:"rule,omitempty"`        // that refused it: "path", "method", "api key", "workspace", "limit", "size", "media type", "input", "exists", "status" or "storage"; empty: none
	StatusCode   int         `json:"status"`                // of the answer; 0: none was written
	Code         string      `json:"code,omitempty"`        // of an error answer
	Message      string      `json:"message,omitempty"`     // of an error answer
	Counted      bool        `json:"counted,omitempty"`     // a reminder that counts towards the limit
	AnswerHeader http.Header `json:"answerHeader,omitempty"`
	Answer       []byte      `json:"answer,omitempty"`     // the first 4 KiB of the answer's body, which may hold signing links
	AnswerLost   bool        `json:"answerLost,omitempty"` // the work may be done, but the client did not get the answer

	reason string // Message without what the client sent
}

// String is one line: operation, status, and what led to it.
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

// firstSegment returns the first segment of a path only, because the rest of a link is a secret.
func firstSegment(path string) string {
	first, _, more := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if more {
		return "/" + first + "/…"
	}
	return "/" + first
}

// Cut returns the record without what takes the most room: Header, Query, RawQuery, Body, AnswerHeader and Answer.
func (r Record) Cut() Record {
	r.Header, r.Query, r.RawQuery, r.Body, r.AnswerHeader, r.Answer, r.IsCut = nil, nil, "", nil, nil, nil, true
	return r
}

// Weight is about how many bytes Cut frees.
func (r Record) Weight() int {
	n := cap(r.Body) + cap(r.Answer) + len(r.RawQuery)
	for _, m := range []map[string][]string{r.Header, r.Query, r.AnswerHeader} {
		if len(m) > 0 {
			n += 400 // of an empty map
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

// beginning returns the part of a text that a record keeps. It is a copy, so the rest of the request line can be freed.
func beginning(s string) string {
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), signing.MaxName)], ""))
}

// secretWords are in the names of headers and query parameters whose values are not recorded. A key in the wrong one is
// a common mistake, so the names are.
var secretWords = []string{"api-key", "api_key", "apikey", "token", "secret", "authorization", "cookie", "password"}

func isSecret(name string) bool {
	name = strings.ToLower(name)
	return name == "key" || strings.Contains(strings.ReplaceAll(name, "autho", ""), "auth") || // and no author
		slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) })
}

const hidden = "(hidden)"

// withoutSecrets returns headers or a query with the values that are not recorded hidden.
func withoutSecrets(values map[string][]string) map[string][]string {
	kept := maps.Clone(values)
	for name, texts := range kept {
		if isSecret(name) && strings.Join(texts, "") != "" {
			kept[name] = []string{hidden}
		}
	}
	return kept
}

// rawWithoutSecrets is withoutSecrets for a query that cannot be read.
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

// received records a body, or as much of it as was read.
func (r *Record) received(body []byte) {
	r.Body, r.BodySize = slices.Clone(body[:min(len(body), maxRecorded)]), max(r.BodySize, int64(len(body)))
}

// noteUnknown notes the names that are not known ones.
func (r *Record) noteUnknown(where string, names []string, known []string) {
	slices.Sort(names)
	for _, name := range names {
		if len(r.Notes) < maxProblems && !slices.Contains(known, name) {
			r.Notes = append(r.Notes, fmt.Sprintf("ignored %s %.32q%s", where, name, meant(name, known)))
		}
	}
}

// meant names the input that is written with other cases, separators or a plural.
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
