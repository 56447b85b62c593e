package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const mediaJSON = "application/json"

const (
	MaxBody     = 10 << 20 // the largest request body that is read
	maxRecorded = 64 << 10 // the largest part of a body in a Record
)

// Options are what an API needs. Store and IDs are required.
type Options struct {
	Store     *store.Store
	IDs       *signing.IDs
	Links     signing.Links // makes the URLs in responses
	Reminders Limit         // default: SlidingWindow(5, 15 minutes)
	Profile   Profile

	// Intercept, if set, is called for every authenticated request whose body could be read, and
	// returns the response. It calls work at most once. A reminder was counted before the call, and
	// stays counted unless the status of the response is 429. Intercept is called concurrently. ctx
	// ends when the client is gone.
	Intercept func(ctx context.Context, c *Call, work func() Answer) Answer

	// Log, if set, gets the record of every request right before the response is sent. It is called
	// concurrently.
	Log func(Record)
}

// API is the handler of the service's public interface. It is safe for concurrent use.
type API struct {
	Options
	routes   []route
	arrivals sync.Mutex // serializes the arrivals of reminders
}

// New returns the handler.
func New(o Options) *API {
	if o.Reminders == nil {
		o.Reminders = SlidingWindow(DefaultReminders, DefaultReminderWindow)
	}
	o.Profile = o.Profile.withDefaults()
	return &API{Options: o, routes: routesWith(o.Profile.Endpoints)}
}

// Call is one request that is being handled.
type Call struct {
	Operation Operation

	route     *route
	record    *Record
	key       string
	query     url.Values
	malformed error // error of the query
	input     input
}

// Note adds a remark to the request's record, for example the fault that applied to it. Call it
// from Intercept only.
func (c *Call) Note(text string) { c.record.Notes = append(c.record.Notes, text) }

// Names reports whether one of the request's inputs is the id. Call it from Intercept only.
func (c *Call) Names(id string) bool {
	return slices.ContainsFunc([]string{"documentId", "templateId", "formId", "respondentDocumentId", "responseId"}, func(name string) bool {
		return strings.EqualFold(c.input.peek(name), id)
	})
}

// ServeHTTP handles one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{record: newRecord(r, a.Store.Now())}
	if c.query, c.malformed = url.ParseQuery(r.URL.RawQuery); c.malformed != nil {
		c.record.RawQuery = rawWithoutSecrets(r.URL.RawQuery)
	}
	c.record.Query = withoutSecrets(c.query)
	answer := a.answer(c, w, r)
	if answer.Status != 0 {
		answer.Header.Set("Content-Length", strconv.Itoa(len(answer.Body)))
	}
	a.finish(c, answer)
	answer.send(w)
}

func (a *API) answer(c *Call, w http.ResponseWriter, r *http.Request) Answer {
	if err := a.admit(c, w, r); err != nil {
		return a.fail(c, err)
	}
	if a.Intercept == nil {
		return a.work(c)
	}
	return a.Intercept(r.Context(), c, func() Answer { return a.work(c) })
}

// admit executes every step before the work of a request.
func (a *API) admit(c *Call, w http.ResponseWriter, r *http.Request) error {
	var err error
	c.route, c.input.path, err = a.match(r)
	if c.route != nil {
		c.Operation, c.record.Operation, c.input.route = c.route.op, c.route.op, c.route
	}
	if err != nil {
		return err
	}
	if r.Method != c.route.Method {
		c.record.Notes = append(c.record.Notes, "answered HEAD as GET")
	}
	if err := a.authenticate(c, r); err != nil {
		return err
	}
	if err := a.arrive(c); err != nil {
		return err
	}
	return c.read(w, r)
}

// authenticate checks the request's key and workspace.
func (a *API) authenticate(c *Call, r *http.Request) error {
	c.key = r.Header.Get("x-api-key")
	if c.key == "" {
		c.record.Missing = append(c.record.Missing, "x-api-key")
		return forbidden("api key", "The header x-api-key is missing")
	}
	known, workspaceID := false, ""
	if err := a.Store.View(func(tx *store.Tx) error {
		known, workspaceID = tx.KnowsKey(c.key), tx.Service().WorkspaceID
		return nil
	}); err != nil {
		return err
	}
	if !known {
		return forbidden("api key", "The API key is not valid")
	}
	if id := r.Header.Get("workspaceid"); id != "" && canonicalID(id) != workspaceID {
		return forbidden("workspace", "The header workspaceid names another workspace than that of the API key")
	}
	c.record.WorkspaceID = workspaceID
	return nil
}

