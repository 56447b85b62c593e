package control

import (
	"context"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

const (
	// maxWait is the longest wait for a list.
	maxWait = time.Minute
	// lookAgain is the pause after which a list is read again without an event, because a document
	// expires by the clock alone.
	lookAgain = time.Second
)

// waitable is the key of a value in the context of a request to a list that can be waited for.
type waitable struct{}

// waiting wraps a list so that a request can wait for matching items. With wait=10s, it waits until
// there are as many items as the parameter count requires, by default 1.
func waiting(list handler) handler {
	return func(a *API, r *http.Request) (any, error) {
		q := readQuery(r)
		wait, count := q.duration("wait", maxWait), q.number("count", 1, 1, wire.MaxLimit)
		if wait == 0 && q.values.Has("count") {
			q.fail("count is for a wait: say how long too, as in wait=10s")
		}
		rest := r.Clone(context.WithValue(r.Context(), waitable{}, true))
		for _, name := range []string{"wait", "count"} {
			q.one(name)
			q.values.Del(name)
		}
		if q.err != nil {
			return nil, q.err
		}
		rest.URL.RawQuery = q.values.Encode()
		found, err := list(a, rest)
		if wait == 0 || err != nil || found.(counted).Count() >= count {
			return found, err
		}
		return a.wait(rest, wait, count, list)
	}
}

// wait reads the list again after each happening. It ends when the list has enough items, or when
// the time or the request ends.
func (a *API) wait(r *http.Request, wait time.Duration, count int, list handler) (any, error) {
	watcher, stop, err := a.watch()
	if err != nil {
		return nil, err
	}
	defer stop()
	over, again := time.NewTimer(wait), time.NewTicker(lookAgain)
	defer over.Stop()
	defer again.Stop()
	for {
		_, more := watcher.Take() // nil if the server is closing, which also ends r's context
		found, err := list(a, r)
		if err != nil || found.(counted).Count() >= count {
			return found, err
		}
		select {
		case <-more:
		case <-again.C:
		case <-over.C:
			n := found.(counted).Count()
			e := failure(http.StatusRequestTimeout, "timeout", "after %v there are %d that match, not %d", wait, n, count)
			return late{found.(counted).Late(e)}, nil
		case <-r.Context().Done():
			return nil, failure(http.StatusServiceUnavailable, "stopping", "the sandbox stops")
		}
	}
}

// counted is a page of any list.
type counted interface {
	Count() int
	Late(*wire.Error) any
}
