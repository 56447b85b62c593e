package refserver

import (
	"fmt"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// tracked checks that the record with the id has the kind that the webhook's family covers.
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

// Resend makes a delivery due now, whatever its status, with the same body and a new timestamp and
// signature. If the attempt fails again, the schedule of the delivery continues where it was; a
// dead delivery stays dead.
//
// For an unknown delivery, the error matches [ErrNotFound]. The error matches [ErrRefused] if the
// delivery is being sent, if it waits for a finished file, or if its webhook is disabled or
// deleted.
func (s *Server) Resend(deliveryID string) error {
	return s.store.Update(func(tx *store.Tx) error {
		d, err := tx.Delivery(deliveryID)
		if err != nil {
			return err
		}
		return resend(tx, d)
	})
}

// ResendFailed calls Resend for every delivery of the webhook that was created at since or later
// and whose last attempt failed, including dead deliveries. It returns their number. If the webhook
// does not exist or is disabled, ResendFailed sends nothing and returns an error.
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
		return refused("it is being sent: wait until it has an outcome")
	}
	d.Status, d.NextAttemptAt = store.DeliveryPending, tx.Now
	tx.PutDelivery(d)
	return nil
}

// DisableWebhook disables a webhook. The webhook gets no new deliveries, and its pending deliveries
// are cancelled before DisableWebhook returns. An attempt that is being sent is interrupted.
// DisableWebhook returns an error if the webhook does not exist.
func (s *Server) DisableWebhook(webhookID string) error {
	return s.setDisabled(webhookID, true)
}

// EnableWebhook enables a webhook again. The webhook gets the events from now on. Cancelled
// deliveries stay cancelled; [Server.Resend] sends them. EnableWebhook returns an error if the
// webhook does not exist.
func (s *Server) EnableWebhook(webhookID string) error {
	return s.setDisabled(webhookID, false)
}

// DeleteWebhook deletes a webhook. The webhook gets no new deliveries, and its pending deliveries
// are cancelled before DeleteWebhook returns. An attempt that is being sent is interrupted. The
// deliveries stay in the log, but cannot be sent again. DeleteWebhook returns an error if the
// webhook does not exist.
func (s *Server) DeleteWebhook(webhookID string) error {
	err := s.store.Update(func(tx *store.Tx) error { return tx.DeleteWebhook(webhookID) })
	if err == nil {
		s.sender.Stop(webhookID)
	}
	return err
}

// setDisabled disables or enables a webhook. Disabling it cancels the deliveries that are pending
// or being sent, at once.
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

// RotateWebhookSecret gives a webhook another secret and returns it. All later attempts are signed
// with the new secret, including repeats of earlier deliveries. The error matches [ErrNotFound] if
// the webhook does not exist.
func (s *Server) RotateWebhookSecret(webhookID string) (secret string, err error) {
	secret = s.ids.Token()
	return secret, s.changeWebhook(webhookID, func(w *store.Webhook) { w.Secret = secret })
}
