package reminderlimit_test

import (
	"context"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const simKey = "sim-key"

// simService is the reference service's API with a document to remind, any reading of the limit, and a record of all that
// arrived.
type simService struct {
	*api.API
	doc signforms.DocumentRef

	mu      sync.Mutex
	records []api.Record
}

func newSimService(t *testing.T, limit api.Limit, intercept func(context.Context, *api.Call, func() api.Answer) api.Answer) *simService {
	t.Helper()
	s := &simService{}
	records, ids := store.New(time.Now), signing.NewIDs(1)
	require.NoError(t, records.Update(func(tx *store.Tx) error {
		tx.PutKey(simKey)
		draft, err := signing.Create(signing.Document{
			Kind: signing.KindPDF, Name: "Lease", Signers: []signing.Signer{{Name: "Ann", Email: "ann@example.com"}},
		}, ids, time.Now())
		if err != nil {
			return err
		}
		tx.Apply(draft)
		sent, err := draft.Document.Send(time.Now())
		tx.Apply(sent)
		s.doc = signforms.PDFDocument(draft.Document.ID)
		return err
	}))
	s.API = api.New(api.Options{Store: records, IDs: ids, Reminders: limit, Intercept: intercept, Log: s.log})
	return s
}

func (s *simService) log(r api.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, r)
}

// arrivals returns every reminder request that arrived, also those it refused, in order.
func (s *simService) arrivals() []api.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	records := slices.Clone(s.records)
	slices.SortFunc(records, func(a, b api.Record) int { return a.At.Compare(b.At) })
	return records
}

// attempts numbers the requests of clients in a header, so that the service's record can be held against when each was
// given up.
type attempts struct {
	base http.RoundTripper
	mu   sync.Mutex
	ends []time.Time // zero: under way
}

const attemptHeader = "X-Attempt"

func (a *attempts) RoundTrip(req *http.Request) (*http.Response, error) {
	a.mu.Lock()
	n := len(a.ends)
	a.ends = append(a.ends, time.Time{})
	a.mu.Unlock()
	numbered := req.WithContext(req.Context())
	numbered.Header = req.Header.Clone()
	numbered.Header.Set(attemptHeader, strconv.Itoa(n))
	resp, err := a.base.RoundTrip(numbered)
	if err != nil {
		a.ended(n)
		return nil, err
	}
	resp.Body = &endingBody{resp.Body, func() { a.ended(n) }}
	return resp, nil
}

func (a *attempts) ended(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ends[n] = time.Now()
}

type endingBody struct {
	io.ReadCloser
	ended func()
}

func (b *endingBody) Close() error {
	b.ended()
	return b.ReadCloser.Close()
}

// verdict is what the service's record shows.
type verdict struct {
	arrivals   int
	refused    int // by the service's own limit
	stragglers int // arrived more than a minute after their attempt was given up
	worst      int // most arrivals in any closed window of 15 minutes of whole-second stamps, without stragglers
	twice      int // calls that were executed, or may have been, more than once
}

func (a *attempts) judge(t *testing.T, records []api.Record) verdict {
	t.Helper()
	v := verdict{arrivals: len(records)}
	var stamps []int64
	done, seen := map[string]int{}, map[string]bool{}
	for _, r := range records {
		number := r.Header.Get(attemptHeader)
		require.False(t, seen[number], "attempt %s arrived twice", number)
		seen[number] = true
		n, err := strconv.Atoi(number)
		require.NoError(t, err)
		if end := a.ends[n]; !end.IsZero() && r.At.Sub(end) > time.Minute {
			v.stragglers++
		} else {
			stamps = append(stamps, r.At.Unix())
		}
		if r.Rule == "limit" {
			v.refused++
		}
		if r.StatusCode != http.StatusTooManyRequests {
			if done[r.RequestID]++; done[r.RequestID] > 1 {
				v.twice++
			}
		}
	}
	v.worst = worst(stamps)
	return v
}

// worst counts the most stamps in any closed window of 15 minutes.
func worst(stamps []int64) int {
	most, first := 0, 0
	for i, s := range stamps {
		for s-stamps[first] > int64(api.DefaultReminderWindow/time.Second) {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

// readings of the limit that a service could have.
var readings = []func() api.Limit{
	func() api.Limit { return api.SlidingWindow(api.DefaultReminders, api.DefaultReminderWindow) },
	func() api.Limit { return &fixedWindow{windows: map[string]usedWindow{}} },
	func() api.Limit { return &tokenBucket{full: map[string]time.Time{}} },
}

// stateless has the methods of a limit that nobody calls here.
type stateless struct{}

func (stateless) State(string) []byte    { return nil }
func (stateless) Restore(string, []byte) {}
func (stateless) Reset()                 {}
func (stateless) String() string         { return "" }

// fixedWindow accepts so many reminders in each window since the Unix epoch, and so up to twice as many within a window's length.
type fixedWindow struct {
	stateless
	windows map[string]usedWindow
}

type usedWindow struct {
	start time.Time
	n     int
}

func (l *fixedWindow) Take(key string, now time.Time) (time.Duration, bool) {
	window := int64(api.DefaultReminderWindow)
	u := usedWindow{start: time.Unix(0, now.UnixNano()/window*window)}
	if was := l.windows[key]; was.start.Equal(u.start) {
		u = was
	}
	if u.n >= api.DefaultReminders {
		return u.start.Add(api.DefaultReminderWindow).Sub(now), false
	}
	u.n++
	l.windows[key] = u
	return 0, true
}

func (l *fixedWindow) Return(key string, at time.Time) {
	if u := l.windows[key]; u.n > 0 && !at.Before(u.start) {
		u.n--
		l.windows[key] = u
	}
}

// tokenBucket begins full, and refills one token in each part of the window.
type tokenBucket struct {
	stateless
	full map[string]time.Time // when the key's bucket will be full if no further slot is taken
}

func (l *tokenBucket) Take(key string, now time.Time) (time.Duration, bool) {
	refill := api.DefaultReminderWindow / api.DefaultReminders
	full := l.full[key]
	if full.Before(now) {
		full = now
	}
	full = full.Add(refill)
	if wait := full.Sub(now) - api.DefaultReminderWindow; wait > 0 {
		return wait, false
	}
	l.full[key] = full
	return 0, true
}

func (l *tokenBucket) Return(key string, _ time.Time) {
	l.full[key] = l.full[key].Add(-api.DefaultReminderWindow / api.DefaultReminders)
}

// possible is how many reminders fit into a time, if each slot comes back a whole window after it was used.
func possible(d time.Duration) int {
	return api.DefaultReminders * int(math.Ceil(float64(d)/float64(api.DefaultReminderWindow)))
}
