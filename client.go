package signforms

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/signforms/signforms-go/internal/call"
	"github.com/signforms/signforms-go/internal/reminderlimit"
)

// A Client calls the Signing and Forms Service. It is safe for concurrent use and never changes after [New].
type Client struct {
	Documents     *DocumentsService
	Templates     *TemplatesService
	Respondents   *RespondentsService
	Forms         *FormsService
	FormResponses *FormResponsesService

	caller *caller
}

// caller makes the calls of a client.
type caller struct {
	base       string
	calls      call.Settings
	options    Options
	operations map[Operation]operation
	budget     *reminderlimit.Budget
}

// Options are the settings of a [Client]. Nil and the zero value mean the defaults.
type Options struct {
	// WorkspaceID is sent as the workspaceid header when not empty. Default: no header.
	WorkspaceID string
	// HTTPClient: only its Transport is used; nil is http.DefaultTransport as it is when a request is sent.
	//
	// A Transport must send each request once, and must not return while one that it wraps is still at work: one that
	// falls back to another protocol may send twice. Requests of its own, such as for a token, need a context of their
	// own.
	HTTPClient *http.Client
	// UserAgent precedes the SDK's own token, signforms-go/Version, in the User-Agent header.
	UserAgent string
	// AttemptTimeout bounds each attempt, from looking up the host to the last byte of the answer. The time that the
	// LimitStore takes to give a slot counts; waiting for a slot, or between attempts, does not. Default: 30 s. At most 24
	// h: a process that crashes during a reminder holds its slot for AttemptTimeout + 16 min 1 s.
	AttemptTimeout time.Duration
	// MaxAttempts is the largest number of requests for one call; 1 means no retries. Default: 4. The package
	// documentation says after what an operation is repeated.
	MaxAttempts int
	// RetryWaitMin and RetryWaitMax bound the wait before a retry. It is random, from half of RetryWaitMin to an end that
	// is RetryWaitMin at first and doubles with each retry. A Retry-After of up to RetryWaitMax is obeyed instead; with a
	// longer one the call returns at once. Defaults: 500 ms and 30 s, each moved to keep RetryWaitMin at or below
	// RetryWaitMax.
	RetryWaitMin, RetryWaitMax time.Duration
	// ReminderMaxWait is how long one Remind call may wait for slots of the reminder budget, all its attempts together. 0,
	// the default, means not at all. Negative means as long as the context allows.
	ReminderMaxWait time.Duration
	// LimitStore keeps the reminder budget. Default: one in-memory store for the whole process, in which clients with the
	// same base URL and API key share one budget. Processes that share a key need a shared store. Each [testing/synctest]
	// bubble must use a store of its own ([NewMemoryLimitStore]; the options of signformstest have one): calls wake each
	// other, which is fatal across a bubble's border, and a store in a file follows the clock of the machine.
	LimitStore LimitStore
	// Endpoints overrides where operations are. Operations that are not in it keep their defaults.
	Endpoints map[Operation]Endpoint
	// OnAttempt is called after each attempt, with the call's context, for logs, metrics and traces. It runs in the
	// goroutine of the call. It must be safe for concurrent use and should return quickly.
	OnAttempt func(context.Context, Attempt)
	// OnCall is called at the start of each operation. Each page of a list is one, and so is each reminder of RemindAll.
	// It returns the context to go on with and a function, which is called at the end with the operation's error, or one
	// that says that a hook or the Transport panicked; neither may be nil. An answer without the record, for which Get,
	// Respondent and Response return ErrNotFound, is no error here. Both run in the goroutine of the call, must be safe
	// for concurrent use and should return quickly.
	OnCall func(context.Context, Operation) (_ context.Context, end func(error))
}

// Attempt describes one request and its result, for [Options.OnAttempt]. It has no inputs and no body, and printing it
// shows no secret.
type Attempt struct {
	Operation Operation
	// RequestID is the x-request-id, the same for all attempts of a call.
	RequestID string
	// Number counts the attempts of a call from 1.
	Number int
	// StatusCode is 0 when there was no answer.
	StatusCode int
	// Err says why there was no answer, or why a 2xx could not be read to its end. It is an [*Error] that matches its
	// cause and no sentinel. It is nil after any complete answer, even one for which the call returns an error.
	Err error
	// SlotWait is how long a reminder waited for a slot of the reminder budget.
	SlotWait time.Duration
	// Duration runs from the start of the attempt, after SlotWait, to the call of OnAttempt, right after the end of the
	// answer. For a reminder it includes the time that the LimitStore takes to give the slot and to hear of the outcome.
	Duration time.Duration
}

