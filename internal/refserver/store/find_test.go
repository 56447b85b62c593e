package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// taken is what a reader took from a view, to be read later, and what it read at once.
type taken struct {
	read func() string
	want string
}

// take takes documents, deliveries, mail and an audit trail.
func take(tx *store.Tx, q store.Query, id string) taken {
	found, deliveries, messages, trail := tx.Documents(q), tx.Deliveries(), tx.Messages(), tx.Audit(id)
	read := func() string {
		page, total := found()
		text := fmt.Sprintf("%d of %d\n", len(page), total)
		for _, d := range page {
			text += fmt.Sprintf("%+v\n", *d)
		}
		text += fmt.Sprintf("%d deliveries\n", deliveries.Len())
		for d := range deliveries.Newest() {
			text += fmt.Sprintf("%+v\n", *d)
		}
		return text + fmt.Sprintf("%+v %+v", values(messages), values(trail))
	}
	return taken{read, read()}
}

// TestView_resultsDoNotChange reads what views returned after many changes, of which some are undone: it is what it was.
func TestView_resultsDoNotChange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	now := noon
	s, ids := store.New(func() time.Time { return now }), signing.NewIDs(1)
	s.SetBounds(store.Bounds{Deliveries: 60, Messages: 200, Audit: 300})
	update(t, s, func(tx *store.Tx) {
		tx.PutWebhook(store.Webhook{ID: "s", Family: signing.FamilySignature})
	})
	var documents []string
	for range 600 { // more than two blocks
		documents = append(documents, add(t, s, ids, signing.Document{Name: fmt.Sprintf("Lease %d", rnd.IntN(20))}, now).ID)
	}
	var all []taken
	for step := range 1_000 {
		now = now.Add(time.Second)
		id := documents[rnd.IntN(len(documents))]
		switch rnd.IntN(5) {
		case 0:
			documents = append(documents, add(t, s, ids, signing.Document{Name: fmt.Sprintf("Lease %d", rnd.IntN(20))}, noon.Add(time.Duration(step)*time.Second)).ID)
		case 1:
			err := s.Update(func(tx *store.Tx) error {
				add, err := signing.Create(signing.Document{Kind: signing.KindPDF, Name: "Lease 7"}, ids, now)
				require.NoError(t, err)
				tx.Apply(add)
				return errors.New("undone")
			})
			require.Error(t, err)
		case 2:
			s.Act(id, signing.Document.Void)
		case 3:
			s.Act(id, func(d signing.Document, at time.Time) (signing.Change, error) {
				return d.Sign("ann@example.com", signing.SignParams{}, at)
			})
		case 4:
			update(t, s, func(tx *store.Tx) {
				for _, d := range tx.Claim(2) {
					d.Status = store.DeliveryDelivered
					tx.PutDelivery(d)
				}
			})
		}
		if step%40 == 0 {
			q := store.Query{Page: store.Page{Ascending: rnd.IntN(2) == 0, Offset: rnd.Int64N(30), Limit: 20}}
			if rnd.IntN(3) > 0 {
				q.Text = fmt.Sprintf("LEASE %d", rnd.IntN(20))
			}
			view(t, s, func(tx *store.Tx) { all = append(all, take(tx, q, id)) })
		}
	}
	for _, k := range all {
		require.Equal(t, k.want, k.read())
	}
}

