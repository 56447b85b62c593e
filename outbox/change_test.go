package outbox

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

func TestAdd_commitsWithTheTransaction(t *testing.T) {
	eachStore(t, func(f *fixture) {
		tx, err := f.db.Begin()
		require.NoError(f, err)
		require.NoError(f, f.Add(f.Context(), tx, Message{Key: "1", Send: f.to("ann@example.com")}))
		require.NoError(f, tx.Rollback())
		f.pass(time.Minute)
		require.Empty(f, f.states())
		require.Zero(f, f.sends())
	})
}

func TestAdd_sameKey(t *testing.T) {
	eachStore(t, func(f *fixture) {
		first := Message{Key: "1", Send: f.to("ann@example.com"), RemindAfter: []time.Duration{time.Hour}}
		require.NoError(f, f.Add(f.Context(), f.db, first))
		other := f.to("ann@example.com")
		other.PDF = []byte("%PDF-1.7")
		for name, c := range map[string]struct {
			message Message
			want    error
		}{
			"the same":           {first, nil},
			"other RemindAfter":  {Message{Key: "1", Send: first.Send, SendBefore: begin}, nil},
			"another receiver":   {Message{Key: "1", Send: f.to("ben@example.com")}, ErrKeyUsed},
			"another PDF":        {Message{Key: "1", Send: other}, ErrKeyUsed},
			"invalid":            {Message{Key: "2", Send: f.to("ann")}, signforms.ErrInvalid},
			"the same once sent": {first, nil},
		} {
			if name == "the same once sent" {
				f.work()
			}
			if err := f.Add(f.Context(), f.db, c.message); c.want == nil {
				require.NoError(f, err, name)
			} else {
				require.ErrorIs(f, err, c.want, name)
			}
		}
		for _, m := range []Message{{Send: first.Send}, {Key: "2", Send: first.Send, RemindAfter: []time.Duration{2, 1}}} {
			require.Error(f, f.Add(f.Context(), f.db, m))
		}
		f.work()
		require.Equal(f, []string{"1 sent"}, f.states())
		require.Equal(f, 1, f.sends())
	})
}

// set puts a message into a state.
func (f *fixture) set(key string, s State, more string) {
	f.Helper()
	f.exec("UPDATE signforms_outbox SET state = '" + string(s) + "'" + more + " WHERE key = '" + key + "'")
}

func TestDecisions_byState(t *testing.T) {
	all := []State{Pending, Sending, Sent, Ended, Failed, Undecided, Cancelled}
	eachStore(t, func(f *fixture) {
		for name, c := range map[string]struct {
			do   func(context.Context, Querier, string) error
			want map[State]State // the others are refused
		}{
			"Void": {f.Void, map[State]State{Pending: Cancelled, Failed: Cancelled, Sending: Sending, Undecided: Undecided,
				Sent: Sent, Cancelled: Cancelled}},
			"MarkNotSent": {f.MarkNotSent, map[State]State{Undecided: Pending}},
			"Retry":       {f.Retry, map[State]State{Failed: Pending}},
			"Forget":      {f.Forget, map[State]State{Ended: "", Failed: "", Cancelled: ""}},
		} {
			for _, s := range all {
				key := name + string(s)
				f.add(key, "ann@example.com")
				f.set(key, s, ", status = 'SIGNED'")
				err := c.do(f.Context(), f.db, key)
				want, allowed := c.want[s]
				if !allowed {
					require.ErrorIs(f, err, ErrState, key)
					continue
				}
				require.NoError(f, err, key)
				if want == "" {
					_, err := f.Get(f.Context(), f.db, key)
					require.ErrorIs(f, err, ErrKeyUnknown, key)
					continue
				}
				require.Equal(f, want, f.entry(key).State, key)
			}
			require.ErrorIs(f, c.do(f.Context(), f.db, "nobody's"), ErrKeyUnknown, name)
		}
	})
}

func TestForget_needsOnChange(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("1", "ann@example.com")
		require.NoError(f, f.Void(f.Context(), f.db, "1"))
		require.ErrorIs(f, f.Forget(f.Context(), f.db, "1"), ErrState)
		f.work()
		require.Equal(f, []string{"1 cancelled"}, f.told())
		require.NoError(f, f.Forget(f.Context(), f.db, "1"))
		f.add("1", "ben@example.com")
		f.work()
		require.Equal(f, []string{"1 sent"}, f.states())
	})
}

