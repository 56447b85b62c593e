package refserver

import (
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const wholeBytes = 16 << 20 // approximate size of all headers, queries, bodies and responses in a log

// requestLog keeps the newest API requests, and the newest of these uncut. A request in the log is
// replaced, never changed.
type requestLog struct {
	most   int // maximum number of requests
	mu     sync.Mutex
	last   int64 // the last ID
	all    []*api.Record
	whole  int // how many of the newest requests are not cut
	weight int // size of the requests that are not cut
}

func (l *requestLog) add(r api.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r.ID = l.last
	l.all = append(l.all, &r)
	l.whole++
	l.weight += r.Weight()
	for l.weight > wholeBytes && l.whole > 1 {
		l.cutOldest()
	}
	if extra := len(l.all) - l.most; extra >= max(l.most/8, 1) {
		l.drop(extra)
	}
}

// drop removes the oldest n requests.
func (l *requestLog) drop(n int) {
	for len(l.all)-l.whole < n {
		l.weight -= l.all[len(l.all)-l.whole].Weight()
		l.whole--
	}
	l.all = slices.Clone(l.all[n:])
}

// cutOldest cuts the oldest request that is not cut yet.
func (l *requestLog) cutOldest() {
	oldest := &l.all[len(l.all)-l.whole]
	l.weight -= (*oldest).Weight()
	l.whole--
	*oldest = new((*oldest).Cut())
}

func (l *requestLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all, l.whole, l.weight = nil, 0, 0
}

// records returns the log as it is now.
func (l *requestLog) records() store.Records[api.Record] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return store.RecordsOf(slices.Clone(l.all[max(0, len(l.all)-l.most):]))
}
