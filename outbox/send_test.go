package outbox

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// What an outcome means for a message, and whether others are held up.
func TestSend_outcomes(t *testing.T) {
	html := "<html>blocked</html>"
	for name, c := range map[string]struct {
		fault signformstest.Fault
		want  State
	}{
		"400":            {signformstest.Fault{Status: 400}, Failed},
		"404":            {signformstest.Fault{Status: 404, Body: `{"message":"no such template","code":"not_found"}`}, Failed},
		"409":            {signformstest.Fault{Status: 409}, Failed},
		"422":            {signformstest.Fault{Status: 422}, Failed},
		"401":            {signformstest.Fault{Status: 401}, Pending},
		"403":            {signformstest.Fault{Status: 403}, Pending},
		"407":            {signformstest.Fault{Status: 407}, Pending},
		"429":            {signformstest.Fault{Status: 429}, Pending},
		"503":            {signformstest.Fault{Status: 503}, Sending},
		"html after 200": {signformstest.Fault{Status: 200, Body: html}, Sending},
		"reset":          {signformstest.Fault{Reset: true}, Sending},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, sqlitePlace(t))
			c.fault.Operation, c.fault.Times = signforms.OpSend, 1
			f.srv.Fail(c.fault)
			f.add("1", "ann@example.com")
			f.add("2", "ben@example.com")
			f.work()
			require.Equal(t, c.want, f.entry("1").State)
			require.NotEmpty(t, f.entry("1").Err)
			f.pass(20 * time.Second)
			require.Equal(t, Sent, f.entry("2").State, "another message goes")
			f.pass(30 * time.Minute)
			want := map[State]State{Failed: Failed, Pending: Sent, Sending: Sent}[c.want]
			require.Equal(t, want, f.entry("1").State)
			require.LessOrEqual(t, len(f.srv.Documents()), 2)
		})
	}
}

// A wrong key at a deploy fails no message, and asks the service at a slow pace.
func TestSend_wrongKey(t *testing.T) {
	eachStore(t, func(f *fixture) {
		right := f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: http.StatusUnauthorized})
		for _, key := range []string{"1", "2", "3", "4", "5"} {
			f.add(key, key+"@example.com")
		}
		f.pass(time.Hour)
		require.Equal(f, []string{"1 pending", "2 pending", "3 pending", "4 pending", "5 pending"}, f.states())
		require.LessOrEqual(f, f.sends(), 25)
		right()
		f.pass(10 * time.Minute)
		require.Equal(f, []string{"1 sent", "2 sent", "3 sent", "4 sent", "5 sent"}, f.states())
	})
}

// A firewall blocks one text for ever: the others go, and in the end it fails.
func TestSend_blockedMessage(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.wire.before = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return nil, nil
		}
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), "blocked@example.com") {
			return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("<html>no</html>")), Request: r}, err
		}
		return nil, err
	}
	f.add("0", "blocked@example.com")
	for i := range 40 {
		f.add(string(rune('A'+i)), string(rune('a'+i%26))+strings.Repeat("x", i)+"@example.com")
		f.pass(time.Minute)
	}
	require.Equal(t, Failed, f.entry("0").State)
	for _, s := range f.states()[1:] {
		require.Contains(t, s, "sent")
	}
}

func TestSend_retryAfterAndClockSetBack(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 429, RetryAfter: "3600", Times: 1})
	f.add("1", "ann@example.com")
	f.pass(50 * time.Minute)
	require.Equal(t, Pending, f.entry("1").State)
	require.Equal(t, 1, f.sends())
	f.pass(11 * time.Minute)
	require.Equal(t, Sent, f.entry("1").State)

	f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 429, RetryAfter: "60", Times: 1})
	f.add("2", "ben@example.com")
	f.work()
	f.skew = -10 * time.Hour
	f.pass(2 * time.Minute)
	require.Equal(t, Sent, f.entry("2").State, "the wait that the old clock gave has ended")
}

func TestSend_before(t *testing.T) {
	eachStore(t, func(f *fixture) {
		remove := f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 403})
		require.NoError(f, f.Add(f.Context(), f.db, Message{Key: "1", Send: f.to("ann@example.com"), SendBefore: begin.Add(time.Hour)}))
		f.pass(2 * time.Hour)
		require.Equal(f, Failed, f.entry("1").State)
		require.Equal(f, []string{"1 failed"}, f.told())
		remove()
		require.NoError(f, f.Retry(f.Context(), f.db, "1"))
		f.pass(10 * time.Minute)
		require.Equal(f, Sent, f.entry("1").State)
	})
}