// arrive counts a reminder, or refuses it. The clock is read under the lock, so that arrivals are
// counted in order. A counted arrival is durable before the request continues, whatever its
// response.
func (a *API) arrive(c *Call) error {
	if c.Operation != SendReminder {
		return nil
	}
	a.arrivals.Lock()
	defer a.arrivals.Unlock()
	c.record.At = a.Store.Now()
	wait, ok := a.Reminders.Take(c.key, c.record.At)
	if !ok {
		return limited(a.Reminders, wait)
	}
	if err := a.keepLimit(c.key); err != nil {
		a.Reminders.Return(c.key, c.record.At)
		return err
	}
	c.record.Counted = true
	return nil
}

// keepLimit saves the state of the key's limit, if the store saves anything. The caller holds the
// lock of the arrivals.
func (a *API) keepLimit(key string) error {
	if !a.Store.Durable() {
		return nil
	}
	return a.Store.Update(func(tx *store.Tx) error {
		tx.PutLimit(key, a.Reminders.State(key))
		return nil
	})
}

// RestoreLimits replaces the states of all limits by those in the store.
func (a *API) RestoreLimits() {
	a.arrivals.Lock()
	defer a.arrivals.Unlock()
	a.Reminders.Reset()
	a.Store.View(func(tx *store.Tx) error {
		tx.Limits(a.Reminders.Restore)
		return nil
	})
}

// read reads the request's inputs.
func (c *Call) read(w http.ResponseWriter, r *http.Request) error {
	if c.malformed != nil {
		return badInput("The query is malformed: its values must be percent-encoded, and its pairs separated by &")
	}
	if c.route.Inputs&InQuery != 0 {
		c.input.query = c.query
	}
	if c.route.Inputs&InBody != 0 {
		if err := c.readBody(w, r); err != nil {
			return err
		}
	}
	c.input.takeOtherNames()
	c.noteInputs()
	return nil
}

// readBody reads the body. It accepts an empty body if the inputs may be in the query too. If the
// header alone is reason to refuse the request, readBody reads nothing.
func (c *Call) readBody(w http.ResponseWriter, r *http.Request) error {
	optional := c.route.Inputs&InQuery != 0
	contentType := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	otherMedia := err != nil || media != mediaJSON
	switch {
	case r.ContentLength > MaxBody:
		return tooLarge()
	case otherMedia && (r.ContentLength > 0 || !optional):
		return wrongMedia(contentType)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	c.record.received(body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge()
	}
	if err != nil {
		return badInput("The body could not be read to its end")
	}
	switch {
	case len(body) == 0 && optional:
		return nil
	case otherMedia: // the request announced no length
		return wrongMedia(contentType)
	}
	return c.input.decode(body)
}

// work runs the operation.
func (a *API) work(c *Call) Answer {
	result, err := c.route.work(a, c)
	if err != nil {
		return a.fail(c, err)
	}
	body, err := marshal(result)
	if err != nil {
		return a.fail(c, err)
	}
	return answerOf(http.StatusOK, mediaJSON, body)
}

// fail returns the response for an error.
func (a *API) fail(c *Call, err error) Answer {
	f := failureOf(err)
	switch f.code {
	case codeInvalidStatus:
		f.status = a.Profile.RefusalStatus
	case codeForbidden:
		f.status = a.Profile.KeyStatus
	}
	c.record.Rule, c.record.Code, c.record.Message, c.record.reason = f.rule, f.code, f.message, f.reason
	answer := answerOf(f.status, mediaJSON, a.Profile.ErrorLayout.print(f))
	if f.header[0] != "" {
		answer.Header.Set(f.header[0], f.header[1])
	}
	return answer
}

// finish decides whether a reminder counts, and passes the record to the log.
func (a *API) finish(c *Call, answer Answer) {
	c.record.answered(answer)
	if c.record.Counted && answer.Status == http.StatusTooManyRequests {
		a.arrivals.Lock()
		a.Reminders.Return(c.key, c.record.At)
		a.keepLimit(c.key) // if this fails, the reminder counts after a restart
		a.arrivals.Unlock()
		c.record.Counted = false
	}
	if a.Log != nil {
		a.Log(*c.record)
	}
}
