package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/signformstest"
	"github.com/signforms/signforms-go/webhook"
)

// TestQueue_threeVirtualDays runs client, service and queue in one testing/synctest bubble, as a test of an application would. The
// function fails for a day, and the queue tries again until it succeeds; then the document is reminded of.
func TestQueue_threeVirtualDays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.db")
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
		defer srv.Close()
		client := srv.Client()
		verifier, err := webhook.NewVerifier([]string{srv.WebhookSecret}, nil)
		require.NoError(t, err)

		q, err := queue.OpenSQLite(path, &queue.Options{ // in the bubble, so that its clock is the bubble's
			Exclusive: true,
			Retries:   []time.Duration{5 * time.Second, 12 * time.Hour, 12 * time.Hour},
			Logger:    slog.New(slog.DiscardHandler),
		})
		require.NoError(t, err)
		defer q.Close()
		srv.AddWebhook(signformstest.Webhook{Event: signformstest.FamilyTemplateResponse, URL: network.Serve("app.test", q.Handler(verifier))})

		start := time.Now()
		var tries []time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- q.Run(ctx, webhook.Funcs{TemplateViewed: func(context.Context, *webhook.TemplateViewed) error {
				tries = append(tries, time.Since(start))
				if time.Since(start) < 20*time.Hour { // waits vary by a tenth, so the fourth try comes after 21.6 hours or more
					return errors.New("the archive is closed until tomorrow")
				}
				return nil
			}})
		}()

		template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
		sent, err := client.Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
		})
		require.NoError(t, err)
		require.NoError(t, srv.Signer(sent.DocumentID, "ann@example.com").View())

		time.Sleep(72 * time.Hour)
		cancel()
		require.NoError(t, <-ended)
		require.Len(t, tries, 4)
		for i, want := range []time.Duration{0, 5 * time.Second, 12 * time.Hour, 24 * time.Hour} {
			require.InDelta(t, want, tries[i], float64(want)/8+float64(time.Second))
		}
		stats, err := q.Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, stats.Processed)
		require.Zero(t, stats.Pending)
	})
	require.Less(t, time.Since(began), 20*time.Second)
}

// A queue that is alone erases what is not kept any longer, at its time.
func TestExclusive_keepTimes(t *testing.T) {
	path := newFile(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(2 * 365 * 24 * time.Hour)
		s := stage{T: t, where: path}
		q := s.queue(&queue.Options{Exclusive: true, Retries: []time.Duration{}, KeepFailed: 30 * 24 * time.Hour, KeepKeys: time.Hour})
		s.run(q, failing("no"))
		s.accept(q, completed("a", 1))
		time.Sleep(30*24*time.Hour - time.Minute)
		require.Equal(s, []string{"a/failed"}, s.states(q))
		time.Sleep(2 * time.Minute)
		require.Equal(s, []string{"/erased"}, s.states(q))
		time.Sleep(time.Hour)
		require.Empty(s, s.states(q))
	})
}

func TestExclusive_refusesOthers(t *testing.T) {
	s := stage{T: t, where: newFile(t)}
	q := s.queue(nil)
	_, err := queue.OpenSQLite(string(s.where), &queue.Options{Exclusive: true})
	require.ErrorContains(t, err, "needs it for this process alone")
	require.NoError(t, q.Close())
	alone := s.queue(&queue.Options{Exclusive: true})
	_, err = queue.OpenSQLite(string(s.where), nil)
	require.ErrorContains(t, err, "Options.Exclusive: end that process first")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), roleVariable+"="+roleReceive, whereVariable+"="+string(s.where))
	out, err := other.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "end that process first")
	require.NoError(t, alone.Close())
	s.queue(nil)
	_, err = queue.OpenPostgres(t.Context(), nil, &queue.Options{Exclusive: true})
	require.ErrorContains(t, err, "for a SQLite file")
}
