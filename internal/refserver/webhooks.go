package refserver

import (
	"fmt"
	"net/url"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// sources says what a webhook of each family tracks, in the words of [store.Tx.KindOf].
var sources = map[signing.EventFamily]string{
	signing.FamilyFormResponse: "form", signing.FamilySignature: "PDF document", signing.FamilyTemplate: "template",
}

// AddWebhook adds a webhook to the workspace and returns its id. Its sources must be of the kind that its family covers.
func (s *Server) AddWebhook(w store.Webhook) (string, error) {
	if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &signing.Invalid{Field: "URL", Message: fmt.Sprintf("must be an absolute one, as in http://127.0.0.1:8080/webhook, not %q", w.URL)}
	}
	if sources[w.Family] == "" {
		return "", &signing.Invalid{Field: "Event", Message: fmt.Sprintf("must be FormResponse, SignatureCompleted or TemplateResponse, not %q", w.Family)}
	}
	w.ID, w.WorkspaceID, w.Secret = s.ids.UUID(), s.WorkspaceID, s.WebhookSecret
	return w.ID, s.store.Update(func(tx *store.Tx) error {
		for i, id := range w.Sources {
			if err := tracked(sources[w.Family], id, tx.KindOf(w.WorkspaceID, id)); err != nil {
				return fmt.Errorf("%s[%d]: %w", "Documents", i, err)
			}
		}
		w.CreatedAt = tx.Now
		tx.PutWebhook(w)
		return nil
	})
}

// tracked checks that the id is of what the webhook's family covers.
func tracked(want, id, kind string) error {
	switch kind {
	case want:
		return nil
	case "":
		return &store.Missing{What: want, ID: id}
	case "document from a template":
		return fmt.Errorf("%q is a document from a template: track the template, with the event TemplateResponse", id)
	}
	return fmt.Errorf("%q is a %s, and a webhook for this Event tracks %ss", id, kind, want)
}

// SetWebhookDisabled turns a webhook off, which cancels what is pending or under way at once, or on again.
func (s *Server) SetWebhookDisabled(id string, disabled bool) error {
	err := s.store.Update(func(tx *store.Tx) error {
		w, err := tx.Webhook(id)
		if err != nil {
			return err
		}
		w.Disabled = disabled
		tx.PutWebhook(w)
		return nil
	})
	if err == nil && disabled {
		s.sender.Stop(id)
	}
	return err
}

// DeleteWebhook removes a webhook and cancels what is pending or under way at once. Its log stays.
func (s *Server) DeleteWebhook(id string) error {
	err := s.store.Update(func(tx *store.Tx) error { return tx.DeleteWebhook(id) })
	if err == nil {
		s.sender.Stop(id)
	}
	return err
}

// Deliveries returns the log of the webhook sender, in the order in which deliveries were enqueued.
func (s *Server) Deliveries() (all []store.Delivery) {
	s.store.View(func(tx *store.Tx) error {
		all = tx.Deliveries()
		return nil
	})
	return all
}

// Resend makes a delivery due now, whatever became of it. If it fails again, the schedule goes on where it was.
func (s *Server) Resend(deliveryID string) error {
	return s.store.Update(func(tx *store.Tx) error {
		d, err := tx.Delivery(deliveryID)
		if err != nil {
			return err
		}
		return resend(tx, d)
	})
}

// ResendFailed makes every delivery of the webhook due now that was enqueued at or after since and was tried without
// success, and returns how many those are.
func (s *Server) ResendFailed(webhookID string, since time.Time) (n int, err error) {
	err = s.store.Update(func(tx *store.Tx) error {
		if _, err := tx.Webhook(webhookID); err != nil {
			return err
		}
		for _, d := range tx.Deliveries() {
			failed := d.Status == store.DeliveryDead || d.Status == store.DeliveryPending && len(d.Attempts) > 0
			if d.WebhookID != webhookID || !failed || d.CreatedAt.Before(since) {
				continue
			}
			if err := resend(tx, d); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func resend(tx *store.Tx, d store.Delivery) error {
	w, err := tx.Webhook(d.WebhookID)
	switch {
	case err != nil:
		return fmt.Errorf("resending %s: its webhook was deleted", d.ID)
	case w.Disabled:
		return fmt.Errorf("resending %s: its webhook is disabled, call EnableWebhook first", d.ID)
	case d.Status == store.DeliverySending:
		return fmt.Errorf("resending %s: it is under way, call Settle first", d.ID)
	}
	d.Status, d.NextAttemptAt = store.DeliveryPending, tx.Now
	tx.PutDelivery(d)
	return nil
}
