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

// Route says where an operation is. Zero fields keep the documented place.
type Route struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"` // escaped; may hold inputs of the operation in braces, which are read there too: /documents/{documentId}/void
	Inputs Place  `json:"inputs,omitzero"`
}

// Place is where inputs are.
type Place int

// The places of inputs. In InQuery|InBody an input may be in either, or in both if it is the same there.
const (
	InQuery Place = 1 << iota
	InBody
)

// route is an operation as it is served, its inputs, and its work.
type route struct {
	op Operation
	Route
	known   []string // inputs; others are ignored and noted
	work    func(*API, *Call) (any, error)
	pattern *regexp.Regexp // of a path with inputs in it; nil: Path is all there is to match
	inPath  []string       // their names
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

var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`) // in a path that is quoted for a pattern

// routesWith returns the documented routes with those of a profile in place.
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

// otherPrefix begins the paths of the operations in some public clients, which have it built in.
const otherPrefix = "/signature"

// matches returns the inputs in the path of a request for this route, and false for another path.
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

// match finds the route of a request and the inputs in its path, or says what was probably meant.
func (a *API) match(r *http.Request) (rt *route, inputs map[string]string, err error) {
	var other *route // with this path, but another method
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

// Serves reports whether an operation is under the URL's path, whatever the method.
func (a *API) Serves(u *url.URL) bool {
	return slices.ContainsFunc(a.routes, func(rt route) bool { _, ok := rt.matches(u); return ok })
}

// nearest returns the route that shares the most words with the path, nil when none shares one. A version segment, a
// prefix, another case and a plural make no difference. A route moved by a profile is found by its documented path too.
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
