package batch

import (
	"errors"
	"net/http"

	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

type itemKey struct{}

// errNoIntent is returned for a request that was not sent because the journal could not note it first.
var errNoIntent = errors.New("the journal cannot be written, so nothing more was sent")

// intents notes in a journal each request that is about to be sent, if its context names an item.
type intents struct {
	journal *journal.Journal
	run     string
	next    http.RoundTripper
	failed  error // the journal's error; read between calls
}

func (t *intents) RoundTrip(req *http.Request) (*http.Response, error) {
	if it, ok := req.Context().Value(itemKey{}).(*Item); ok {
		if err := t.journal.Intend(it.entry(t.run)); err != nil {
			t.failed = err
			return nil, errors.Join(errNoIntent, err)
		}
	}
	return t.next.RoundTrip(req)
}
