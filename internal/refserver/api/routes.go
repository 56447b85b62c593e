package api

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path"
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

// Route says where an operation is and where its inputs are read. Zero fields keep the documented place.
type Route struct {
	Method string
	Path   string // escaped; may hold inputs of the operation in braces, which are read there too: /documents/{documentId}/void
	Inputs Place
}

// Place is where inputs are.
type Place int

// The places of inputs. In InQuery|InBody an input may be in either, or in both if it is the same there.
const (
	InQuery Place = 1 << iota
	InBody
)

// route is an operation as it is served, what its inputs are called, and its work.
type route struct {
	op Operation
	Route
	known   []string // inputs by name; others are ignored and noted
	work    func(*API, *Call) (any, error)
	pattern *regexp.Regexp // of a path with inputs in it; nil: Path is all there is to match
	inPath  []string       // their names
}

var documentedRoutes = []route{
	{op: ListDocuments, Route: Route{"GET", "/get-documents", InQuery}, work: (*API).listDocuments, known: []string{
		"documentType", "status", "documentId", "dateFrom", "dateTo", "archive", "sortOrder", "page", "limit", "query",
	}},
	{op: VoidDocument, Route: Route{"POST", "/void-document", InQuery | InBody}, work: (*API).voidDocument, known: []string{
		"documentId", "documentType", "responseId",
	}},
	{op: SendReminder, Route: Route{"POST", "/send-reminder", InQuery | InBody}, work: (*API).sendReminder, known: []string{
		"documentId", "documentType", "responseId",
	}},
	{op: Send, Route: Route{"POST", "/pdf-template-lambda", InBody}, work: (*API).send, known: []string{
		"signingType", "documentId", "receiversList", "mailData", "customVariables", "pdfData",
	}},
	{op: ListRespondents, Route: Route{"GET", "/get-template-respondent", InQuery}, work: (*API).listRespondents, known: []string{
		"templateId", "respondentDocumentId", "page", "limit",
	}},
	{op: ListResponses, Route: Route{"GET", "/get-form-responses", InQuery}, work: (*API).listResponses, known: []string{
		"formId", "responseId", "page", "limit",
	}},
}

var placeholder = regexp.MustCompile(`\\\{(\w+)\\\}`) // in a path that is quoted for a pattern

// routesWith returns the documented routes with those of a profile in place.
func routesWith(moved map[Operation]Route) []route {
	routes := slices.Clone(documentedRoutes)
	for i := range routes {
		rt, m := &routes[i], moved[routes[i].op]
		rt.Route = Route{cmp.Or(m.Method, rt.Method), cmp.Or(m.Path, rt.Path), cmp.Or(m.Inputs, rt.Inputs)}
		if strings.Contains(rt.Path, "{") {
			quoted := regexp.QuoteMeta(rt.Path)
			for _, m := range placeholder.FindAllStringSubmatch(quoted, -1) {
				rt.inPath = append(rt.inPath, m[1])
			}
			rt.pattern = regexp.MustCompile("^" + placeholder.ReplaceAllString(quoted, "([^/]+)") + "$")
		}
	}
	return routes
}

// matches returns the inputs in the path of a request for this route, and false for another path.
func (rt *route) matches(u *url.URL) (inputs map[string]string, ok bool) {
	if rt.pattern == nil {
		return nil, u.Path == rt.Path
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
		if ok && a.routes[i].Method == r.Method {
			return &a.routes[i], inputs, nil
		}
		if ok && other == nil {
			other = &a.routes[i]
		}
	}
	if other != nil {
		return other, nil, &wrongMethod{got: r.Method, want: other.Method}
	}
	meant := a.nearest(r.URL.Path)
	return nil, nil, &failure{
		status: http.StatusNotFound, code: codeNotFound, rule: "path",
		message: fmt.Sprintf("No such path. Did you mean %s %s?", meant.Method, meant.Path),
	}
}

// Serves reports whether an operation is under the URL's path, whatever the method.
func (a *API) Serves(u *url.URL) bool {
	return slices.ContainsFunc(a.routes, func(rt route) bool { _, ok := rt.matches(u); return ok })
}

// nearest returns the route whose path is closest to p, whatever stands in front of it: a version segment and a doubled
// prefix are common mistakes. A route that a profile moved is found under its documented path too.
func (a *API) nearest(p string) *route {
	last := "/" + strings.ToLower(path.Base(path.Clean("/"+p)))
	last = last[:min(len(last), 64)]
	best, least := &a.routes[0], len(last)+64
	for i := range a.routes {
		if d := min(distance(last, a.routes[i].Path), distance(last, documentedRoutes[i].Path)); d < least {
			best, least = &a.routes[i], d
		}
	}
	return best
}

// distance is the number of bytes to insert, delete or replace to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
