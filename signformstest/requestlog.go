package signformstest

import (
	"sync"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

const (
	wholeBytes = 16 << 20 // of headers, queries and bodies in it, about

	chunkSize = 1_000
)

// requestLog keeps the newest API requests, and the newest of these whole. It consists of chunks, so that it is not copied when it
// grows. The first chunk alone begins small: room for a thousand requests would be most of what the start of a server allocates.
type requestLog struct {
	most   int // how many
	mu     sync.Mutex
	chunks [][]api.Record // all but the last are full
	n      int            // in all chunks
	whole  int            // so many of the newest are not cut
	weight int            // of those
}

func (l *requestLog) add(r api.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == len(l.chunks)*chunkSize {
		var chunk []api.Record
		if l.n > 0 {
			chunk = make([]api.Record, 0, chunkSize)
		}
		l.chunks = append(l.chunks, chunk)
	}
	last := &l.chunks[len(l.chunks)-1]
	*last = append(*last, r)
	l.n++
	l.whole++
	l.weight += r.Weight()
	for l.weight > wholeBytes && l.whole > 1 {
		l.cutOldest()
	}
	if l.n >= l.most+chunkSize {
		l.dropOldest()
	}
}

// dropOldest forgets the oldest chunk.
func (l *requestLog) dropOldest() {
	for l.whole > l.n-chunkSize {
		l.weight -= l.chunks[0][l.n-l.whole].Weight()
		l.whole--
	}
	l.chunks = append(l.chunks[:0], l.chunks[1:]...)
	l.n -= chunkSize
}

// cutOldest cuts the oldest request that is whole.
func (l *requestLog) cutOldest() {
	i := l.n - l.whole
	oldest := &l.chunks[i/chunkSize][i%chunkSize]
	l.weight -= oldest.Weight()
	l.whole--
	*oldest = oldest.Cut()
}

func (l *requestLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chunks, l.n, l.whole, l.weight = nil, 0, 0, 0
}

// all returns the log, oldest first.
func (l *requestLog) all() []api.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]api.Record, 0, l.n)
	for _, chunk := range l.chunks {
		all = append(all, chunk...)
	}
	return all[max(0, l.n-l.most):]
}
