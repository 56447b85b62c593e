package outbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// bubble runs a test in a synctest bubble, with a service and a SQLite file of its own.
func bubble(t *testing.T, test func(*testing.T, *signformstest.Server, *sql.DB, *signformstest.Network)) {
	path := filepath.Join(t.TempDir(), "app.db")
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network, Seed: 1})
		defer srv.Close()
		db, err := sql.Open("sqlite", sqliteSource(path))
		require.NoError(t, err)
		defer db.Close()
		test(t, srv, db, network)
	})
}

func runBox(t *testing.T, b *Box) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-ended)
	}
}

func offer(srv *signformstest.Server) string {
	return srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
}

func sendTo(template, email string) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: email, RoleTitle: "Buyer"}}}
}

func TestRun_followsTheBubblesTime(t *testing.T) {
	bubble(t, func(t *testing.T, srv *signformstest.Server, db *sql.DB, network *signformstest.Network) {
		template := offer(srv)
		var told []State
		b, err := Open(t.Context(), db, srv.Client(), &Options{Logger: slog.New(slog.DiscardHandler), PollInterval: time.Minute,
			OnChange: func(ctx context.Context, tx *sql.Tx, e Entry) error { told = append(told, e.State); return nil }})
		require.NoError(t, err)
		defer runBox(t, b)()
		v, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
		require.NoError(t, err)
		srv.AddWebhook(signformstest.Webhook{Event: signformstest.FamilyTemplateResponse,
			URL: network.Serve("app.test", webhook.NewHandler(v, b.Funcs(webhook.Funcs{}), nil))})
		srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Times: 1, AfterWork: true, Reset: true})
		for i := range 30 {
			require.NoError(t, b.Add(t.Context(), db, Message{Key: fmt.Sprint(i), Send: sendTo(template, fmt.Sprint("p", i, "@example.com")),
				RemindAfter: []time.Duration{72 * time.Hour}}))
		}
		time.Sleep(10 * time.Minute)
		require.Len(t, srv.Documents(), 30)
		s, err := b.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, Stats{}, s)
		for i := range 28 {
			e, err := b.Get(t.Context(), db, fmt.Sprint(i))
			require.NoError(t, err)
			require.NoError(t, srv.Signer(e.DocumentID, fmt.Sprint("p", i, "@example.com")).Sign())
		}
		time.Sleep(time.Minute)
		e, err := b.Get(t.Context(), db, "27")
		require.NoError(t, err)
		require.Equal(t, Ended, e.State, "an event was a hint")
		time.Sleep(96 * time.Hour)
		reminders := 0
		for _, m := range srv.Messages() {
			if m.Kind == signformstest.Reminder {
				reminders++
			}
		}
		require.Equal(t, 2, reminders, "those that were not signed")
		require.Len(t, told, 30+28)
	})
}

func TestRun_idleDay(t *testing.T) {
	bubble(t, func(t *testing.T, srv *signformstest.Server, db *sql.DB, _ *signformstest.Network) {
		b, err := Open(t.Context(), db, srv.Client(), &Options{PollInterval: time.Minute, Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NoError(t, b.Add(t.Context(), db, Message{Key: "1", Send: sendTo(offer(srv), "ann@example.com")}))
		defer runBox(t, b)()
		time.Sleep(24 * time.Hour)
		e, err := b.Get(t.Context(), db, "1")
		require.NoError(t, err)
		require.Equal(t, Sent, e.State)
		require.LessOrEqual(t, len(srv.Requests()), 10)
	})
}

// A deploy ends Run in the middle of sends: they get their Grace, and nothing new begins.
func TestRun_graceForSendsUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		latency time.Duration
		want    State
	}{"within Grace": {15 * time.Second, Sent}, "after Grace": {25 * time.Second, Sending}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, srv *signformstest.Server, db *sql.DB, _ *signformstest.Network) {
				b, err := Open(t.Context(), db, srv.Client(), &Options{Logger: slog.New(slog.DiscardHandler), Workers: 1})
				require.NoError(t, err)
				template := offer(srv)
				srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Latency: c.latency})
				for _, key := range []string{"1", "2"} {
					require.NoError(t, b.Add(t.Context(), db, Message{Key: key, Send: sendTo(template, key+"@example.com")}))
				}
				stop := runBox(t, b)
				time.Sleep(time.Second)
				stop()
				first, err := b.Get(t.Context(), db, "1")
				require.NoError(t, err)
				require.Equal(t, c.want, first.State)
				second, err := b.Get(t.Context(), db, "2")
				require.NoError(t, err)
				require.Equal(t, Pending, second.State)
			})
		})
	}
}

// An hour of 503 leaves a few unknown outcomes, and none of them undecided.
func TestRun_outage(t *testing.T) {
	bubble(t, func(t *testing.T, srv *signformstest.Server, db *sql.DB, _ *signformstest.Network) {
		b, err := Open(t.Context(), db, srv.Client(), &Options{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		template := offer(srv)
		require.NoError(t, b.Add(t.Context(), db, Message{Key: "first", Send: sendTo(template, "first@example.com")}))
		defer runBox(t, b)()
		time.Sleep(time.Minute)
		end := srv.Fail(signformstest.Fault{Status: http.StatusServiceUnavailable})
		for i := range 100 {
			require.NoError(t, b.Add(t.Context(), db, Message{Key: fmt.Sprint(i), Send: sendTo(template, fmt.Sprint("p", i, "@example.com"))}))
		}
		time.Sleep(time.Hour)
		s, err := b.Stats(t.Context())
		require.NoError(t, err)
		assert.Positive(t, s.InDoubt)
		assert.LessOrEqual(t, s.InDoubt, 30)
		end()
		time.Sleep(30 * time.Minute)
		s, err = b.Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, Stats{}, s)
		require.Len(t, srv.Documents(), 101)
	})
}

func TestRun_needsAClientAndRunsOnce(t *testing.T) {
	bubble(t, func(t *testing.T, srv *signformstest.Server, db *sql.DB, _ *signformstest.Network) {
		without, err := Open(t.Context(), db, nil, nil)
		require.NoError(t, err)
		require.ErrorContains(t, without.Run(t.Context()), "without a client")
		b, err := Open(t.Context(), db, srv.Client(), nil)
		require.NoError(t, err)
		defer runBox(t, b)()
		synctest.Wait()
		err = b.Run(t.Context())
		require.Error(t, err)
		require.False(t, errors.Is(err, context.Canceled))
	})
}
