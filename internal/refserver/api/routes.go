package api

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Operation names one of the six operations.
type Operation string

// The operations.
const (
	ListDocuments   Operation = "list documents"
	VoidDocument    Operation = "void document"
	SendReminder    Operation = "send reminder"
	Send            Operation = "send"
	ListRespondents Operation = "list respondents"
	ListResponses   Operation = "list responses"
)

// Route is the method and path of an operation. A zero field keeps its documented value.
type Route struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"` // escaped path; may contain inputs in braces, which are then read from the path: /documents/{documentId}/void
	Inputs Place  `json:"inputs,omitzero"`
}

// Place is the part of a request that contains the inputs.
type Place int

// The places of inputs. With InQuery|InBody, an input may be in either, or in both with the same
// value.
const (
	InQuery Place = 1 << iota
	InBody
)

// route is an operation with its method and path, its inputs and its work.
type route struct {
	op Operation
	Route
	known   []string // known inputs; others are ignored and noted
	work    func(*API, *Call) (any, error)
	pattern *regexp.Regexp // matches a path that contains inputs; nil: the path must be equal to Path
	inPath  []string       // names of the inputs in the path
}

var documentedRoutes = []route{
	{op: ListDocuments, Route: Route{Method: "GET", Path: "/get-documents", Inputs: InQuery}, work: (*API).listDocuments, known: []string{
		"documentType", "status", "documentId", "dateFrom", "dateTo", "archive", "sortOrder", "page", "limit", "query",
	}},
	{op: VoidDocument, Route: Route{Method: "POST", Path: "/void-document", Inputs: InQuery | InBody}, work: (*API).voidDocument, known: []string{
		"documentId", "documentType", "responseId",
	}},
	{op: SendReminder, Route: Route{Method: "POST", Path: "/send-reminder", Inputs: InQuery | InBody}, work: (*API).sendReminder, known: []string{
		"documentId", "documentType", "responseId",
	}},
	{op: Send, Route: Route{Method: "POST", Path: "/pdf-template-lambda", Inputs: InBody}, work: (*API).send, known: []string{
		"signingType", "documentId", "receiversList", "mailData", "customVariables", "pdfData",
	}},
	{op: ListRespondents, Route: Route{Method: "GET", Path: "/get-template-respondent", Inputs: InQuery}, work: (*API).listRespondents, known: []string{
		"templateId", "respondentDocumentId", "page", "limit",
	}},
	{op: ListResponses, Route: Route{Method: "GET", Path: "/get-form-responses", Inputs: InQuery}, work: (*API).listResponses, known: []string{
		"formId", "responseId", "page", "limit",
	}},
}

var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`) // matches an input in a path that is quoted for a pattern

// routesWith returns the documented routes, with the routes of a profile in place of some.
func routesWith(moved map[Operation]Route) []route {
	routes := slices.Clone(documentedRoutes)
	for i := range routes {
		rt, m := &routes[i], moved[routes[i].op]
		m.Method, m.Path, m.Inputs = cmp.Or(m.Method, rt.Method), cmp.Or(m.Path, rt.Path), cmp.Or(m.Inputs, rt.Inputs)
		rt.Route = m
		if strings.Contains(rt.Path, "{") {
			quoted := regexp.QuoteMeta(rt.Path)
			for _, m := range placeholder.FindAllStringSubmatch(quoted, -1) {
				rt.inPath = append(rt.inPath, m[1])
			}
			rt.pattern = regexp.MustCompile("^(?:" + otherPrefix + ")?" + placeholder.ReplaceAllString(quoted, "([^/]+)") + "$")
		}
	}
	return routes
}

// otherPrefix is the built-in beginning of the operations' paths in some public clients.
const otherPrefix = "/signature"

// matches reports whether a URL has the path of this route. It returns the inputs in the path.
func (rt *route) matches(u *url.URL) (inputs map[string]string, ok bool) {
	if rt.pattern == nil {
		return nil, u.Path == rt.Path || u.Path == otherPrefix+rt.Path
	}
	values := rt.pattern.FindStringSubmatch(u.EscapedPath())
	if values == nil {
		return nil, false
	}
	inputs = make(map[string]string)
	for i, name := range rt.inPath {
		value, err := url.PathUnescape(values[i+1])
		if err != nil {
			return nil, false
		}
		inputs[name] = value
	}
	return inputs, true
}

// match finds the route of a request and the inputs in its path, or an error that names the
// operation that was probably meant.
func (a *API) match(r *http.Request) (rt *route, inputs map[string]string, err error) {
	var other *route // a route with this path, but another method
	for i := range a.routes {
		inputs, ok := a.routes[i].matches(r.URL)
		if ok && (a.routes[i].Method == r.Method || a.routes[i].Method == http.MethodGet && r.Method == http.MethodHead) {
			return &a.routes[i], inputs, nil
		}
		if ok && other == nil {
			other = &a.routes[i]
		}
	}
	if other != nil {
		return other, nil, wrongMethod(r.Method, other.Method)
	}
	message := "No such path"
	if meant := a.nearest(r.URL.Path); meant != nil {
		message += fmt.Sprintf(". Did you mean %s %s?", meant.Method, meant.Path)
	}
	return nil, nil, &failure{status: http.StatusNotFound, code: codeNotFound, rule: "path", message: message}
}

// Serves reports whether a URL has the path of an operation, whatever the method.
func (a *API) Serves(u *url.URL) bool {
	return slices.ContainsFunc(a.routes, func(rt route) bool { _, ok := rt.matches(u); return ok })
}

// nearest returns the route that shares the most words with the path, or nil if no route shares a
// word. A version segment, a prefix, a different letter case and a plural make no difference. A
// route that a profile has moved is also found by its documented path.
func (a *API) nearest(path string) (best *route) {
	path, most := strings.ToLower(path), 0
	for i := range a.routes {
		if n := max(sharedWords(path, a.routes[i].Path), sharedWords(path, documentedRoutes[i].Path)); n > most {
			best, most = &a.routes[i], n
		}
	}
	return best
}

// sharedWords counts the words of a route that occur in the path. Words are compared by their first four letters.
func sharedWords(path, route string) (n int) {
	notLetter := func(r rune) bool { return r < 'a' || r > 'z' }
	for _, word := range strings.FieldsFunc(strings.ToLower(route), notLetter) {
		if strings.Contains(path, word[:min(len(word), 4)]) {
			n++
		}
	}
	return n
}
