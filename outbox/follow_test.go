package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// event is a template's event as a queue gives it to a function.
func (f *fixture) event(email, signerID string) webhook.Event {
	return &webhook.TemplateSigned{Document: webhook.Document{DocumentID: f.template},
		Signers: []webhook.Signer{{Email: email, ID: signerID}}}
}

func TestFuncs_hints(t *testing.T) {
	eachStore(t, func(f *fixture) {
		own := 0
		on := f.Funcs(webhook.Funcs{TemplateSigned: func(context.Context, *webhook.TemplateSigned) error { own++; return nil }})
		f.add("1", "ann@example.com")
		f.add("2", "ben@example.com")
		f.lose(1, true)
		f.pass(10 * time.Second)
		lost, sent := f.entry("1"), f.entry("2")
		if lost.State == Sent {
			lost, sent = sent, lost
		}
		email := map[string]string{"1": "ann@example.com", "2": "ben@example.com"}
		for _, d := range f.srv.Documents() {
			require.NoError(f, f.srv.Signer(d.ID, d.Signers[0].Email).Sign())
		}
		for name, e := range map[string]webhook.Event{"by the signer's id": f.event("", sent.SignerIDs[0]), "by the address": f.event(" "+strings.ToUpper(email[sent.Key]), "unknown")} {
			f.exec("UPDATE signforms_outbox SET state = 'sent', status = 'PENDING' WHERE key = '" + sent.Key + "'")
			require.NoError(f, on.Dispatch(f.Context(), e))
			f.work()
			require.Equal(f, Ended, f.entry(sent.Key).State, name)
		}
		require.NoError(f, on.Dispatch(f.Context(), f.event(email[lost.Key], "unknown")))
		require.NoError(f, on.Dispatch(f.Context(), &webhook.FormResponse{}))
		require.Equal(f, 3, own)
		f.pass(10 * time.Minute)
		require.Equal(f, Ended, f.entry(lost.Key).State, "it is read when its document is known")
	})
}

func TestFuncs_ownErrors(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	mine := errors.New("mine")
	on := f.Funcs(webhook.Funcs{Default: func(context.Context, webhook.Event) error { return mine }})
	require.ErrorIs(t, on.Dispatch(t.Context(), f.event("a@example.com", "1")), mine)
	f.db.Close()
	err := on.Dispatch(t.Context(), f.event("a@example.com", "1"))
	require.Error(t, err)
	require.NotErrorIs(t, err, mine)
}

func TestReconcile_missingDocuments(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("gone", "ann@example.com")
		f.add("hidden", "ben@example.com")
		f.add("listed", "cid@example.com")
		f.work()
		gone, hidden := f.entry("gone").DocumentID, f.entry("hidden").DocumentID
		none := strings.Repeat("0", 23)
		f.rewrite(gone, none+"1", hidden, none+"2")
		lists := f.wire.before
		f.wire.before = func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.Contains(r.URL.RawQuery, gone):
				return &http.Response{StatusCode: 404, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
					Body: io.NopCloser(strings.NewReader(`{"message":"no such document","code":"not_found"}`))}, nil
			case strings.Contains(r.URL.RawQuery, hidden):
				return nil, nil
			}
			return lists(r)
		}
		f.pass(25 * time.Hour)
		require.Equal(f, Sent, f.entry("gone").State, "once is not enough")
		f.pass(48 * time.Hour)
		require.Equal(f, []string{"gone ended", "hidden sent", "listed sent"}, f.states())
		require.Equal(f, signforms.StatusDeleted, f.entry("gone").Status)
	})
}

// A final status changes only from SIGNED to PAID.
func TestFollow_finalStatuses(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.add("1", "ann@example.com")
	f.work()
	for _, step := range []struct{ status, want signforms.DocumentStatus }{
		{"DRAFT", "DRAFT"}, {"PENDING", "PENDING"}, {"SIGNED", "SIGNED"}, {"PENDING", "SIGNED"}, {"VOID", "SIGNED"}, {"PAID", "PAID"}, {"SIGNED", "PAID"},
	} {
		require.NoError(t, f.write(t.Context(), mode{}, func(t *tx) { t.follow(t.byKey("1"), step.status) }))
		require.Equal(t, step.want, f.entry("1").Status)
	}
	f.work()
	require.Equal(t, []string{"1 sent", "1 ended PAID"}, f.told())
}

func (f *fixture) reminders() (n int) {
	for _, m := range f.srv.Messages() {
		if m.Kind == signformstest.Reminder {
			n++
		}
	}
	return n
}

