// Package probe shows what an account's service answers to about fourteen questions of which the wire format is not
// sure. It draws no conclusion: for each question it has what the SDK assumes, what was asked, what came, and what
// the SDK made of that.
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

// Observation is one question with what was seen.
type Observation struct {
	Question string `json:"question"`
	Assumed  string `json:"assumed"` // by the SDK
	Seen     []Seen `json:"seen"`
	Note     string `json:"note,omitempty"` // why nothing was asked, or not all
}

// Seen is a request with its answer, without what identifies anybody.
type Seen struct {
	Asked string `json:"asked"`
	Came  string `json:"came"`
	SDK   string `json:"sdk"`            // what the SDK made of the answer
	Body  string `json:"body,omitempty"` // of the answer, cut
}

// run is one run of all questions.
type run struct {
	ctx      context.Context
	client   *signforms.Client
	wire     *wire
	redact   *redact.Replacer
	stranger string // a random key
	form     string // the id of a form; empty: a random one
	created  []time.Time
	seen     []Seen // of the question at hand
	note     string
	ended    error // why no more is asked
}

// ask has the SDK make one request, changed by edit, and notes what was asked and what came. fields are those of the
// records that matter.
func (r *run) ask(edit func(*http.Request), fields []string, call func(context.Context, *signforms.Client) error) {
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
	seen.Came, seen.Body = r.came(x, fields)
	r.seen = append(r.seen, seen)
	switch {
	case x.status == 0 && r.wire.gets == 1:
		r.ended = err // nothing else would be answered either
	case x.status == http.StatusTooManyRequests:
		r.ended = errors.New("the service answered that there were too many requests")
	}
}

// inputsOfIDs are the inputs whose values are ids.
var inputsOfIDs = []string{"documentId", "templateId", "respondentDocumentId", "formId", "responseId"}

// request returns a request without its host and with ids replaced.
func (r *run) request(req *http.Request) string {
	base, _ := url.Parse(r.client.BaseURL()) // the client has read it
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

// all asks every question, until the context ends, the service wants no more requests, or nothing answers.
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
