package api

import (
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
	maxRecorded = 64 << 10 // of a body in a Record
	maxAnswer   = 4 << 10  // of an answer's body in a Record
)

// Options are what an API needs. Store and IDs are required.
type Options struct {
	Store     *store.Store
	IDs       *signing.IDs
	Links     signing.Links // for the URLs in answers
	Reminders Limit         // default: SlidingWindow(5, 15 minutes)
	Profile   Profile

	// Intercept, if it is set, is called for every authenticated request whose body could be read. It calls work at most once,
	// or answers itself. To do the work and drop the answer, it calls work with a writer of its own and then panics with
	// http.ErrAbortHandler. A reminder was counted before, and stays counted unless the status written is 429. Intercept is called
	// concurrently.
	Intercept func(w http.ResponseWriter, r *http.Request, c *Call, work func(http.ResponseWriter))

	// Log, if it is set, gets the record of every request once it is answered, concurrently.
	Log func(Record)
}

// API is the handler of the service's public interface. It is safe for concurrent use.
type API struct {
	Options
	routes   []route
	arrivals sync.Mutex // orders the arrivals of reminders
}

// New returns the handler.
func New(o Options) *API {
	if o.Reminders == nil {
		o.Reminders = SlidingWindow(DefaultReminders, DefaultReminderWindow)
	}
	o.Profile = o.Profile.withDefaults()
	return &API{Options: o, routes: routesWith(o.Profile.Routes)}
}

// Call is one request while it is being answered.
type Call struct {
	Operation Operation

	route     *route
	record    *Record
	key       string
	query     url.Values
	malformed error // of the query
	input     input
}

// Note adds a remark to the request's record, for example which fault it met. Call it from Intercept only.
func (c *Call) Note(text string) { c.record.Notes = append(c.record.Notes, text) }

// Names reports whether one of the request's inputs is the id. Call it from Intercept only.
func (c *Call) Names(id string) bool {
	return slices.ContainsFunc([]string{"documentId", "templateId", "formId", "respondentDocumentId", "responseId"}, func(name string) bool {
		return strings.EqualFold(c.input.peek(name), id)
	})
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &Call{record: newRecord(r, a.Store.Now())}
	if c.query, c.malformed = url.ParseQuery(r.URL.RawQuery); c.malformed != nil {
		c.record.RawQuery = rawWithoutSecrets(r.URL.RawQuery)
	}
	c.record.Query = withoutSecrets(c.query)
	aw := &answerWriter{ResponseWriter: w}
	lost := true // until the end is reached: Intercept panics to drop an answer
	defer func() { a.finish(c, aw, lost) }()
	if err := a.admit(c, aw, r); err != nil {
		a.fail(c, aw, err)
	} else if a.Intercept != nil {
		a.Intercept(aw, r, c, func(w http.ResponseWriter) { a.work(c, w) })
	} else {
		a.work(c, aw)
	}
	lost = false
}

// admit takes a request through every step before the work.
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

// authenticate looks at the request's key and workspace.
func (a *API) authenticate(c *Call, r *http.Request) error {
	c.key = r.Header.Get("x-api-key")
	if c.key == "" {
		c.record.Missing = append(c.record.Missing, "x-api-key")
		return &forbidden{rule: "api key", message: "The header x-api-key is missing"}
	}
	known, workspaceID := false, ""
	if err := a.Store.View(func(tx *store.Tx) error {
		known, workspaceID = tx.KnowsKey(c.key), tx.Service().WorkspaceID
		return nil
	}); err != nil {
		return err
	}
	if !known {
		return &forbidden{rule: "api key", message: "The API key is not valid"}
	}
	if id := r.Header.Get("workspaceid"); id != "" && canonicalID(id) != workspaceID {
		return &forbidden{rule: "workspace", message: "The header workspaceid names another workspace than that of the API key"}
	}
	c.record.WorkspaceID = workspaceID
	return nil
}

// arrive counts a reminder, or refuses it. The clock is read under the lock, so that arrivals are counted in order. An arrival that
// counts is durable before the request goes on, whatever its answer.
func (a *API) arrive(c *Call) error {
	if c.Operation != SendReminder {
		return nil
	}
	a.arrivals.Lock()
	defer a.arrivals.Unlock()
	c.record.At = a.Store.Now()
	wait, ok := a.Reminders.Take(c.key, c.record.At)
	if !ok {
		return &limited{limit: a.Reminders, wait: wait}
	}
	if err := a.keepLimit(c.key); err != nil {
		a.Reminders.Return(c.key, c.record.At)
		return err
	}
	c.record.Counted = true
	return nil
}

