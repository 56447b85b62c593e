package refserver

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// families lists what a webhook can select.
var families = []signing.EventFamily{signing.FamilyFormResponse, signing.FamilySignature, signing.FamilyTemplate}

// AddWebhook adds a webhook to the workspace and returns its id. Its sources must be of the kind that its family covers.
func (s *Server) AddWebhook(w store.Webhook) (string, error) {
	if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &signing.Invalid{Field: "url", Message: "must be an absolute http or https URL"}
	}
	if !slices.Contains(families, w.Family) {
		return "", &signing.Invalid{Field: "event", Message: fmt.Sprintf("must be one of %q", families)}
	}
	w.ID, w.WorkspaceID, w.Secret = s.ids.UUID(), s.WorkspaceID, s.WebhookSecret
	return w.ID, s.store.Update(func(tx *store.Tx) error {
		for i, id := range w.Sources {
			if err := tracked(tx, w.Family, id); err != nil {
				return fmt.Errorf("documents[%d]: %w", i, err)
			}
		}
		w.CreatedAt = tx.Now
		tx.PutWebhook(w)
		return nil
	})
}

// tracked checks that there is a record with the id and of the kind that the family covers.
func tracked(tx *store.Tx, family signing.EventFamily, id string) error {
	var err error
	switch family {
	case signing.FamilyFormResponse:
		_, err = tx.Form(id)
	case signing.FamilyTemplate:
		_, err = tx.Template(id)
	case signing.FamilySignature:
		var d signing.Document
		if d, err = tx.Document(id); err == nil && d.Kind != signing.KindPDF {
			err = &signing.Invalid{Field: "event", Message: "the document was made from a template: track the template, with " + string(signing.FamilyTemplate)}
		}
	}
	return err
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
	return n, s.store.Update(func(tx *store.Tx) error {
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
}

func resend(tx *store.Tx, d store.Delivery) error {
	w, err := tx.Webhook(d.WebhookID)
	switch {
	case err != nil:
		return fmt.Errorf("resending %s: %w", d.ID, err)
	case w.Disabled:
		return fmt.Errorf("resending %s: its webhook is disabled", d.ID)
	case d.Status == store.DeliverySending:
		return fmt.Errorf("resending %s: it is being sent", d.ID)
	}
	d.Status, d.NextAttemptAt = store.DeliveryPending, tx.Now
	tx.PutDelivery(d)
	return nil
}
