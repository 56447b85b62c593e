package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

func TestOutbox_webhooksThatTrackAnEvent(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	d := add(t, s, ids, signing.Document{}, noon)
	update(t, s, func(tx *store.Tx) {
		for _, w := range []store.Webhook{
			{ID: "all", Family: signing.FamilySignature},
			{ID: "this", Family: signing.FamilySignature, Sources: []string{"other", d.ID}},
			{ID: "other document", Family: signing.FamilySignature, Sources: []string{"other"}},
			{ID: "other family", Family: signing.FamilyTemplate},
			{ID: "disabled", Family: signing.FamilySignature, Disabled: true},
		} {
			tx.PutWebhook(w)
		}
	})
	_, err := s.Act(d.ID, func(d signing.Document, _ time.Time) (signing.Change, error) {
		return d.View("ann@example.com", signing.Origin{}, noon)
	})
	require.NoError(t, err)
	select {
	case <-s.Enqueued():
	default:
		t.Fatal("the sender is not woken")
	}
	view(t, s, func(tx *store.Tx) {
		deliveries := values(tx.Deliveries())
		require.Len(t, deliveries, 2)
		require.Equal(t, []string{"all", "this"}, []string{deliveries[0].WebhookID, deliveries[1].WebhookID})
		require.Equal(t, signing.EventSignatureViewed, deliveries[0].Events[0].Type)
		require.Equal(t, noon, deliveries[0].NextAttemptAt)
	})
}

func TestOutbox_familiesOfEvents(t *testing.T) {
	for _, row := range []struct {
		event signing.EventType
		want  signing.EventFamily
	}{
		{event: "new_form_response", want: "new_form_response"},
		{event: "new_signature_pdf_individual_viewed", want: "new_signature_completed"},
		{event: "new_signature_pdf_individual_signed", want: "new_signature_completed"},
		{event: "new_signature_pdf_completed", want: "new_signature_completed"},
		{event: "new_template_response_individual_viewed", want: "new_template_response"},
		{event: "new_template_response_individual_signed", want: "new_template_response"},
		{event: "new_template_response", want: "new_template_response"},
	} {
		t.Run(fmt.Sprint(row.event), func(t *testing.T) {
			require.Equal(t, row.want, row.event.Family())
		})
	}
}

func TestOutbox_dueInOrderOfTime(t *testing.T) {
	s := store.New(atNoon)
	var ids []string
	update(t, s, func(tx *store.Tx) {
		for _, minutes := range []int{3, 1, 2, 1} {
			d := tx.Enqueue(store.Delivery{WebhookID: "h", NextAttemptAt: noon.Add(time.Duration(minutes) * time.Minute)})
			ids = append(ids, d.ID)
		}
	})
	view(t, s, func(tx *store.Tx) {
		require.Empty(t, tx.Due(noon.Add(time.Minute-1), 9))
		require.Equal(t, []string{ids[1], ids[3]}, deliveryIDs(tx.Due(noon.Add(time.Minute), 9)), "at its time it is due")
		require.Equal(t, []string{ids[1], ids[3], ids[2]}, deliveryIDs(tx.Due(noon.Add(time.Hour), 3)))
		at, ok := tx.NextDeliveryAt()
		require.True(t, ok)
		require.Equal(t, noon.Add(time.Minute), at)
	})
	update(t, s, func(tx *store.Tx) {
		d := tx.Due(noon.Add(time.Minute), 1)[0]
		d.Status = store.DeliverySending
		tx.PutDelivery(d)
		require.Equal(t, []string{ids[3]}, deliveryIDs(tx.Due(noon.Add(time.Minute), 9)), "claimed is not due")
		d.Status, d.NextAttemptAt = store.DeliveryPending, noon.Add(time.Hour)
		tx.PutDelivery(d)
	})
	view(t, s, func(tx *store.Tx) {
		require.Equal(t, []string{ids[3], ids[2], ids[0], ids[1]}, deliveryIDs(tx.Due(noon.Add(time.Hour), 9)), "rescheduled")
		_, err := tx.Delivery("dlv_9")
		require.EqualError(t, err, `no delivery with id "dlv_9"`)
	})
}

func TestOutbox_cancelledWithItsWebhook(t *testing.T) {
	for _, row := range []struct {
		name string
		stop func(*testing.T, *store.Tx)
	}{
		{name: "disable", stop: func(_ *testing.T, tx *store.Tx) { tx.PutWebhook(store.Webhook{ID: "h", Disabled: true}) }},
		{name: "delete", stop: func(t *testing.T, tx *store.Tx) { require.NoError(t, tx.DeleteWebhook("h")) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := store.New(atNoon)
			update(t, s, func(tx *store.Tx) {
				tx.PutWebhook(store.Webhook{ID: "h"})
				tx.Enqueue(store.Delivery{WebhookID: "h", NextAttemptAt: noon})
				tx.Enqueue(store.Delivery{WebhookID: "i", NextAttemptAt: noon})
			})
			update(t, s, func(tx *store.Tx) { row.stop(t, tx) })
			view(t, s, func(tx *store.Tx) {
				deliveries := values(tx.Deliveries())
				require.Equal(t, store.DeliveryCancelled, deliveries[0].Status)
				require.Equal(t, store.DeliveryPending, deliveries[1].Status, "another webhook's go on")
				require.Len(t, tx.Due(noon, 9), 1)
			})
		})
	}
	err := store.New(atNoon).Update(func(tx *store.Tx) error { return tx.DeleteWebhook("h") })
	require.EqualError(t, err, `no webhook with id "h"`)
}

func deliveryIDs(deliveries []store.Delivery) (ids []string) {
	for _, d := range deliveries {
		ids = append(ids, d.ID)
	}
	return ids
}