// keepLimit saves the state of the key's limit, if the store saves anything. The lock of the arrivals is held.
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
		return &badInput{problems: []string{"The query is malformed: its values must be percent-encoded, and its pairs separated by &"}}
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

// readBody accepts an empty body where the inputs may be in the query too. It reads no body that is refused for its header alone.
func (c *Call) readBody(w http.ResponseWriter, r *http.Request) error {
	optional := c.route.Inputs&InQuery != 0
	contentType := r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(contentType)
	otherMedia := err != nil || media != mediaJSON
	switch {
	case r.ContentLength > MaxBody:
		return &tooLarge{}
	case otherMedia && (r.ContentLength > 0 || !optional):
		return &wrongMedia{got: contentType}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	c.record.received(body)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &tooLarge{}
	}
	if err != nil {
		return &badInput{problems: []string{"The body could not be read to its end"}}
	}
	switch {
	case len(body) == 0 && optional:
		return nil
	case otherMedia: // it announced no length
		return &wrongMedia{got: contentType}
	}
	return c.input.decode(body)
}

// work runs the operation and writes its answer.
func (a *API) work(c *Call, w http.ResponseWriter) {
	answer, err := c.route.work(a, c)
	if err != nil {
		a.fail(c, w, err)
		return
	}
	body, err := marshal(answer)
	if err != nil {
		a.fail(c, w, err)
		return
	}
	write(w, http.StatusOK, mediaJSON, body)
}

// fail answers with an error.
func (a *API) fail(c *Call, w http.ResponseWriter, err error) {
	f := failureOf(err)
	if missing, ok := errors.AsType[*store.Missing](err); ok {
		f.message += a.instead(missing)
		f.reason = f.message
	}
	switch f.code {
	case codeInvalidStatus:
		f.status = a.Profile.RefusalStatus
	case codeForbidden:
		f.status = a.Profile.KeyStatus
	}
	c.record.Rule, c.record.Code, c.record.Message, c.record.reason = f.rule, f.code, f.message, f.reason
	if f.header[0] != "" {
		w.Header().Set(f.header[0], f.header[1])
	}
	write(w, f.status, a.Profile.ErrorLayout.media(), a.Profile.ErrorLayout.print(f))
}

// instead says what other record has the id of a missing one, if any.
func (a *API) instead(missing *store.Missing) (text string) {
	a.Store.View(func(tx *store.Tx) error {
		switch kind := tx.KindOf(missing.ID); {
		case kind == "":
		case kind == "document from a template" && missing.What == "document", kind == "form response" && missing.What == "response":
			text = ": it is of another template or form"
		default:
			text = ": this is the id of a " + kind
		}
		return nil
	})
	return text
}

func write(w http.ResponseWriter, status int, media string, body []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // fails when the client has gone, which does not matter here
}

// finish decides what a reminder counts for and hands the record to the log.
func (a *API) finish(c *Call, w *answerWriter, lost bool) {
	c.record.Status, c.record.AnswerHeader, c.record.Answer, c.record.AnswerLost = w.status, w.sent, w.beginning, lost
	if c.record.Counted && w.status == http.StatusTooManyRequests {
		a.arrivals.Lock()
		a.Reminders.Return(c.key, c.record.At)
		a.keepLimit(c.key) // were that to fail, it would count after a restart
		a.arrivals.Unlock()
		c.record.Counted = false
	}
	if a.Log != nil {
		a.Log(*c.record)
	}
}

// answerWriter remembers the answer. Unwrap lets http.ResponseController, and so faults, reach the connection.
type answerWriter struct {
	http.ResponseWriter
	status    int
	sent      http.Header
	beginning []byte // of the body
}

func (w *answerWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.Header().Clone()
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *answerWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status, w.sent = http.StatusOK, w.Header().Clone()
	}
	w.beginning = append(w.beginning, b[:min(len(b), maxAnswer-len(w.beginning))]...)
	return w.ResponseWriter.Write(b)
}

func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
