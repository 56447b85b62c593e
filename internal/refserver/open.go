package refserver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// open begins with an empty state, or continues with the state in the Storage.
func (s *Server) open() error {
	if s.options.Storage == nil {
		return s.begin()
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stopSaving = cancel
	k := &keeper{storage: s.options.Storage, ctx: ctx, logger: s.logger, clock: &s.clock}
	s.keeper = k
	if err := s.store.Keep(k); err != nil {
		cancel()
		return fmt.Errorf("loading the state: %w", err)
	}
	var service store.Service
	s.store.View(func(tx *store.Tx) error {
		service = tx.Service()
		return nil
	})
	var err error
	switch {
	case k.loaded == 0:
		err = s.begin()
	case service.WorkspaceID == "":
		err = errNoService
	default:
		err = s.resume(service)
	}
	if err != nil {
		cancel()
	}
	return err
}

// begin makes the server's own workspace. Do not change the order in which ids are made: with a
// seed, the ids must stay the same.
func (s *Server) begin() error {
	secret := cmp.Or(s.options.WebhookSecret, s.ids.Token())
	own := store.Service{
		WorkspaceID: cmp.Or(s.options.WorkspaceID, s.ids.UUID()), OwnerID: s.ids.UUID(), WebhookSecret: secret, Offset: s.clock.advanced(),
	}
	own.APIKey = cmp.Or(s.options.APIKey, s.ids.Token())
	s.WorkspaceID, s.APIKey, s.WebhookSecret = own.WorkspaceID, own.APIKey, secret
	return s.store.Update(func(tx *store.Tx) error {
		tx.PutKey(own.APIKey)
		tx.PutService(own)
		return nil
	})
}

// resume continues with the loaded state. Ids begin at a random point, because the ids of the seed
// were used before.
func (s *Server) resume(was store.Service) error {
	if want := s.options.WorkspaceID; want != "" && want != was.WorkspaceID {
		return invalid("Options.WorkspaceID", "the storage holds the workspace %q, not %q", was.WorkspaceID, want)
	}
	s.ids = signing.NewIDs(0)
	s.ids.Prefix = s.options.Prefix
	now := was
	now.APIKey = cmp.Or(s.options.APIKey, was.APIKey)
	now.WebhookSecret = cmp.Or(s.options.WebhookSecret, was.WebhookSecret)
	s.WorkspaceID, s.APIKey, s.WebhookSecret = now.WorkspaceID, now.APIKey, now.WebhookSecret
	return s.store.Update(func(tx *store.Tx) error {
		if now != was {
			tx.PutService(now)
		}
		if now.APIKey != was.APIKey {
			tx.DeleteKey(was.APIKey)
			tx.PutKey(now.APIKey)
		}
		for _, w := range tx.Webhooks() {
			if w.Secret == was.WebhookSecret && now.WebhookSecret != was.WebhookSecret {
				w.Secret = now.WebhookSecret
				tx.PutWebhook(w)
			}
		}
		return nil
	})
}

// closing is how long a Save may continue when the server closes.
const closing = 10 * time.Second

// boundSaving ends the context of every Save after the time closing, or when the returned function
// is called.
func (s *Server) boundSaving() (end func()) {
	if s.options.Storage == nil {
		return func() {}
	}
	timer := time.AfterFunc(closing, s.stopSaving)
	return func() {
		timer.Stop()
		s.stopSaving()
	}
}

// Stopped returns an error that matches [ErrStopped] once the service has stopped, and nil before.
func (s *Server) Stopped() error { return s.store.Stopped() }

// Reset deletes records, logs, faults, and the requests that counted for the reminder limit. It
// keeps the workspace, its API keys and the webhook secret. The clock does not change, and ids
// continue. An attempt to deliver that is running ends by itself.
func (s *Server) Reset() error {
	err := s.store.Update(func(tx *store.Tx) error {
		tx.Clear()
		return nil
	})
	if err != nil {
		return err
	}
	s.service.RestoreLimits()
	s.requests.reset()
	s.ClearFaults()
	s.happenings.publish(Happening{Kind: WorkspaceHappening, ID: s.WorkspaceID, At: s.Now()})
	return nil
}