func (f *fixture) addReminded(key string, after ...time.Duration) {
	f.Helper()
	require.NoError(f, f.Add(f.Context(), f.db, Message{Key: key, Send: f.to(key + "@example.com"), RemindAfter: after}))
}

func TestRemind_outcomes(t *testing.T) {
	for name, c := range map[string]struct {
		fault signformstest.Fault
		want  int // reminders that the service has sent in the end
	}{
		"none":                 {signformstest.Fault{Status: 599, Nth: 99}, 1},
		"lost after the work":  {signformstest.Fault{Reset: true, AfterWork: true}, 1},
		"lost before the work": {signformstest.Fault{Reset: true}, 0},
		"503":                  {signformstest.Fault{Status: 503}, 0},
		"401 is given back":    {signformstest.Fault{Status: 401}, 1},
		"refused counts":       {signformstest.Fault{Status: 409}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(f *fixture) {
				c.fault.Operation, c.fault.Times = signforms.OpRemind, 1
				f.srv.Fail(c.fault)
				f.addReminded("1", 72*time.Hour, 80*time.Hour)
				f.pass(71 * time.Hour)
				require.Zero(f, f.reminders())
				f.pass(2 * time.Hour)
				require.Equal(f, c.want, f.reminders())
				f.pass(8 * time.Hour)
				require.Equal(f, c.want+1, f.reminders(), "the next one is another one")
				require.Equal(f, 2, f.entry("1").Reminded)
			})
		})
	}
}

func TestRemind_severalDueAreOne(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.addReminded("1", time.Hour, 2*time.Hour, 10*time.Hour)
	f.work()
	f.advance(3 * time.Hour)
	f.restart(nil)
	f.pass(time.Hour)
	require.Equal(t, 1, f.reminders())
	f.pass(10 * time.Hour)
	require.Equal(t, 2, f.reminders())
}

// The budget is five in 15 minutes: the rest waits, each gets one, and voids are not held up.
func TestRemind_budget(t *testing.T) {
	eachStore(t, func(f *fixture) {
		for i := range 12 {
			f.addReminded(fmt.Sprint(i), time.Hour)
		}
		f.pass(time.Hour + time.Minute)
		require.Equal(f, 5, f.reminders())
		require.NoError(f, f.Void(f.Context(), f.db, "11"))
		f.pass(time.Minute)
		require.Equal(f, Ended, f.entry("11").State)
		f.pass(time.Hour)
		require.Equal(f, 11, f.reminders())
		for _, r := range f.srv.Requests() {
			require.NotEqual(f, http.StatusTooManyRequests, r.StatusCode)
		}
	})
}

// OnChange fails for one key: others go on, and what it wrote is undone until it succeeds.
func TestOnChange_failsAndRunsAgain(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.exec("CREATE TABLE mine (key TEXT NOT NULL)")
		failing, panics := true, true
		f.restart(func(o *Options) {
			o.OnChange = func(ctx context.Context, tx *sql.Tx, e Entry) error {
				if _, err := tx.ExecContext(ctx, "INSERT INTO mine (key) VALUES ('"+e.Key+"')"); err != nil {
					return err
				}
				if e.Key == "1" && panics {
					panics = false
					panic("mine")
				}
				if e.Key == "1" && failing {
					return errors.New("mine")
				}
				if e.Key == "2" {
					return f.Add(ctx, tx, Message{Key: "3", Send: f.to("cid@example.com")})
				}
				return nil
			}
		})
		f.add("1", "ann@example.com")
		f.add("2", "ben@example.com")
		f.pass(time.Minute)
		mine := func(key string) (n int) {
			require.NoError(f, f.db.QueryRow("SELECT count(*) FROM mine WHERE key = '"+key+"'").Scan(&n))
			return n
		}
		require.Equal(f, []int{0, 1, 1}, []int{mine("1"), mine("2"), mine("3")})
		failing = false
		f.pass(5 * time.Minute)
		require.Equal(f, []int{1, 1, 1}, []int{mine("1"), mine("2"), mine("3")})
	})
}

// What was not told yet is told as it is now, once.
func TestOnChange_isLevelTriggered(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.failing = errors.New("down")
	f.add("1", "ann@example.com")
	f.work()
	require.NoError(t, f.srv.Signer(f.entry("1").DocumentID, "ann@example.com").Sign())
	require.NoError(t, f.Funcs(webhook.Funcs{}).Dispatch(t.Context(), f.event("ann@example.com", "")))
	f.work()
	f.failing = nil
	f.pass(10 * time.Minute)
	require.Equal(t, []string{"1 ended SIGNED"}, f.told())
}