// New returns a client of the service at baseURL, an absolute http or https URL that may have a path prefix: a host in
// small ASCII letters, and no escapes. New sends nothing. For wrong settings it returns an [*Error] that matches
// ErrInvalid; its Fields are all of them.
func New(baseURL, apiKey string, opts *Options) (*Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o = o.withDefaults()
	var wrong checks
	base, problem := checkBaseURL(baseURL)
	if problem != "" {
		wrong.add("baseURL", problem)
	}
	if apiKey == "" {
		wrong.add("apiKey", "must not be empty")
	}
	wrong.header("apiKey", apiKey)
	ops := wrong.operationsWith(o.Endpoints)
	wrong.options(o)
	if err := wrong.err(method{name: "new client"}); err != nil {
		return nil, err
	}
	c := &caller{
		base: base, options: o, operations: ops, budget: newBudget(o.LimitStore, o.AttemptTimeout, base, apiKey),
		calls: call.Settings{
			Transport: o.HTTPClient.Transport, Key: call.NewSecret(apiKey), WorkspaceID: o.WorkspaceID,
			UserAgent:      strings.TrimSpace(o.UserAgent + " signforms-go/" + Version()),
			AttemptTimeout: o.AttemptTimeout, MaxAttempts: o.MaxAttempts,
			RetryWaitMin: o.RetryWaitMin, RetryWaitMax: o.RetryWaitMax,
		},
	}
	return &Client{&DocumentsService{c}, &TemplatesService{c}, &RespondentsService{c}, &FormsService{c}, &FormResponsesService{c}, c}, nil
}

// BaseURL returns the base URL without a slash at its end. Two clients with the same one have the same service.
func (c *Client) BaseURL() string { return c.caller.base }

// WorkspaceID returns [Options.WorkspaceID].
func (c *Client) WorkspaceID() string { return c.caller.options.WorkspaceID }

func (o Options) withDefaults() Options {
	o.HTTPClient = cmp.Or(o.HTTPClient, http.DefaultClient)
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, 30*time.Second)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 4)
	if o.RetryWaitMin == 0 {
		o.RetryWaitMin = 500 * time.Millisecond
		if o.RetryWaitMax > 0 {
			o.RetryWaitMin = min(o.RetryWaitMin, o.RetryWaitMax)
		}
	}
	if o.RetryWaitMax == 0 {
		o.RetryWaitMax = max(30*time.Second, o.RetryWaitMin)
	}
	if o.LimitStore == nil {
		o.LimitStore = process.store
	}
	return o
}

// maxAttemptTimeout keeps the hold of a slot within the range of time.Duration.
const maxAttemptTimeout = 24 * time.Hour

// options checks what withDefaults returns, but for the endpoints.
func (c *checks) options(o Options) {
	c.header("Options.WorkspaceID", o.WorkspaceID)
	c.header("Options.UserAgent", o.UserAgent)
	if o.AttemptTimeout < 0 || o.AttemptTimeout > maxAttemptTimeout {
		c.add("Options.AttemptTimeout", "must be from 0 (which means 30 s) to 24 h")
	}
	if o.MaxAttempts < 0 {
		c.add("Options.MaxAttempts", "must be 1 or more (0 means 4)")
	}
	if o.RetryWaitMax < 0 {
		c.add("Options.RetryWaitMax", "must not be negative")
	}
	if o.RetryWaitMin < 0 || o.RetryWaitMax >= 0 && o.RetryWaitMax < o.RetryWaitMin {
		c.add("Options.RetryWaitMin", "must not be negative, nor above RetryWaitMax")
	}
	if v := reflect.ValueOf(o.LimitStore); v.Kind() == reflect.Pointer && v.IsNil() {
		c.add("Options.LimitStore", fmt.Sprintf("is a nil %T: leave it out for the default", o.LimitStore))
	} else if s, ok := o.LimitStore.(*MemoryLimitStore); ok && s.now == nil {
		c.add("Options.LimitStore", "is a zero MemoryLimitStore: use NewMemoryLimitStore")
	} else if !v.Comparable() {
		c.add("Options.LimitStore", fmt.Sprintf("%T is not comparable: use a pointer", o.LimitStore))
	}
}

func (c *checks) header(field, value string) {
	if value != strings.TrimSpace(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		c.add(field, "must be printable and without blanks at its ends")
	}
}

// hostText and pathText leave hosts and paths one spelling, so that the clients of one service share a budget.
var (
	hostText = regexp.MustCompile(`^([a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(:[1-9][0-9]*)?$`)
	pathText = regexp.MustCompile(`^(/[\w!$&'()*+,;=:@~.-]+)*$`)
)

// checkBaseURL returns a base URL without slashes at its end. problem says why it cannot be used, or is empty.
func checkBaseURL(s string) (base, problem string) {
	base = strings.TrimRight(s, "/")
	u, err := url.Parse(base)
	if err != nil {
		return "", "cannot be parsed; it should look like https://api.example.com"
	}
	ownPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	addr, err := netip.ParseAddr(u.Hostname())
	switch {
	case ownPort == "" || !strings.HasPrefix(base, u.Scheme+"://") || u.Hostname() == "":
		problem = "must begin with http:// or https:// and a host, such as https://api.example.com"
	case u.User != nil, u.RawQuery != "" || u.ForceQuery, u.Fragment != "":
		problem = "must have no user, query or fragment"
	case !hostText.MatchString(u.Host) || u.Port() == ownPort:
		problem = "must have its host in small ASCII letters, with no dot behind it, and no port that is the scheme's own"
	case err == nil && addr.String() != u.Hostname():
		problem = "must have its IPv6 address in the shortest form, such as [::1]"
	case !pathText.MatchString(u.EscapedPath()) || hasDots(u.Path):
		problem = "must have a path without escapes, empty segments and segments of dots"
	}
	return base, problem
}
