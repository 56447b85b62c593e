package outbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// rewrite replaces texts in the lists that the service returns.
func (f *fixture) rewrite(texts ...string) {
	f.wire.before = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			return nil, nil
		}
		response, err := f.wire.RoundTripper.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		body = []byte(strings.NewReplacer(texts...).Replace(string(body)))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Del("Content-Length")
		return response, err
	}
}

// byHand sends the template as somebody else does.
func (f *fixture) byHand(addresses ...string) string {
	f.Helper()
	sent, err := f.srv.Client().Templates.Send(f.Context(), f.to(addresses...))
	require.NoError(f, err)
	return sent.DocumentID
}

// What becomes of a message whose response was lost after the work, and of one that never arrived.
func TestWalk_settles(t *testing.T) {
	masked := []string{`"email":"ann@example.com"`, `"email":"a**@example.com"`, `"email":"ben@example.com"`, `"email":"b**@example.com"`}
	likeAddress := []string{`"email":"ann@example.com"`, `"email":"axx@example.com"`, `"email":"ben@example.com"`, `"email":"bxx@example.com"`}
	for name, c := range map[string]struct {
		before     func(*fixture) // a first message was sent to ben@example.com
		after      func(*fixture) // the outcome is unknown
		sent, lost State          // of the message that was sent, and of the one that was not
	}{
		"nothing else":           {sent: Sent, lost: Sent},
		"old document to others": {before: func(f *fixture) { f.byHand("cid@example.com") }, sent: Sent, lost: Sent},
		"old document to the same": {before: func(f *fixture) {
			f.byHand("ann@example.com")
		}, sent: Sent, lost: Sent},
		"somebody else to the same": {after: func(f *fixture) { f.byHand("ann@example.com") }, sent: Undecided, lost: Sent},
		"somebody else to others":   {after: func(f *fixture) { f.byHand("cid@example.com") }, sent: Sent, lost: Sent},
		"masked":                    {after: func(f *fixture) { f.rewrite(masked...) }, sent: Undecided, lost: Sent},
		"masked like addresses":     {after: func(f *fixture) { f.rewrite(likeAddress...) }, sent: Undecided, lost: Sent},
		"some masked like addresses": {before: func(f *fixture) {
			f.add("readable", "eva@example.com")
			f.work()
		}, after: func(f *fixture) { f.rewrite(likeAddress...) }, sent: Undecided, lost: Sent},
		"no signers":          {after: func(f *fixture) { f.rewrite(`"signers":[`, `"signers":null,"others":[`) }, sent: Undecided, lost: Sent},
		"older than the send": {after: func(f *fixture) { f.rewrite(`"createdAt":"2026`, `"createdAt":"2025`) }, sent: Undecided, lost: Sent},
	} {
		t.Run(name, func(t *testing.T) {
			for _, afterWork := range []bool{true, false} {
				f := newFixture(t, sqlitePlace(t))
				if c.before != nil {
					c.before(f)
				}
				f.add("0", "ben@example.com")
				f.work()
				f.lose(1, afterWork)
				f.add("1", "ann@example.com")
				f.work()
				if c.after != nil {
					c.after(f)
				}
				f.pass(30 * time.Minute)
				want := c.lost
				if afterWork {
					want = c.sent
				}
				if name == "somebody else to the same" && !afterWork {
					want = Sent // taken for this send: a limit
				}
				require.Equal(t, want, f.entry("1").State, "after work: %v", afterWork)
				if want == Undecided && !strings.HasSuffix(name, "masked like addresses") {
					require.NotEmpty(t, f.entry("1").Candidates)
				}
			}
		})
	}
}

// The document of one unknown outcome shows that addresses are readable, and so that the other message has none.
func TestWalk_firstMessagesOfATemplate(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.lose(1, false)
		f.add("lost", "ben@example.com")
		f.pass(2 * time.Minute)
		f.lose(1, true)
		f.add("sent", "ann@example.com")
		f.pass(30 * time.Minute)
		require.Equal(f, []string{"lost sent", "sent sent"}, f.states())
		require.NotContains(f, f.told(), "lost undecided")
		require.Len(f, f.srv.Documents(), 2)
	})
}

