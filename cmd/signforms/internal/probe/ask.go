package probe

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go"
)

// Asked is one request and its answer.
type Asked struct {
	Method, Path string
	Query        url.Values
	Sent         []byte // the body of the request
	Status       int
	Header       http.Header
	Body         []byte
}

// maxAnswer bounds the body of an answer, in bytes.
const maxAnswer = 32 << 20

// keptBody bounds a body in the report, in bytes.
const keptBody = 256 << 10

// answer is the answer to one request.
type answer struct {
	status int
	header http.Header
	object map[string]json.RawMessage // the body, when it is a JSON object
	text   string
}

// record is one document, template or respondent as the service sent it.
type record map[string]any

var oneMethod = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE)$`)

func (a answer) ok() bool { return a.status/100 == 2 }

// refused reports whether the service refused the request itself. Other failures say nothing about the request.
func (a answer) refused() bool {
	return a.status/100 == 4 && a.status != http.StatusTooManyRequests && a.status != http.StatusRequestTimeout
}

// short describes an answer in a few words, without its content.
func (a answer) short() string {
	text := fmt.Sprintf("status %d", a.status)
	if code := a.str("code"); code != "" && len(code) <= 40 {
		text += " " + code
	}
	if allow := a.header.Get("Allow"); oneMethod.MatchString(allow) {
		text += ", Allow: " + allow
	}
	return text
}

func (a answer) str(name string) (s string) {
	if json.Unmarshal(a.object[name], &s) != nil {
		return ""
	}
	return s
}

// list returns a list in the answer. It is nil when the list is missing or null, or when the value is not a list.
func (a answer) list(name string) (list []record) {
	if json.Unmarshal(a.object[name], &list) != nil {
		return nil
	}
	return list
}

func (a answer) documents() []record { return a.list("documents") }

// total returns how many documents there are in all according to pagination, or -1 when pagination does not say.
func (a answer) total() int {
	var p struct {
		TotalDocuments *int `json:"totalDocuments"`
	}
	if json.Unmarshal(a.object["pagination"], &p) != nil || p.TotalDocuments == nil {
		return -1
	}
	return *p.TotalDocuments
}

// documentedPaths holds the paths of the lists and of void.
var documentedPaths = map[signforms.Operation]string{
	signforms.OpListDocuments: "/get-documents", signforms.OpListRespondents: "/get-template-respondent",
	signforms.OpListResponses: "/get-form-responses", signforms.OpVoidDocument: "/void-document",
}

// get sends a GET request to an operation.
func (r *run) get(ctx context.Context, op signforms.Operation, query url.Values) (answer, error) {
	path := documentedPaths[op]
	if e := r.Endpoints[op]; e.Path != "" {
		path = e.Path
	}
	return r.ask(ctx, http.MethodGet, path, query, nil, r.APIKey)
}

// list asks for documents. params alternates names and values.
func (r *run) list(ctx context.Context, params []string) (answer, error) {
	query := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	return r.get(ctx, signforms.OpListDocuments, query)
}

// ask makes one request. It repeats a GET once when the service is unavailable for a moment.
func (r *run) ask(ctx context.Context, method, path string, query url.Values, body []byte, key string) (answer, error) {
	a, err := r.askOnce(ctx, method, path, query, body, key)
	if err != nil || method != http.MethodGet || !slices.Contains(momentary, a.status) {
		return a, err
	}
	if err := r.Sleep(ctx, retryAfter(a)); err != nil {
		return answer{}, err
	}
	return r.askOnce(ctx, method, path, query, body, key)
}

var momentary = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// retryAfter returns how long to wait before a request is repeated: Retry-After or 5 seconds, and at most a minute.
func retryAfter(a answer) time.Duration {
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil {
		seconds = 5
	}
	return time.Duration(min(max(seconds, 1), 60)) * time.Second
}

// askOnce makes one request. After the first, it waits for Pause before it.
func (r *run) askOnce(ctx context.Context, method, path string, query url.Values, body []byte, key string) (answer, error) {
	if r.begun {
		if err := r.Sleep(ctx, Pause); err != nil {
			return answer{}, err
		}
	}
	r.begun = true
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	target := strings.TrimRight(r.BaseURL, "/") + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return answer{}, fmt.Errorf("the base URL or the path cannot be used")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("User-Agent", "signforms-probe signforms-go/"+signforms.Version())
	req.Header.Set("X-Request-Id", uuid.NewString())
	if r.WorkspaceID != "" {
		req.Header.Set("Workspaceid", r.WorkspaceID)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Body = nil
	}
	resp, err := r.Transport.RoundTrip(req)
	if err != nil {
		return answer{}, unavailable(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil || len(text) > maxAnswer {
		return answer{}, unavailable(errors.Join(err, errors.New("the answer could not be read to its end")))
	}
	r.report.Asked = append(r.report.Asked, Asked{method, path, query, body, resp.StatusCode, resp.Header, text[:min(len(text), keptBody)]})
	a := answer{status: resp.StatusCode, header: resp.Header, text: string(text)}
	if json.Unmarshal(text, &a.object) != nil {
		a.object = nil
	}
	return a, nil
}

// unavailable returns the error for a missing answer, without the URL that net/http puts into errors.
func unavailable(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("the service does not answer: %w", err)
}

// RandomID returns a UUID that no document has.
func RandomID() string { return uuid.NewString() }

// randomKey returns an API key that the service does not know.
func randomKey() string { return "probe-" + strings.ToLower(rand.Text()) }
