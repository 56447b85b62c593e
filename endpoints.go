package signforms

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/call"
)

var (
	listDocuments     = method{OpListDocuments, "list documents"}
	getDocument       = method{OpListDocuments, "get document"}
	voidDocument      = method{OpVoidDocument, "void document"}
	sendReminder      = method{OpRemind, "send reminder"}
	listTemplates     = method{OpListDocuments, "list templates"}
	getTemplate       = method{OpListDocuments, "get template"}
	sendTemplate      = method{OpSend, "send template"}
	listRespondents   = method{OpListRespondents, "list respondents"}
	getRespondent     = method{OpListRespondents, "get respondent"}
	sendForm          = method{OpSend, "send form"}
	listFormResponses = method{OpListFormResponses, "list form responses"}
	getFormResponse   = method{OpListFormResponses, "get form response"}
	doRequest         = method{opRequest, "request"}
)

type operation struct {
	Endpoint
	class      call.Class
	pathInputs []string // names of inputs that Path may contain
}

// operations is the only table of methods, paths, inputs and their places. The service documents
// all paths, and the methods of lists and sends. It does not document the methods of void and
// reminder, nor where it reads their inputs: its description calls documentId a "path/query input".
// Inputs in the query and the body serve a service that reads either.
var operations = map[Operation]operation{
	OpListDocuments:     {Endpoint{http.MethodGet, "/get-documents", InputsQuery, false}, call.Safe, []string{"documentId", "documentType"}},
	OpVoidDocument:      {Endpoint{http.MethodPost, "/void-document", InputsBoth, false}, call.Idempotent, ofDocument},
	OpRemind:            {Endpoint{http.MethodPost, "/send-reminder", InputsBoth, false}, call.NotRepeatable, ofDocument},
	OpSend:              {Endpoint{http.MethodPost, "/pdf-template-lambda", InputsBody, false}, call.NotRepeatable, []string{"documentId", "signingType"}},
	OpListRespondents:   {Endpoint{http.MethodGet, "/get-template-respondent", InputsQuery, false}, call.Safe, []string{"templateId", "respondentDocumentId"}},
	OpListFormResponses: {Endpoint{http.MethodGet, "/get-form-responses", InputsQuery, false}, call.Safe, []string{"formId", "responseId"}},
}

var ofDocument = []string{"documentId", "documentType", "responseId"}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

var httpMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// operationsWith returns the operations with the caller's endpoints, after checking them.
func (c *checks) operationsWith(overrides map[Operation]Endpoint) map[Operation]operation {
	ops := maps.Clone(operations)
	for _, op := range slices.Sorted(maps.Keys(overrides)) {
		o, ok := ops[op]
		if !ok {
			c.add("Options.Endpoints", fmt.Sprintf("holds %q, which is not an operation: use one of the Op constants", op))
			continue
		}
		o = o.with(overrides[op])
		for _, problem := range o.problems(op, overrides[op]) {
			c.add(fmt.Sprintf("Options.Endpoints[%q]", op), "cannot be used: "+problem)
		}
		ops[op] = o
	}
	c.noneShared(ops, overrides)
	return ops
}

// noneShared refuses two operations with the same method and path, because a void, which is
// repeated, could then send reminders without a slot. On the path of a send or reminder, only a GET
// counts as another method, because a service may not distinguish the other methods.
func (c *checks) noneShared(ops map[Operation]operation, overrides map[Operation]Endpoint) {
	names := slices.Sorted(maps.Keys(ops))
	for _, op := range slices.Sorted(maps.Keys(overrides)) {
		for _, other := range names {
			_, both := overrides[other]
			if op == other || both && other < op {
				continue
			}
			a, b := ops[op], ops[other]
			mail := a.class == call.NotRepeatable || b.class == call.NotRepeatable
			written := a.Method != http.MethodGet && b.Method != http.MethodGet
			if samePath(a.Path, b.Path) && (a.Method == b.Method || mail && written) {
				c.add(fmt.Sprintf("Options.Endpoints[%q]", op), fmt.Sprintf("cannot be used: Path %q is that of %q", a.Path, other))
			}
		}
	}
}