// Two messages of which nobody could tell the documents apart are not sent at the same time.
func TestClaim_waitsForTheSameReceivers(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.lose(1, true)
		f.add("1", "ann@example.com", "seller@example.com")
		f.add("same", "seller@example.com", "Ann@example.com")
		f.add("fewer", "ann@example.com")
		f.add("others", "ben@example.com", "seller@example.com")
		f.pass(time.Minute)
		require.Equal(f, []string{"1 sending", "same pending", "fewer pending", "others sent"}, f.states())
		f.pass(20 * time.Minute)
		require.Equal(f, []string{"1 sent", "same sent", "fewer sent", "others sent"}, f.states())
		require.Len(f, f.srv.Documents(), 4)
	})
}

// Two processes claim at the same time: messages of which nobody could tell the documents apart are never both claimed.
func TestClaim_atTheSameTime(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.first()
		boxes := []*Box{f.Box, f.open(nil), f.open(nil), f.open(nil)}
		for round := range 10 {
			var wg sync.WaitGroup
			var claimed atomic.Int64
			begin := make(chan struct{})
			for i, b := range boxes {
				f.add(fmt.Sprint(round, "-", i), "ann@example.com")
				wg.Go(func() {
					<-begin
					claims, _, err := b.claim(f.Context(), 1)
					assert.NoError(f, err)
					claimed.Add(int64(len(claims)))
				})
			}
			close(begin)
			wg.Wait()
			require.EqualValues(f, 1, claimed.Load())
			f.exec("UPDATE signforms_outbox SET state = 'failed'")
		}
	})
}

// A document that may be two messages' settles neither.
func TestWalk_rivals(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.add("0", "ben@example.com")
	f.work()
	f.add("1", "ann@example.com")
	f.add("2", "ann@example.com")
	f.lose(1, true)
	f.work()
	f.exec("UPDATE signforms_outbox SET state = 'sending', attempt = 1, phase = 1, timeout = 120000, first_walk = 1 WHERE key = '2'")
	f.pass(time.Minute)
	require.Equal(t, []string{"0 sent", "1 sending", "2 sending"}, f.states())
	f.pass(20 * time.Minute)
	require.Equal(t, []string{"0 sent", "1 undecided", "2 undecided"}, f.states())
	require.Len(t, f.entry("1").Candidates, 1)
	id := f.entry("1").Candidates[0]
	require.NotEqual(t, f.entry("0").DocumentID, id)
	require.Equal(t, []string{id}, f.entry("2").Candidates)

	require.NoError(t, f.MarkSent(f.Context(), "1", id))
	require.ErrorIs(t, f.MarkSent(f.Context(), "2", id), ErrState)
	require.NoError(t, f.MarkNotSent(f.Context(), f.db, "2"))
	f.pass(time.Minute)
	require.Equal(t, []string{"0 sent", "1 sent", "2 sent"}, f.states())
}

// A doubt waits for a message that is not due yet and may have the document, and is settled when that has its own.
func TestWalk_waitsForARivalThatIsNotDue(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.add("0", "ben@example.com")
	f.work()
	f.lose(1, true)
	f.add("1", "ann@example.com")
	f.pass(2*time.Minute + 30*time.Second)
	f.add("2", "ann@example.com")
	f.exec("UPDATE signforms_outbox SET state = 'sending', attempt = 1, phase = 1, timeout = 120000, first_walk = 1 WHERE key = '2'")
	f.pass(2 * time.Minute)
	require.Equal(t, Sending, f.entry("1").State)
	f.exec("UPDATE signforms_outbox SET state = 'failed' WHERE key = '2'")
	f.pass(3 * time.Minute)
	require.Equal(t, Sent, f.entry("1").State)
}