// hold keeps the response to the next send back. The function that it returns gives it to the box, as a process does that
// was frozen meanwhile.
func (f *fixture) hold() (late func()) {
	var claims []claimed
	var outcomes []outcome
	claims, _, err := f.claim(f.Context(), 1)
	require.NoError(f, err)
	require.Len(f, claims, 1)
	outcomes = []outcome{f.request(f.Context(), claims[0])}
	return func() { require.NoError(f, f.record(f.Context(), outcomes)) }
}

// first walks the template once, so that messages can be claimed.
func (f *fixture) first() {
	f.Helper()
	_, err := f.walkTemplate(f.Context(), walkTask{template: f.template})
	require.NoError(f, err)
}

// The response arrives after another process has continued.
func TestRecord_lateResponses(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.first()
		f.add("found", "ann@example.com")
		late := f.hold()
		f.pass(5 * time.Minute)
		require.Equal(f, Sent, f.entry("found").State, "by its document")
		late()
		require.Empty(f, f.entry("found").Duplicates)

		f.add("cancelled", "ben@example.com")
		late = f.hold()
		f.set("cancelled", Undecided, "")
		require.NoError(f, f.Void(f.Context(), f.db, "cancelled"))
		require.NoError(f, f.MarkNotSent(f.Context(), f.db, "cancelled"))
		require.Equal(f, Cancelled, f.entry("cancelled").State)
		late()
		f.work()
		require.Equal(f, signforms.StatusVoid, f.entry("cancelled").Status)

		f.add("forgotten", "cid@example.com")
		late = f.hold()
		f.set("forgotten", Failed, "")
		require.NoError(f, f.Forget(f.Context(), f.db, "forgotten"))
		late()
		f.lose(1, false)
		f.add("forgotten", "cid@example.com")
		f.pass(20 * time.Minute)
		documents := f.srv.Documents()
		require.Equal(f, documents[0].ID, f.entry("forgotten").DocumentID, "the first document is not another send's")
		require.Len(f, documents, 4)
	})
}

// A limit was crossed: the message was sent again, and then the first response comes after all.
func TestRecord_duplicate(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.first()
		f.add("1", "ann@example.com")
		late := f.hold()
		f.set("1", Undecided, "")
		require.NoError(f, f.MarkNotSent(f.Context(), f.db, "1"))
		f.work()
		e := f.entry("1")
		require.Equal(f, Sent, e.State)
		late()
		f.work()
		require.Equal(f, e.DocumentID, f.entry("1").DocumentID)
		require.Len(f, f.entry("1").Duplicates, 1)
		require.Len(f, f.changes[len(f.changes)-1].Duplicates, 1)
	})
}

// A refusal that comes late does not make a message pending that another process is sending.
func TestRecord_lateRefusal(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.first()
		f.srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Status: 401, Times: 1})
		f.add("1", "ann@example.com")
		late := f.hold()
		f.set("1", Undecided, "")
		require.NoError(f, f.MarkNotSent(f.Context(), f.db, "1"))
		f.hold()
		late()
		require.Equal(f, Sending, f.entry("1").State)
	})
}

func TestRecord_documentOfAnotherKey(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.first()
		f.add("1", "ann@example.com")
		f.work()
		f.add("2", "ben@example.com")
		claims, _, err := f.claim(f.Context(), 1)
		require.NoError(f, err)
		require.NoError(f, f.record(f.Context(), []outcome{{claimed: claims[0], sent: &signforms.Respondent{ID: f.entry("1").DocumentID}}}))
		require.Equal(f, Undecided, f.entry("2").State)
		require.Equal(f, Sent, f.entry("1").State)
	})
}

func TestRequest_endsAfterSendTimeout(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.first()
	f.add("1", "ann@example.com")
	claims, _, err := f.claim(f.Context(), 1)
	require.NoError(t, err)
	f.advance(2 * time.Minute)
	o := f.request(f.Context(), claims[0])
	require.Error(t, o.err)
	require.False(t, errors.Is(o.err, signforms.ErrOutcomeUnknown))
	require.Zero(t, f.sends(), "the claim has taken all the time")
}
