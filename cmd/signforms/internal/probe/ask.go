package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signforms/signforms-go"
)

// Asked is one request and its answer.
type Asked struct {
	Operation signforms.Operation // signforms.OpRequest for a path that does not exist
	Method    string
	Query     url.Values
	Sent      []byte // the body of the request
	Status    int    // 0 when there was no answer
	Header    http.Header
	Body      []byte // of the answer; at most 64 KiB of an error's
}

// question is one call of the SDK.
type question struct {
	do  func(context.Context, *signforms.Client) (page, error)
	set []string // inputs that the SDK would refuse to send: names, each with its value; an empty value takes the input out

	endpoints      map[signforms.Operation]signforms.Endpoint // nil means what is known so far
	key, workspace string                                     // empty means the user's
}

// page is a list as the SDK decoded it. The other operations have no records.
type page struct {
	records []record
	raw     []byte
}

// record is one document, template, respondent or response.
type record struct {
	id      string
	created time.Time // zero where the SDK cannot read it
	doc     *signforms.Document
	raw     map[string]json.RawMessage // as the service sent it
}

// answer is what the SDK made of an answer.
type answer struct {
	page
	Asked
	in     map[string]string // the inputs by the SDK's names
	path   string
	id     string // the x-request-id, which an answer may echo
	err    error  // the SDK's
	counts counts
}

func pageOf[T any](p *signforms.Page[T], err error, list string, of func(*T) record) (page, error) {
	if err != nil {
		return page{}, err
	}
	out := page{raw: plain(p.Raw)}
	raws := rawList(out.raw, list)
	for i := range p.Items {
		rec := of(&p.Items[i])
		if len(raws) == len(p.Items) {
			rec.raw = raws[i]
		}
		out.records = append(out.records, rec)
	}
	return out, nil
}

func object(text []byte) (o map[string]json.RawMessage) {
	unmarshal(text, &o)
	return o
}

