// Package probe shows the responses of an account's service to about fourteen open questions about
// the wire format. It draws no conclusion. For each question it prints the assumption of the SDK,
// the request, the response, and how the SDK read the response.
package probe

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// Observation is one question with its requests and responses.
type Observation struct {
	Question string `json:"question"`
	Assumed  string `json:"assumed"` // assumption of the SDK
	Seen     []Seen `json:"seen"`
	Note     string `json:"note,omitempty"` // why no request was made, or not all of them
}

// Seen is a request with its response, with all identifying values replaced.
type Seen struct {
	Asked string `json:"asked"`
	Came  string `json:"came"`
	SDK   string `json:"sdk"`            // how the SDK read the response
	Body  string `json:"body,omitempty"` // beginning of the response's body
}

// run is one run of all questions.
type run struct {
	ctx      context.Context
	client   *signforms.Client
	wire     *wire
	redact   *redact.Replacer
	stranger string // a random key
	form     string // id of a form; empty: a random id
	created  []time.Time
	seen     []Seen // requests of the current question
	note     string
	ended    error // why no more requests are made
}

// ask makes the SDK send one request, changed by edit, and records the request and the response.
// of selects what is shown of the response.
func (r *run) ask(edit func(*http.Request), of shown, call func(context.Context, *signforms.Client) error) {
	if r.ended != nil {
		return
	}
	r.wire.edit, r.wire.seen = edit, nil
	err := call(r.ctx, r.client)
	x := r.wire.seen
	switch {
	case r.ctx.Err() != nil:
		r.ended = r.ctx.Err()
		return
	case x == nil:
		r.note = "the SDK sent nothing: " + unquoted(service.WrongInputs(err))
		for _, own := range []error{errNotGet, errTooMany} {
			if errors.Is(err, own) {
				r.note = own.Error()
			}
		}
		return
	}
	seen := Seen{Asked: r.request(x.request), SDK: verdict(err)}
	seen.Came, seen.Body = r.came(x, of)
	r.seen = append(r.seen, seen)
	switch {
	case x.status == 0 && r.wire.gets == 1:
		r.ended = err // further requests would get no response either
	case x.status == http.StatusTooManyRequests:
		r.ended = errors.New("the service answered that there were too many requests")
	}
}

// inputsOfIDs are the inputs whose values are ids.
var inputsOfIDs = []string{"documentId", "templateId", "respondentDocumentId", "formId", "responseId"}

// request returns a request without its host and with ids replaced.
func (r *run) request(req *http.Request) string {
	base, _ := url.Parse(r.client.BaseURL()) // cannot fail: the client has parsed the URL
	text := "GET " + r.redact.IDs(strings.TrimPrefix(req.URL.Path, base.Path))
	var inputs []string
	query := req.URL.Query()
	for name, values := range query {
		value := strings.Join(values, ",")
		if slices.Contains(inputsOfIDs, name) && value != notAnID {
			value = r.redact.Text(value)
		}
		inputs = append(inputs, name+"="+value)
	}
	slices.Sort(inputs)
	if len(inputs) > 0 {
		text += "?" + strings.Join(inputs, "&")
	}
	switch req.Header.Get(keyHeader) {
	case "":
		text += ", without a key"
	case r.stranger:
		text += ", with a wrong key"
	}
	return text
}

// all asks every question. It stops when the context ends, when the service refuses further
// requests, or when no server responds.
func (r *run) all(tell func(Observation) error) error {
	for _, q := range questions {
		r.seen, r.note = nil, ""
		q.ask(r)
		if len(r.seen) == 0 && r.note == "" && r.ended != nil {
			return r.ended
		}
		if err := tell(Observation{q.title, q.assumed, r.seen, r.note}); err != nil || r.ended != nil {
			return errors.Join(err, r.ended)
		}
	}
	return nil
}
