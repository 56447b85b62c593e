package signforms

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

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
	calls      *call.Client
	options    Options
	operations map[Operation]operation
	budget     *reminderlimit.Budget
}

// New returns a client of the service at baseURL, an absolute http or https URL with an ASCII host, which may have a path
// prefix without escapes. New sends nothing. For invalid settings it returns an [*Error] that matches ErrInvalid and
// lists all of them in its Fields.
func New(baseURL, apiKey string, opts *Options) (*Client, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o = o.withDefaults()
	var wrong checks
	base, problem := canonicalURL(baseURL)
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
		calls: call.New(call.Settings{
			Transport: o.Transport, Key: call.NewSecret(apiKey), WorkspaceID: o.WorkspaceID,
			UserAgent:      strings.TrimSpace(o.UserAgent + " signforms-go/" + Version()),
			AttemptTimeout: o.AttemptTimeout, MaxAttempts: o.MaxAttempts,
			RetryWaitMin: o.RetryWaitMin, RetryWaitMax: o.RetryWaitMax,
		}),
	}
	return &Client{&DocumentsService{c}, &TemplatesService{c}, &RespondentsService{c}, &FormsService{c}, &FormResponsesService{c}, c}, nil
}

// BaseURL returns the base URL with its scheme and host in lower case, without a default port and without a slash at its
// end.
func (c *Client) BaseURL() string { return c.caller.base }

// WorkspaceID returns [Options.WorkspaceID].
func (c *Client) WorkspaceID() string { return c.caller.options.WorkspaceID }

// hostText and pathText match the valid characters of a lower-case host and of a path.
var (
	hostText = regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$`)
	pathText = regexp.MustCompile(`^(/[\w!$&'()*+,;=:@~.-]+)*$`)
)

// canonicalURL returns a base URL in the form that requests use: with its scheme and host in lower
// case, without a default port and without a slash at its end. problem is empty, or says why the
// URL cannot be used.
func canonicalURL(s string) (base, problem string) {
	u, err := url.Parse(strings.TrimRight(s, "/"))
	if err != nil {
		return "", "cannot be parsed; it should look like https://api.example.com"
	}
	defaultPort := map[string]uint64{"http": 80, "https": 443}[u.Scheme]
	port, err := strconv.ParseUint(cmp.Or(u.Port(), strconv.FormatUint(defaultPort, 10)), 10, 16)
	host := strings.ToLower(u.Hostname())
	addr, ipErr := netip.ParseAddr(host)
	switch {
	case defaultPort == 0 || host == "":
		return "", "must begin with http:// or https:// and a host, such as https://api.example.com"
	case u.User != nil, u.RawQuery != "" || u.ForceQuery, strings.Contains(s, "#"):
		return "", "must have no user, query or fragment"
	case err != nil || port == 0:
		return "", "must have a port from 1 to 65535"
	case !hostText.MatchString(host) && (ipErr != nil || addr.Zone() != ""):
		return "", "must have a host of ASCII letters, digits, dots, - and _, or an IP address without a zone"
	case !pathText.MatchString(u.EscapedPath()) || hasDots(u.Path):
		return "", "must have a path without escapes, empty segments and segments of dots"
	}
	if ipErr == nil && addr.Is6() {
		host = "[" + addr.String() + "]"
	}
	if port != defaultPort {
		host += ":" + strconv.FormatUint(port, 10)
	}
	return u.Scheme + "://" + host + u.Path, ""
}