// TestView_concurrentWithAWriter: each transaction adds two documents or changes both, so that whatever a reader finds, it finds an even number.
func TestView_concurrentWithAWriter(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	update(t, s, func(tx *store.Tx) {
		tx.PutWebhook(store.Webhook{ID: "s", Family: signing.FamilySignature})
	})
	pairs := 200
	if testing.Short() {
		pairs = 50
	}
	var done atomic.Bool
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			odd := 0
			for n := 0; !done.Load(); n++ {
				q := store.Query{Page: store.Page{Ascending: n%2 == 0, Limit: 1 << 20}}
				if i > 0 {
					q.Text = "pAiR"
				}
				var found store.Found[signing.Document]
				var deliveries store.Records[store.Delivery]
				s.View(func(tx *store.Tx) error {
					found, deliveries = tx.Documents(q), tx.Deliveries()
					return nil
				})
				page, total := found()
				if len(page) != total || total%2 != 0 || deliveries.Len()%2 != 0 || len(values(deliveries)) != deliveries.Len() {
					odd++
				}
			}
			if odd > 0 {
				t.Errorf("%d times half of a change was seen", odd)
			}
		})
	}
	for range pairs {
		var pair []string
		update(t, s, func(tx *store.Tx) {
			for range 2 {
				c, err := signing.Create(signing.Document{
					Kind: signing.KindPDF, Name: "A pair", Signers: []signing.Signer{{Email: "ann@example.com"}},
				}, ids, noon)
				require.NoError(t, err)
				tx.Apply(c)
				pair = append(pair, c.Document.ID)
			}
		})
		for _, act := range []signing.Command{signing.Document.Send, func(d signing.Document, at time.Time) (signing.Change, error) {
			return d.View("ann@example.com", signing.Origin{}, at)
		}} {
			update(t, s, func(tx *store.Tx) {
				for _, id := range pair {
					d, err := tx.Document(id)
					require.NoError(t, err)
					c, err := act(d, tx.Now)
					require.NoError(t, err)
					tx.Apply(c)
				}
			})
		}
	}
	done.Store(true)
	readers.Wait()
	view(t, s, func(tx *store.Tx) { require.Equal(t, 2*pairs, tx.Deliveries().Len()) })
}

// TestDeliveries_countsByStatus compares the numbers by status with counting, also after deliveries were dropped.
func TestDeliveries_countsByStatus(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	s := store.New(atNoon)
	s.SetBounds(store.Bounds{Deliveries: 40})
	statuses := []store.DeliveryStatus{
		store.DeliveryPending, store.DeliverySending, store.DeliveryDelivered, store.DeliveryDead, store.DeliveryCancelled,
	}
	dropped := false
	for range 400 {
		undo := rnd.IntN(4) == 0
		err := s.Update(func(tx *store.Tx) error {
			tx.Enqueue(store.Delivery{Events: []signing.Event{{}}})
			all := slices.Collect(tx.Deliveries().All())
			d := *all[rnd.IntN(len(all))]
			d.Status = statuses[rnd.IntN(len(statuses))]
			tx.PutDelivery(d)
			if undo {
				return errors.New("undone")
			}
			return nil
		})
		require.Equal(t, undo, err != nil)
		view(t, s, func(tx *store.Tx) {
			want := map[store.DeliveryStatus]int{}
			newest := "dlv_9"
			for _, d := range slices.Backward(values(tx.Deliveries())) {
				require.Less(t, d.ID, newest, "in the order of their ids")
				want[d.Status]++
				newest = d.ID
			}
			for _, status := range statuses {
				require.Equal(t, want[status], tx.CountDeliveries(status), status)
			}
			_, err := tx.Delivery("dlv_0000000001")
			dropped = dropped || err != nil
		})
	}
	require.True(t, dropped, "the bound was reached")
}

// TestList_searchIgnoresLetterCase: a letter is found by each of its forms, and by no other letter.
func TestList_searchIgnoresLetterCase(t *testing.T) {
	for _, c := range []struct {
		name, text string
		found      bool
	}{
		{name: "ΟΔΥΣΣΕΥΣ", text: "οδυσσευς", found: true},
		{name: "Οδυσσευς", text: "ΟΔΥΣΣΕΥΣ", found: true},
		{name: "5 µm", text: "5 μM", found: true}, // the micro sign and the letter
		{name: "Meſſe", text: "MESSE", found: true},
		{name: "300 K", text: "300 K", found: true}, // the Kelvin sign
		{name: "Lease", text: "lEASE", found: true},
		{name: "Miete", text: "İ", found: false},
		{name: "İstanbul", text: "i", found: false},
		{name: "İstanbul", text: "İSTANBUL", found: true},
		{name: "bad \xff byte", text: "\xff", found: true}, // both are the replacement character
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ids := store.New(atNoon), signing.NewIDs(1)
			d := add(t, s, ids, signing.Document{Name: c.name}, noon)
			q := store.Query{Text: c.text, Page: store.Page{Limit: 10}}
			var found store.Found[signing.Document]
			view(t, s, func(tx *store.Tx) { found = tx.Documents(q) })
			_, total := found()
			require.Equal(t, c.found, total == 1, "%q in %q", c.text, c.name)
			require.Equal(t, c.found, q.Matches(d.Name, d.Status, d.Archived, d.CreatedAt), "%q in %q", c.text, c.name)
		})
	}
}
