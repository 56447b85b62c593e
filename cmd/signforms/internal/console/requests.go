package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver"
)

// hidden is the text that replaces a secret in the request log.
const hidden = "(hidden)"

// keptAnswer is how many bytes of a response's body the request log keeps.
const keptAnswer = 4 << 10

// span is the part of a list that a page shows.
type span struct {
	Total, First, Last int // the number of records, and the positions of the first and last one shown, from 1
	Previous, Next     int // offsets of these pages; -1: none
}

func spanOf(offset, shown, total int) span {
	s := span{Total: total, First: offset + 1, Last: offset + shown, Previous: -1, Next: -1}
	if offset > 0 {
		s.Previous = max(offset-pageSize, 0)
	}
	if s.Last < total {
		s.Next = offset + pageSize
	}
	return s
}

// offsetIn returns the offset of a page of a list. Text that is not a number means the first page.
func offsetIn(q url.Values) int {
	offset, _ := strconv.Atoi(q.Get("offset"))
	return max(offset, 0)
}

type requestList struct {
	span
	Only     string // "refused", "ignored" or "": all
	Requests []refserver.Request
}

func (c *console) requests(r *http.Request) (page, error) {
	q := r.URL.Query()
	list, offset := requestList{Only: q.Get("only")}, offsetIn(q)
	var total int
	list.Requests, total = c.server.FindRequests(func(v refserver.Request) bool {
		return (list.Only != "refused" || v.Rule != "") && (list.Only != "ignored" || len(v.Notes) > 0)
	}, offset, pageSize)
	list.span = spanOf(offset, len(list.Requests), total)
	return page{Title: "Requests", name: "requests", Live: "request", Data: list}, nil
}

// rules are the descriptions of the rules that refuse requests, by [refserver.Request].Rule.
var rules = map[string]string{
	"path": "No operation has this path.", "method": "The operation has another method.", "api key": "The API key is missing or wrong.",
	"workspace": "The header workspaceid names another workspace than that of the API key.", "limit": "There were too many reminders.",
	"size": "The body is too large.", "media type": "The body has another media type.", "input": "An input is missing or wrong.",
	"exists": "The record does not exist.", "status": "The record's status does not allow it.", "storage": "The change could not be saved.",
}

// requestView is one request. It contains no secrets.
type requestView struct {
	refserver.Request
	Why                       string // the rule that refused it, in words
	Headers, Inputs, Sent     string
	AnswerHeaders, AnswerBody string
	BodyCut, AnswerCut        bool
	Curl                      string
}

func (c *console) request(r *http.Request) (page, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	found, _ := c.server.FindRequests(func(v refserver.Request) bool { return v.ID == id }, 0, 1)
	if err != nil || id < 1 || len(found) == 0 {
		return page{}, errNoSuchRecord
	}
	q := found[0]
	address := c.options.PublicURL + (&url.URL{Path: q.Path}).EscapedPath()
	if query := cmp.Or(q.RawQuery, q.Query.Encode()); query != "" {
		address += "?" + query
	}
	hide := func(text string) string { return strings.ReplaceAll(text, c.server.APIKey, hidden) } // hides the key, wherever the client has put it
	view := requestView{
		Request: q, Why: rules[q.Rule], Headers: hide(header(q.Header)), Inputs: hide(inputs(q)), Sent: hide(body(q.Body)), BodyCut: int64(len(q.Body)) < q.BodySize,
		AnswerCut:     len(q.Answer) == keptAnswer,
		AnswerHeaders: header(q.AnswerHeader), AnswerBody: hide(body(q.Answer)), Curl: hide(curl(q.Method, address, q.Header, q.Body)),
	}
	return page{Title: q.Method + " " + q.Path, name: "request", Data: view}, nil
}

// inputs formats a query, one input on each line. A query with an unreadable part is shown as it
// was sent.
func inputs(q refserver.Request) string {
	return cmp.Or(strings.ToValidUTF8(q.RawQuery, "\ufffd"), header(http.Header(q.Query)))
}
