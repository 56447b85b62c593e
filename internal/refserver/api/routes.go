package api

import (
	"fmt"
	"net/http"
	"path"
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

// route says where an operation is, where its inputs are and what they are called.
type route struct {
	op     Operation
	method string
	path   string
	inputs place
	known  []string // inputs by name; others are ignored and noted
	work   func(*API, *Call) (any, error)
}

type place int

const (
	inQuery place = 1 << iota
	inBody
)

var routes = []route{
	{ListDocuments, "GET", "/get-documents", inQuery, []string{
		"documentType", "status", "documentId", "dateFrom", "dateTo", "archive", "sortOrder", "page", "limit", "query",
	}, (*API).listDocuments},
	{VoidDocument, "POST", "/void-document", inQuery | inBody, []string{"documentId", "documentType", "responseId"}, (*API).voidDocument},
	{SendReminder, "POST", "/send-reminder", inQuery | inBody, []string{"documentId", "documentType", "responseId"}, (*API).sendReminder},
	{Send, "POST", "/pdf-template-lambda", inBody, []string{
		"signingType", "documentId", "receiversList", "mailData", "customVariables", "pdfData",
	}, (*API).send},
	{ListRespondents, "GET", "/get-template-respondent", inQuery, []string{"templateId", "respondentDocumentId", "page", "limit"}, (*API).listRespondents},
	{ListResponses, "GET", "/get-form-responses", inQuery, []string{"formId", "responseId", "page", "limit"}, (*API).listResponses},
}

// match finds the route of a request, or says what was probably meant.
func match(r *http.Request) (*route, error) {
	for i := range routes {
		if routes[i].path == r.URL.Path {
			if routes[i].method != r.Method {
				return &routes[i], &wrongMethod{got: r.Method, want: routes[i].method}
			}
			return &routes[i], nil
		}
	}
	meant := nearest(r.URL.Path)
	return nil, &failure{
		status: http.StatusNotFound, code: codeNotFound, rule: "path",
		message: fmt.Sprintf("No such path. Did you mean %s %s?", meant.method, meant.path),
	}
}

// nearest returns the route whose path is closest to p, whatever stands in front of it: a version segment and a doubled
// prefix are common mistakes.
func nearest(p string) *route {
	last := "/" + strings.ToLower(path.Base(path.Clean("/"+p)))
	last = last[:min(len(last), 64)]
	best, least := &routes[0], len(last)+64
	for i := range routes {
		if d := distance(last, routes[i].path); d < least {
			best, least = &routes[i], d
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
