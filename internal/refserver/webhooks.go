package refserver

import (
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Webhook is an endpoint that gets one family of events of some documents.
type Webhook struct {
	URL       string      `json:"url"`                 // absolute, http or https, at most MaxURL characters; where deliveries are posted to
	Event     EventFamily `json:"event"`               // one of the three families; its deliveries about a template's document have the template's id as documentId
	Documents []string    `json:"documents,omitempty"` // ids of forms, PDF documents or templates, depending on Event; none: all of them, later ones too
	Object    bool        `json:"object,omitempty"`    // deliver one JSON object instead of an array of one
}

// tracked checks that the id is of what the webhook's family covers.
func tracked(want, id, kind string) error {
	switch kind {
	case want:
		return nil
	case "":
		return &store.Missing{What: want, ID: id}
	case "document from a template":
		return fmt.Errorf("%q is a document from a template: track the template, with the event %s", id, TemplateResponse)
	}
	return fmt.Errorf("%q is a %s, and a webhook for this event tracks %ss", id, kind, want)
}

// Resend makes a delivery due now, whatever its status, with the same body and a new timestamp and signature. If it
// fails again, its schedule goes on where it was; a dead one stays dead. The error matches [ErrNotFound] for an unknown
// delivery, and [ErrRefused] when it is under way, waits for a finished file, or its webhook is disabled or deleted.
func (s *Server) Resend(deliveryID string) error {
	return s.store.Update(func(tx *store.Tx) error {
		d, err := tx.Delivery(deliveryID)
		if err != nil {
			return err
		}
		return resend(tx, d)
	})
}

// ResendFailed does what Resend does for every delivery of the webhook that was created at since or later and whose
// last attempt failed, dead ones included. It returns their number. When there is no such webhook, or it is disabled,
// none is sent and it returns an error.
func (s *Server) ResendFailed(webhookID string, since time.Time) (n int, err error) {
	err = s.store.Update(func(tx *store.Tx) error {
		if _, err := tx.Webhook(webhookID); err != nil {
			return err
		}
		for d := range tx.Deliveries().All() {
			failed := d.Status == store.DeliveryDead || d.Status == store.DeliveryPending && len(d.Attempts) > 0
			if d.WebhookID != webhookID || !failed || d.CreatedAt.Before(since) {
				continue
			}
			if err := resend(tx, *d); err != nil {
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
	refused := func(why string) error { return &failure{fmt.Errorf("resending %s: %s", d.ID, why), ErrRefused} }
	switch {
	case err != nil:
		return refused("its webhook was deleted")
	case w.Disabled:
		return refused("its webhook is disabled: enable it first")
	case d.Status == store.DeliverySending:
		return refused("it is under way: wait until it has an outcome")
	}
	d.Status, d.NextAttemptAt = store.DeliveryPending, tx.Now
	tx.PutDelivery(d)
	return nil
}

// DisableWebhook turns a webhook off. It gets no new deliveries, and its pending ones are cancelled before
// DisableWebhook returns. An attempt that is under way is cut short. It is an error when there is no such webhook.
func (s *Server) DisableWebhook(webhookID string) error {
	return s.setDisabled(webhookID, true)
}

// EnableWebhook turns a webhook on again. It gets what happens from now on. What was cancelled stays so;
// [Server.Resend] sends it. It is an error when there is no such webhook.
func (s *Server) EnableWebhook(webhookID string) error {
	return s.setDisabled(webhookID, false)
}

// DeleteWebhook deletes a webhook. It gets no new deliveries, and its pending ones are cancelled before DeleteWebhook
// returns. An attempt that is under way is cut short. Its deliveries stay in the log, but cannot be sent again. It is
// an error when there is no such webhook.
func (s *Server) DeleteWebhook(webhookID string) error {
	err := s.store.Update(func(tx *store.Tx) error { return tx.DeleteWebhook(webhookID) })
	if err == nil {
		s.sender.Stop(webhookID)
	}
	return err
}

// setDisabled turns a webhook off, which cancels what is pending or under way at once, or on again.
func (s *Server) setDisabled(id string, disabled bool) error {
	err := s.changeWebhook(id, func(w *store.Webhook) { w.Disabled = disabled })
	if err == nil && disabled {
		s.sender.Stop(id)
	}
	return err
}

func (s *Server) changeWebhook(id string, change func(*store.Webhook)) error {
	return s.store.Update(func(tx *store.Tx) error {
		w, err := tx.Webhook(id)
		if err != nil {
			return err
		}
		change(&w)
		tx.PutWebhook(w)
		return nil
	})
}

// RotateWebhookSecret gives a webhook another secret and returns it. Attempts from now on are signed with it, repeats
// too. The error matches [ErrNotFound] when there is no such webhook.
func (s *Server) RotateWebhookSecret(webhookID string) (secret string, err error) {
	secret = s.ids.Token()
	return secret, s.changeWebhook(webhookID, func(w *store.Webhook) { w.Secret = secret })
}