// The request is executed while the walks look for it: one that was delayed by the service until it answers again.
func TestWalk_backlog(t *testing.T) {
	for name, delay := range map[string]time.Duration{
		"before the first walk":  2*time.Minute + 50*time.Second,
		"right after the first":  3*time.Minute + 20*time.Second,
		"just before the second": 3*time.Minute + 50*time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, sqlitePlace(t))
			f.add("0", "ben@example.com")
			f.work()
			f.lose(1, false)
			f.add("1", "ann@example.com")
			f.work()
			f.pass(delay)
			f.byHand("ann@example.com") // as the request would
			f.pass(20 * time.Minute)
			require.Equal(t, Sent, f.entry("1").State)
			require.Len(t, f.srv.Documents(), 2)
		})
	}
}

// Between the walks only time counts in which the service answers.
func TestWatch_onlyAnsweredTimeCounts(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.lose(1, false)
	f.add("1", "ann@example.com")
	f.pass(3*time.Minute + 10*time.Second) // the first walk was made
	frozen := f.srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: 503})
	f.pass(30 * time.Minute)
	require.Equal(t, Sending, f.entry("1").State)
	frozen()
	f.pass(40 * time.Second)
	require.Equal(t, Sending, f.entry("1").State)
	f.pass(2 * time.Minute)
	require.Equal(t, Sent, f.entry("1").State)
}

// Processes that live for less than a minute settle a doubt together.
func TestWatch_addsUpOverRestarts(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.lose(1, true)
		f.add("1", "ann@example.com")
		f.work()
		lives := 0
		for f.entry("1").State == Sending {
			f.restart(nil)
			f.pass(30 * time.Second)
			_, err := f.watch(f.Context(), true)
			require.NoError(f, err)
			f.advance(time.Hour) // nobody runs
			lives++
			require.Less(f, lives, 20)
		}
		require.GreaterOrEqual(f, lives, 6, "only seen time counts")
		require.Equal(f, Sent, f.entry("1").State)
	})
}

func TestWatch_undecidedAfterADay(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.lose(1, true)
		f.add("1", "ann@example.com")
		f.work()
		fault := f.srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: 403})
		f.pass(23 * time.Hour)
		require.Equal(f, Sending, f.entry("1").State)
		f.pass(2 * time.Hour)
		require.Equal(f, Undecided, f.entry("1").State)
		fault()
		f.exec("UPDATE signforms_outbox_templates SET again = 1")
		f.pass(time.Minute)
		require.Equal(f, Sent, f.entry("1").State, "a hint makes it looked at again")
	})
}

// A list without any of the recorded documents is another account's.
func TestWalk_anotherAccountsList(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.add("0", "ben@example.com")
	f.work()
	f.lose(1, true)
	f.add("1", "ann@example.com")
	f.work()
	f.rewrite(`"respondents":[`, `"respondents":[],"others":[`, `"totalPages":1`, `"totalPages":0`, `"totalDocuments":`, `"x":`)
	f.pass(time.Hour)
	require.Equal(t, Sending, f.entry("1").State)
	f.wire.before = nil
	f.pass(10 * time.Minute)
	require.Equal(t, Sent, f.entry("1").State)
}

func TestLookFirst(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("0", "ben@example.com")
		f.work()
		f.add("sent", "ann@example.com")
		f.add("new", "cid@example.com")
		f.byHand("ann@example.com") // by the process whose database was lost
		require.NoError(f, f.LookFirst(f.Context()))
		f.pass(20 * time.Minute)
		require.Equal(f, []string{"0 sent", "sent sent", "new sent"}, f.states())
		require.Len(f, f.srv.Documents(), 3)
	})
}

// A template whose documents cannot be listed holds nothing up.
func TestClaim_firstWalkFails(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Status: 403})
	f.add("1", "ann@example.com")
	f.work()
	require.Equal(t, Sent, f.entry("1").State)
}

func TestFailed_afterFiveTimesNotSent(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.lose(100, false)
	f.add("1", "ann@example.com")
	f.pass(2 * time.Hour)
	require.Equal(t, Failed, f.entry("1").State)
	require.Equal(t, 5, f.sends())
}