// plain returns a text without the byte order mark that some services write first.
func plain(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

func rawList(text []byte, list string) (raws []map[string]json.RawMessage) {
	value := object(text)[list]
	if one := object(value); one != nil {
		return []map[string]json.RawMessage{one}
	}
	if !unmarshal(value, &raws) {
		return nil
	}
	return raws
}

func ofDocument(d *signforms.Document) record {
	return record{id: d.DocumentID, created: d.CreatedAt, doc: d}
}

// documents asks for documents.
func (r *run) documents(ctx context.Context, p signforms.DocumentListParams, set ...string) answer {
	return r.documentsBy(ctx, nil, p, set...)
}

// documentsBy does the same with other endpoints than those known so far.
func (r *run) documentsBy(ctx context.Context, e map[signforms.Operation]signforms.Endpoint, p signforms.DocumentListParams, set ...string) answer {
	if r.second && p.Page == 0 && !slices.Contains(set, "page") {
		set = append(set, "page", "0")
	}
	return r.ask(ctx, question{set: set, endpoints: e, do: listDocuments(p)})
}

func listDocuments(p params) func(context.Context, *signforms.Client) (page, error) {
	return func(ctx context.Context, c *signforms.Client) (page, error) {
		list, err := c.Documents.List(ctx, p)
		return pageOf(list, err, "documents", ofDocument)
	}
}

// twice asks again where the answer says that there are no records: a list may be empty for a moment.
func twice(ask func() answer) answer {
	a := ask()
	if a.none() {
		a = ask()
	}
	return a
}

func (a answer) ok() bool { return a.err == nil }

// none reports whether the answer says that there are no records.
func (a answer) none() bool { return a.ok() && len(a.records) == 0 || a.missing() }

// missing reports whether the service says that there is no such record.
func (a answer) missing() bool {
	return errors.Is(a.err, signforms.ErrNotFound) && a.Status != http.StatusGone
}

// refused reports whether the service refused what was asked. Other errors say nothing about the inputs.
func (a answer) refused() bool {
	if a.ok() || errors.Is(a.err, signforms.ErrForbidden) || errors.Is(a.err, signforms.ErrRateLimited) {
		return false
	}
	known := errors.Is(a.err, signforms.ErrInvalid) || errors.Is(a.err, signforms.ErrNotFound) || errors.Is(a.err, signforms.ErrRefused)
	return known && (a.Status/100 == 4 || a.Status/100 == 2)
}

// settled reports whether the service answered as it would at any time.
func (a answer) settled() bool {
	passing := a.Status == http.StatusTooManyRequests || a.Status == http.StatusRequestTimeout
	return a.Status >= 200 && a.Status < 500 && !passing
}

// taken reports whether the service took the inputs, or refused them otherwise than the wire format assumes.
func (a answer) taken() bool { return a.ok() || a.refused() }

// invalid reports whether the service refused the inputs as the wire format assumes.
func (a answer) invalid() bool { return a.Status == http.StatusBadRequest && a.refused() }

var knownCodes = []string{"invalid_input", "forbidden", "not_found", "invalid_status", "rate_limited", "method_not_allowed", "too_large", "unsupported_media_type"}

var oneMethod = regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE)$`)

// short describes an answer in a few words, without its content.
func (a answer) short() string {
	text := fmt.Sprintf("status %d", a.Status)
	e, _ := errors.AsType[*signforms.Error](a.err)
	switch {
	case a.Status == 0:
		return "no answer"
	case e == nil:
		return text
	case slices.Contains(knownCodes, e.Code):
		text += " " + e.Code
	case a.Status/100 == 2 && strings.HasPrefix(e.Message, "unreadable"):
		return text + " that the SDK cannot read"
	case a.Status/100 == 2:
		text += " that says it failed"
	}
	if allow := a.Header.Get("Allow"); oneMethod.MatchString(allow) {
		text += ", Allow: " + allow
	}
	return text
}

// client returns the SDK's client for a question, whose requests go through w.
func (r *run) client(q question, w *wire) (*signforms.Client, error) {
	endpoints := q.endpoints
	if endpoints == nil {
		endpoints = r.report.Endpoints
	}
	w.run, w.set, w.endpoints = r, map[string]string{}, endpoints
	for i := 0; i+1 < len(q.set); i += 2 {
		name := q.set[i]
		w.set[cmp.Or(endpoints[signforms.OpListDocuments].Names[name], name)] = q.set[i+1]
	}
	return signforms.New(r.BaseURL, cmp.Or(q.key, r.APIKey), &signforms.Options{
		WorkspaceID: cmp.Or(q.workspace, r.WorkspaceID), UserAgent: "signforms-probe", HTTPClient: &http.Client{Transport: w}, MaxAttempts: 1,
		AttemptTimeout: r.Timeout, LimitStore: r.LimitStore, Endpoints: endpoints,
		OnCall: func(ctx context.Context, op signforms.Operation) (context.Context, func(error)) { // before AttemptTimeout begins
			w.asked.Operation = op
			if len(r.report.Asked) > 0 && r.stop == nil {
				r.stop = r.wait(ctx, Pause)
			}
			return ctx, func(error) {}
		},
	})
}

// ask makes one call. It repeats a GET once when the service is unavailable for a moment.
func (r *run) ask(ctx context.Context, q question) answer {
	a := r.once(ctx, q)
	e, _ := errors.AsType[*signforms.Error](a.err)
	if r.stop == nil && e != nil && a.Method == http.MethodGet && (slices.Contains(momentary, a.Status) || errors.Is(e, signforms.ErrRateLimited)) {
		wait := min(max(cmp.Or(e.RetryAfter, 5*time.Second), time.Second), time.Minute)
		if r.stop = r.wait(ctx, wait); r.stop == nil {
			a = r.once(ctx, q)
		}
	}
	return a
}

var momentary = []int{0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

func (r *run) once(ctx context.Context, q question) answer {
	if r.stop != nil {
		return answer{err: r.stop}
	}
	w := &wire{}
	c, err := r.client(q, w)
	if err != nil {
		return answer{err: err}
	}
	bounded, cancel := context.WithTimeout(ctx, r.mostTime()-r.spent())
	defer cancel()
	p, err := q.do(bounded, c)
	a := answer{page: p, Asked: w.asked, in: w.inputs(), path: w.path, id: w.id, err: err}
	if r.stop == nil && ctx.Err() != nil {
		r.stop = ctx.Err()
	} else if ctx.Err() == nil && bounded.Err() != nil {
		r.stop = errEnough
	}
	if e, ok := errors.AsType[*signforms.Error](err); ok && a.Status != 0 {
		a.Body = plain(e.Body)
	} else if p.raw != nil {
		a.Body = p.raw
	}
	a.counts = countsOf(a.raw)
	if w.sent {
		r.report.Asked[len(r.report.Asked)-1] = a.Asked
		if r.silent++; a.Status != 0 {
			r.silent = 0
		}
		if r.silent > 1 && r.stop == nil {
			r.stop = fmt.Errorf("the service does not answer: %w", cause(err))
		}
		if own := q.key == "" && q.workspace == ""; own && slices.Contains(listOperations, a.Operation) && (!a.ok() || a.raw != nil) {
			r.seen = append(r.seen, a)
		}
	}
	return a
}

var listOperations = []signforms.Operation{signforms.OpListDocuments, signforms.OpListRespondents, signforms.OpListResponses}

// inputs returns what was sent in the query by the SDK's names.
func (w *wire) inputs() map[string]string {
	in := map[string]string{}
	for name := range w.asked.Query {
		in[name] = w.asked.Query.Get(name)
	}
	for name, own := range w.endpoints[w.asked.Operation].Names {
		if value, sent := in[own]; sent {
			delete(in, own)
			in[name] = value
		}
	}
	return in
}

// cause returns why there was no answer.
func cause(err error) error {
	if e, ok := errors.AsType[*signforms.Error](err); ok {
		return errors.New(e.Message)
	}
	return err
}

// wait waits within the time of a run.
func (r *run) wait(ctx context.Context, d time.Duration) error {
	if r.spent()+d > r.mostTime() {
		return errEnough
	}
	start := time.Now()
	err := r.Sleep(ctx, d)
	r.skipped += d - time.Since(start)
	return err
}

// spent is how long the run has taken.
func (r *run) spent() time.Duration { return time.Since(r.start) + r.skipped }

// wire is the transport of one call. It keeps the number of GETs, changes the inputs as the question says, and keeps what was sent.
type wire struct {
	run       *run
	set       map[string]string
	endpoints map[signforms.Operation]signforms.Endpoint
	asked     Asked
	path      string
	id        string
	sent      bool
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	r := w.run
	if r.gets() >= r.mostGets()-r.kept && req.Method == http.MethodGet {
		r.stop = errEnough
	}
	if r.stop != nil {
		return nil, r.stop
	}
	req = req.Clone(req.Context())
	query := req.URL.Query()
	for name, value := range w.set {
		switch _, sent := query[name]; {
		case value == "":
			query.Del(name)
		case sent || req.ContentLength <= 0: // else it is in the body alone
			query.Set(name, value)
		}
	}
	req.URL.RawQuery = query.Encode()
	w.sent, w.path, w.id = true, req.URL.Path, req.Header.Get("X-Request-Id")
	w.asked.Method, w.asked.Query, w.asked.Status, w.asked.Header = req.Method, query, 0, nil
	if req.ContentLength > 0 {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		w.asked.Sent = w.changed(body)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(w.asked.Sent)), int64(len(w.asked.Sent))
	}
	r.report.Asked = append(r.report.Asked, w.asked)
	resp, err := r.Transport.RoundTrip(req)
	if err == nil {
		w.asked.Status, w.asked.Header = resp.StatusCode, resp.Header
	}
	return resp, err
}

// changed returns a flat body with the inputs of the question.
func (w *wire) changed(body []byte) []byte {
	var inputs map[string]any
	if len(w.set) == 0 || !unmarshal(body, &inputs) {
		return body
	}
	for name, value := range w.set {
		if _, sent := inputs[name]; sent {
			inputs[name] = value
		}
	}
	body, _ = json.Marshal(inputs) // cannot fail for what was decoded
	return body
}

func (r *run) gets() (n int) {
	for _, a := range r.report.Asked {
		if a.Method == http.MethodGet {
			n++
		}
	}
	return n
}

func (r *run) mostGets() int {
	if r.Mutating || r.trial {
		return MostGets + MostLooks
	}
	return MostGets
}

func (r *run) mostTime() time.Duration {
	most := MostTime - time.Second // for the trial of what was found
	if r.Mutating || r.trial {
		most += MostTime
	}
	return most
}

// with returns the endpoints known so far with one of them changed.
func (r *run) with(op signforms.Operation, change func(*signforms.Endpoint)) map[signforms.Operation]signforms.Endpoint {
	all := maps.Clone(r.report.Endpoints)
	e := all[op]
	e.Names, e.Values = maps.Collect(maps.All(e.Names)), maps.Collect(maps.All(e.Values)) // never nil
	change(&e)
	if len(e.Names) == 0 {
		e.Names = nil
	}
	if len(e.Values) == 0 {
		e.Values = nil
	}
	if all[op] = e; reflect.ValueOf(e).IsZero() {
		delete(all, op)
	}
	return all
}

func randomID() string { return uuid.NewString() }
