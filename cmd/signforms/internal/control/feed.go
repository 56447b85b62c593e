package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signforms/signforms-go/internal/refserver"
)

const (
	// gatherFor is how long events are gathered after some were passed on: many readers then cost a writer little.
	gatherFor = 50 * time.Millisecond
	// maxWaitingEvents is how many events wait for a feed to encode them, and about how many are kept for readers that are behind.
	maxWaitingEvents = 8192
	// maxReaders is how many readers of events a program has at a time.
	maxReaders = 1000
)

// feeds holds the feed of a sandbox while it has readers.
type feeds struct {
	mu      sync.Mutex
	feed    *feed
	readers int
	all     *atomic.Int64 // readers of all workspaces
}

// feed passes what happens on to all readers. It encodes each event once, in its own goroutine, and gathers them into batches.
type feed struct {
	joining chan *reader
	unused  chan struct{} // closed when the last reader has left
	ended   chan struct{}

	mu      sync.Mutex
	batches []*batch         // the newest, in order
	first   int              // the number of batches[0]
	kept    int              // how many events they hold
	counts  map[string]int64 // events by kind, and all of them under ""
	news    chan struct{}    // closed, and replaced, when there is another batch; nil after the end
}

// batch is what happened in a short time.
type batch struct {
	before map[string]int64 // events before it by kind, and all of them under ""
	parts  map[string]*part // by kind, and all of it under ""
}

type part struct {
	first refserver.Happening
	rest  int // where the second event begins in text
	count int64
	text  []byte
}

// reader is one that takes the batches of a feed.
type reader struct {
	feed *feed
	kind string // the only kind that it gets; empty: all
	next int    // the number of the next batch
	seen int64  // how many events there were up to then

	joined chan struct{} // closed when the above are set
}

// join returns a reader of what happens from now on. The caller calls leave.
func (fs *feeds) join(server *refserver.Server, kind string) (*reader, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.all.Add(1) > maxReaders {
		fs.all.Add(-1)
		return nil, failure(http.StatusServiceUnavailable, "busy", "%d clients read the sandbox's events or wait, and there may be no more: end one", maxReaders)
	}
	if fs.feed == nil {
		watched, stop := server.Watch(maxWaitingEvents)
		f := &feed{joining: make(chan *reader), unused: make(chan struct{}), ended: make(chan struct{}), counts: map[string]int64{}, news: make(chan struct{})}
		go func() {
			defer stop()
			f.run(watched)
		}()
		fs.feed = f
	}
	fs.readers++
	r := &reader{feed: fs.feed, kind: kind, joined: make(chan struct{})}
	select {
	case fs.feed.joining <- r:
		<-r.joined
	case <-fs.feed.ended: // it gets nothing
	}
	return r, nil
}

func (fs *feeds) leave() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all.Add(-1)
	if fs.readers--; fs.readers == 0 {
		close(fs.feed.unused)
		fs.feed = nil
	}
}

// run passes on what happens until the watching ends.
func (f *feed) run(watched <-chan refserver.Happening) {
	defer f.end()
	pause := time.NewTimer(0)
	defer pause.Stop()
	var in <-chan refserver.Happening // nil during a pause
	for {
		select {
		case <-f.unused:
			return
		case <-pause.C:
			in = watched
			continue
		case h, open := <-in:
			if !open {
				return
			}
			f.publish(gather(watched, h))
		case r := <-f.joining: // it gets nothing that happened before
			f.publish(gather(watched))
			r.next, r.seen = f.first+len(f.batches), f.counts[r.kind]
			close(r.joined)
		}
		in = nil
		pause.Reset(gatherFor)
	}
}

// end tells the readers that nothing more comes.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.ended)
	close(f.news)
	f.news = nil
}

// gather returns some and what has happened since.
func gather(watched <-chan refserver.Happening, some ...refserver.Happening) []refserver.Happening {
	for len(some) < maxWaitingEvents {
		select {
		case h, open := <-watched:
			if open {
				some = append(some, h)
				continue
			}
		default:
		}
		break
	}
	return some
}

// publish encodes what happened and wakes the readers.
func (f *feed) publish(some []refserver.Happening) {
	if len(some) == 0 {
		return
	}
	b := newBatch(some)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, h := range some { // what was dropped is older than all that is left
		if h.Missed == 0 {
			continue
		}
		f.counts[""] += int64(h.Missed)
		for _, kind := range happenings {
			f.counts[kind] += int64(h.Missed)
		}
	}
	b.before = maps.Clone(f.counts)
	for kind, p := range b.parts {
		f.counts[kind] += p.count
	}
	f.batches = append(f.batches, b)
	for f.kept += len(some); f.kept > maxWaitingEvents && len(f.batches) > 1; f.first++ {
		f.kept -= int(f.batches[0].parts[""].count)
		f.batches = slices.Delete(f.batches, 0, 1)
	}
	close(f.news)
	f.news = make(chan struct{})
}

func newBatch(some []refserver.Happening) *batch {
	b := &batch{parts: map[string]*part{}}
	for _, h := range some {
		h.Missed = 0 // take counts them
		text := eventText(h)
		for _, kind := range []string{string(h.Kind), ""} {
			p := b.parts[kind]
			if p == nil {
				p = &part{first: h, rest: len(text)}
				b.parts[kind] = p
			}
			p.text = append(p.text, text...)
			p.count++
		}
	}
	return b
}

// eventText returns an event in the format of the stream.
func eventText(h refserver.Happening) []byte {
	h.At = h.At.UTC()
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // cannot happen for a Happening
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", h.Kind, data)
}

// take returns the reader's events of the next batch, which may be none. While there is no batch ok is false, and news is closed when
// there is one, or nil if none will come. If batches were dropped before the reader took them, the first event says how many events
// it missed, whatever its kind.
func (r *reader) take() (text []byte, ok bool, news <-chan struct{}) {
	f := r.feed
	f.mu.Lock()
	if r.next == f.first+len(f.batches) {
		defer f.mu.Unlock()
		return nil, false, f.news
	}
	r.next = max(r.next, f.first)
	b := f.batches[r.next-f.first]
	f.mu.Unlock()
	r.next++
	p := b.parts[r.kind]
	missed := b.before[r.kind] - r.seen
	r.seen = b.before[r.kind]
	if p != nil {
		r.seen += p.count
		text = p.text
	}
	if missed == 0 {
		return text, true, nil
	}
	first := b.parts[""].first
	if p != nil {
		first, text = p.first, p.text[p.rest:]
	}
	first.Missed = int(missed)
	return append(eventText(first), text...), true, nil
}