func samePath(a, b string) bool {
	a, b = placeholder.ReplaceAllString(a, "{}"), placeholder.ReplaceAllString(b, "{}")
	return strings.EqualFold(strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/"))
}

// with returns the operation overridden by e.
func (o operation) with(e Endpoint) operation {
	o.Method, o.Path, o.Inputs = cmp.Or(e.Method, o.Method), cmp.Or(e.Path, o.Path), cmp.Or(e.Inputs, o.Inputs)
	o.IgnoreTotals = e.IgnoreTotals
	if o.Method == http.MethodGet {
		o.Inputs = InputsQuery
	}
	return o
}

// problems returns the problems of an operation that was overridden by e.
func (o operation) problems(op Operation, e Endpoint) (problems []string) {
	if e.IgnoreTotals && op != OpListDocuments && op != OpListRespondents && op != OpListFormResponses {
		problems = append(problems, "IgnoreTotals is for lists only")
	}
	if !slices.Contains(httpMethods, o.Method) {
		problems = append(problems, fmt.Sprintf("Method %q is not one of %s", o.Method, strings.Join(httpMethods, ", ")))
	}
	switch {
	case !slices.Contains([]Inputs{"", InputsQuery, InputsBody, InputsBoth}, e.Inputs):
		problems = append(problems, fmt.Sprintf("Inputs %q is not query, body or both", e.Inputs))
	case op == OpSend && o.Inputs != InputsBody: // also for a GET, whose inputs are in the query
		problems = append(problems, "its inputs are nested and need a body: leave Inputs empty and the Method other than GET")
	case o.Method == http.MethodGet && e.Inputs != "" && e.Inputs != InputsQuery:
		problems = append(problems, "a GET has no body: set Inputs to InputsQuery, or another Method")
	}
	return append(problems, o.pathProblems()...)
}

func (o operation) pathProblems() (problems []string) {
	for _, m := range placeholder.FindAllStringSubmatch(o.Path, -1) {
		if !slices.Contains(o.pathInputs, m[1]) {
			problems = append(problems, fmt.Sprintf("Path holds {%s}, which is not an input; it may hold %s", m[1], strings.Join(o.pathInputs, ", ")))
		}
	}
	rest := placeholder.ReplaceAllString(o.Path, "x")
	if strings.ContainsAny(rest, "{}") {
		return append(problems, fmt.Sprintf("Path %q has an unpaired brace", o.Path))
	}
	if problem := pathProblem(rest); problem != "" {
		problems = append(problems, fmt.Sprintf("Path %q %s", o.Path, problem))
	}
	return problems
}

// pathProblem returns why a path cannot be appended to the base URL, or "".
func pathProblem(path string) string {
	// If any character is not escaped as required, net/url reads %2F as a slash.
	u, err := url.ParseRequestURI(path)
	switch {
	case !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?# \t\r\n\\"):
		return "must begin with a slash and hold no query, fragment or blank"
	case err != nil || u.EscapedPath() != path || hasDots(path):
		return "is not escaped as in a URL, or has a . or .. segment"
	}
	return ""
}

// hasDots reports whether a path has . or .. segments, even escaped ones, which a server or proxy
// would resolve.
func hasDots(path string) bool {
	for s := range strings.SplitSeq(path, "/") {
		if s, err := url.PathUnescape(s); err != nil || s == "." || s == ".." {
			return true
		}
	}
	return false
}

// fillPath replaces the braces in Path with escaped inputs. problem is empty, or says what is
// wrong.
func (o operation) fillPath(in inputs) (path, problem string) {
	if !strings.Contains(o.Path, "{") {
		return o.Path, ""
	}
	path = placeholder.ReplaceAllStringFunc(o.Path, func(m string) string {
		name := m[1 : len(m)-1]
		v := in.text(name)
		if v == "" {
			problem = fmt.Sprintf("needs %s, which this call does not set", name)
		}
		return url.PathEscape(v)
	})
	if problem == "" && hasDots(path) {
		problem = "would get a . or .. segment from this call's inputs"
	}
	return path, problem
}

// inputs are the flat inputs of an operation by their names; the values are strings, integers and
// booleans.
type inputs map[string]any

// wireTime is RFC 3339 in UTC with milliseconds, as in responses. The service does not document the
// format of inputs.
const wireTime = "2006-01-02T15:04:05.000Z"

// set adds a string or an integer, unless it is zero.
func (in inputs) set(name string, value any) {
	if value != "" && value != 0 {
		in[name] = value
	}
}

// setTime adds a time, unless it is zero.
func (in inputs) setTime(name string, at time.Time) {
	if !at.IsZero() {
		in[name] = at.UTC().Format(wireTime)
	}
}

// text returns the text of an input, or "" if it is missing.
func (in inputs) text(name string) string {
	text, ok := in[name].(string)
	if !ok && in[name] != nil {
		text = fmt.Sprint(in[name])
	}
	return text
}

// query returns the inputs as a query, in the order of their names, which need no escapes.
func (in inputs) query() string {
	parts := make([]string, 0, len(in))
	for name := range in {
		parts = append(parts, name+"="+url.QueryEscape(in.text(name)))
	}
	slices.Sort(parts)
	return strings.Join(parts, "&")
}