func TestVoid_once_sent(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.lose(1, true)
		f.add("1", "ann@example.com")
		f.add("2", "ben@example.com")
		f.work()
		require.NoError(f, f.Void(f.Context(), f.db, "1"))
		f.pass(time.Minute)
		require.Equal(f, []string{"1 sending", "2 sent"}, f.states())
		require.NoError(f, f.Void(f.Context(), f.db, "2"))
		require.True(f, f.entry("2").Voiding)
		f.pass(10 * time.Minute)
		require.Equal(f, []string{"1 ended", "2 ended"}, f.states())
		for _, d := range f.srv.Documents() {
			require.Equal(f, signforms.StatusVoid, d.Status)
		}
		require.False(f, f.entry("2").Voiding)
	})
}

func TestVoid_signedMeanwhile(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("1", "ann@example.com")
		f.work()
		require.NoError(f, f.srv.Signer(f.entry("1").DocumentID, "ann@example.com").Sign())
		require.NoError(f, f.Void(f.Context(), f.db, "1"))
		f.work()
		require.Equal(f, signforms.StatusSigned, f.entry("1").Status)
		require.ErrorIs(f, f.Void(f.Context(), f.db, "1"), ErrState)
	})
}

func TestErase_keepsIds(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("1", "ann@example.com")
		f.add("2", "ben@example.com")
		f.work()
		content := func(key string) string {
			var text sql.NullString
			require.NoError(f, f.db.QueryRow("SELECT content FROM signforms_outbox WHERE key = '"+key+"'").Scan(&text))
			return text.String
		}
		require.Contains(f, content("1"), "ann@example.com")
		require.NoError(f, f.srv.Signer(f.entry("1").DocumentID, "ann@example.com").Decline(""))
		f.pass(25 * time.Hour)
		f.advance(31 * 24 * time.Hour)
		f.work()
		require.Empty(f, content("1"))
		require.NotEmpty(f, content("2"), "it is open")
		e := f.entry("1")
		require.NotEmpty(f, e.DocumentID)
		require.NotEmpty(f, e.SignerIDs)
		f.set("1", Failed, "")
		require.ErrorIs(f, f.Retry(f.Context(), f.db, "1"), ErrErased)
	})
}

func TestContent_withoutMailsAndPDFAfterTheSend(t *testing.T) {
	c := content{contentVersion, signforms.TemplateSendParams{TemplateID: "t", PDF: []byte("pdf"), Mail: signforms.Mail{Subject: "secret", Message: "secret"},
		Receivers: []signforms.Receiver{{Name: "Ann", Email: "a@example.com", RoleTitle: "Buyer", RoleColor: "red", Subject: "secret", Message: "secret"}},
		Variables: []signforms.Variable{{Name: "[v]", Value: "1"}}}}
	require.Equal(t, `{"Version":1,"TemplateID":"t","Receivers":[{"name":"Ann","email":"a@example.com","roleTitle":"Buyer","roleColour":"red",`+
		`"subject":"secret","message":"secret"}],"Mail":{"subject":"secret","message":"secret"},"Variables":[{"varName":"[v]","varValue":"1"}],"PDF":"cGRm"}`,
		toJSON(c), "another encoding changes the digest of every message: raise contentVersion and read both")
	back, err := decode([]byte(toJSON(c)))
	require.NoError(t, err)
	require.Equal(t, c, back)
	kept := toJSON(c.afterSend())
	require.NotContains(t, kept, "secret")
	require.NotContains(t, kept, "cGRm")
	require.Contains(t, kept, "a@example.com")
}

// The document is void, and then a process hears that its own request to void it was lost.
func TestVoid_lateError(t *testing.T) {
	f := newFixture(t, sqlitePlace(t))
	f.add("1", "ann@example.com")
	f.work()
	require.NoError(t, f.Void(f.Context(), f.db, "1"))
	f.wire.before = func(r *http.Request) (*http.Response, error) {
		f.wire.before = nil
		f.advance(time.Minute)
		other := f.open(&Options{Now: f.now, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, other.voidDocuments(f.Context()))
		return nil, errors.New("the connection is lost")
	}
	f.work()
	require.Equal(t, signforms.StatusVoid, f.entry("1").Status)
	f.pass(time.Hour)
	voids := 0
	for _, r := range f.srv.Requests() {
		if r.Operation == signforms.OpVoidDocument {
			voids++
		}
	}
	require.Equal(t, 1, voids)
}
