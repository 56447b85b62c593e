package store_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// world is a store under random acts, with what was seen of each document before the next one.
type world struct {
	t          *testing.T
	s          *store.Store
	ids        *signing.IDs
	rnd        *rand.Rand
	now        time.Time
	docs       []string
	trails     map[string][]signing.AuditEntry
	deliveries map[string][]signing.EventType // by document, in order
	seen       int                            // deliveries looked at
	refused    map[signing.Rule]int
	reached    map[signing.Status]int
}

var acts = flag.Int("store.acts", 10_000, "how many random acts a store goes through")

// TestAct_random runs random acts, 100,000 of them in .ci/nightly, on documents of every shape. After each act the document's
// status follows from its signers, its audit trail explains the status, and its events are those of its acts. The checks are plain
// comparisons, because some of them run millions of times.
func TestAct_random(t *testing.T) {
	w := &world{
		t: t, ids: signing.NewIDs(1), rnd: rand.New(rand.NewPCG(3, 4)), now: noon,
		trails: map[string][]signing.AuditEntry{}, deliveries: map[string][]signing.EventType{},
		refused: map[signing.Rule]int{}, reached: map[signing.Status]int{},
	}
	w.s = store.New(func() time.Time { return w.now })
	update(t, w.s, func(tx *store.Tx) {
		tx.PutWebhook(store.Webhook{ID: "s", Family: signing.FamilySignature})
		tx.PutWebhook(store.Webhook{ID: "t", Family: signing.FamilyTemplate})
	})
	if testing.Short() {
		*acts = 4_000
	}
	for step := range *acts {
		if step%12 == 0 { // old documents finish, so new ones have to come
			w.create()
		}
		w.now = w.now.Add(time.Duration(w.rnd.IntN(90)) * time.Second)
		w.step(w.docs[max(0, len(w.docs)-1-w.rnd.IntN(25))])
	}
	for _, id := range w.docs {
		w.check(id, nil)
	}
	for _, rule := range []signing.Rule{signing.RuleStatus, signing.RuleTurn, signing.RuleSigned, signing.RuleSigner} {
		t.Run(fmt.Sprint(rule), func(t *testing.T) {
			require.Greater(t, w.refused[rule], *acts/500, "rule %s was tried", rule)
		})
	}
	for _, status := range signing.Statuses {
		require.Greater(t, w.reached[status], *acts/1000, "status %s was reached", status)
	}
}

// create adds a draft with up to four signers, who may share their place in the order or their address.
func (w *world) create() {
	d := signing.Document{
		Kind: signing.KindPDF, Ordered: w.rnd.IntN(2) == 0, ExpiresFor: time.Duration(w.rnd.IntN(3)) * time.Hour,
	}
	if w.rnd.IntN(2) == 0 {
		d.Kind, d.TemplateID = signing.KindTemplate, "t"
	}
	for range 1 + w.rnd.IntN(4) {
		d.Signers = append(d.Signers, signing.Signer{Email: fmt.Sprintf("s%d@example.com", w.rnd.IntN(5)), Order: 1 + w.rnd.IntN(3)})
	}
	c, err := signing.Create(d, w.ids, w.now)
	require.NoError(w.t, err)
	update(w.t, w.s, func(tx *store.Tx) { tx.Apply(c) })
	w.docs = append(w.docs, c.Document.ID)
}

// step does one random act.
func (w *world) step(id string) {
	var before signing.Document
	c, err := w.s.Act(id, func(d signing.Document, _ time.Time) (signing.Change, error) {
		before = d.Clone()
		return w.act(d)
	})
	after := w.check(id, &before)
	if err != nil {
		refusal, ok := err.(*signing.Refusal)
		if !ok || !reflect.DeepEqual(before, after) {
			w.t.Fatalf("%v: a refusal changes nothing: got %+v, want %+v", err, after, before)
		}
		w.refused[refusal.Rule]++
		return
	}
	if c.Changed() {
		w.reached[after.Status]++
	}
}

func (w *world) act(d signing.Document) (signing.Change, error) {
	signer := "nobody@example.com"
	if w.rnd.IntN(20) > 0 {
		signer = d.Signers[w.rnd.IntN(len(d.Signers))].ID
	}
	switch w.rnd.IntN(24) {
	case 0:
		return d.Void(w.now)
	case 1:
		return d.Delete(w.now)
	case 2:
		return d.Archive(w.now)
	case 3:
		return d.Decline(signer, "no", signing.Origin{}, w.now)
	case 4, 5:
		return d.Pay(w.now)
	case 6:
		return d.Remind(w.now)
	case 7, 8, 9:
		return d.Send(w.now)
	case 10, 11, 12, 13:
		return d.View(signer, signing.Origin{}, w.now)
	}
	i := d.SignerIndex(signer)
	c, err := d.Sign(signer, signing.SignParams{}, w.now)
	if err == nil && d.Ordered {
		for _, s := range d.Signers {
			if s.Order < d.Signers[i].Order && s.SignedAt.IsZero() {
				w.t.Fatalf("%d signed before %d", d.Signers[i].Order, s.Order)
			}
		}
	}
	return c, err
}

// check compares the document with its signers, its audit trail, its events and, if there is one, its earlier self.
func (w *world) check(id string, before *signing.Document) (d signing.Document) {
	err := w.s.View(func(tx *store.Tx) (err error) {
		if d, err = tx.Document(id); err != nil {
			return err
		}
		known, trail := w.trails[id], values(tx.Audit(id))
		if len(trail) < len(known) || !slices.Equal(known, trail[:len(known)]) {
			w.t.Fatalf("the audit trail was %+v and is %+v", known, trail)
		}
		w.trails[id] = trail
		w.countDeliveries(tx)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	requireTrailExplains(w.t, w.trails[id], d)
	requireStatusFollows(w.t, d)
	requireEvents(w.t, d, w.deliveries[id])
	if before != nil && before.Status.Terminal() {
		paid := before.Status == signing.StatusSigned && d.Status == signing.StatusPaid
		if d.Status != before.Status && !paid || !slices.Equal(before.Signers, d.Signers) {
			w.t.Fatalf("%s is terminal: %+v became %+v", before.Status, before, d)
		}
	}
	return d
}

// countDeliveries looks at the deliveries added since the last look.
func (w *world) countDeliveries(tx *store.Tx) {
	for ; ; w.seen++ {
		delivery, err := tx.Delivery(fmt.Sprintf("dlv_%010d", w.seen+1))
		if err != nil {
			return
		}
		e := delivery.Events[0]
		w.deliveries[e.Document.ID] = append(w.deliveries[e.Document.ID], e.Type)
	}
}

func requireStatusFollows(t *testing.T, d signing.Document) {
	declined := 0
	for _, s := range d.Signers {
		if s.HasDeclined() {
			declined++
		}
	}
	complete := d.Status == signing.StatusSigned || d.Status == signing.StatusPaid
	if d.AllSigned() != complete || d.CompletedAt.IsZero() == complete || declined > 1 ||
		(d.Status == signing.StatusDeclined) != (declined == 1) || d.Status == signing.StatusDraft && !d.SentAt.IsZero() {
		t.Fatalf("the status does not follow from the signers: %+v", d)
	}
}

// requireTrailExplains replays the trail: its steps chain, each is one that the table allows, and together they lead to the
// document's status and to the status of each signer.
func requireTrailExplains(t *testing.T, trail []signing.AuditEntry, d signing.Document) {
	status, archived := signing.Status(""), false
	signers := map[string]signing.SignerStatus{}
	for i, e := range trail {
		if i > 0 {
			next, err := signing.Next(e.From, e.Action)
			if err != nil || next != e.To || e.ID <= trail[i-1].ID || e.At.Before(trail[i-1].At) {
				t.Fatalf("%+v cannot follow %+v", e, trail[i-1])
			}
		}
		if e.From != status {
			t.Fatalf("%+v does not begin at %s", e, status)
		}
		status = e.To
		switch e.Action {
		case signing.ActionView:
			signers[e.Actor] = signing.SignerViewed
		case signing.ActionSign, signing.ActionComplete:
			signers[e.Actor] = signing.SignerSigned
		case signing.ActionArchive:
			archived = true
		}
	}
	if d.Status != status || d.Archived != archived {
		t.Fatalf("%s is not what the trail says: %+v", d.Status, trail)
	}
	for _, s := range d.Signers {
		if want := cmp.Or(signers[s.ID], signing.SignerPending); s.Status() != want {
			t.Fatalf("%s, the trail says %s", s.Status(), want)
		}
	}
}

// requireEvents checks that there is one viewed event for each signer who looked, one signed event for each who signed, one
// completed event in a completed document and none after it.
func requireEvents(t *testing.T, d signing.Document, events []signing.EventType) {
	viewed, signed, completed := signing.EventSignatureViewed, signing.EventSignatureSigned, signing.EventSignatureCompleted
	if d.Kind == signing.KindTemplate {
		viewed, signed, completed = signing.EventTemplateViewed, signing.EventTemplateSigned, signing.EventTemplateResponse
	}
	got := map[signing.EventType]int{}
	for _, e := range events {
		got[e]++
	}
	want := map[signing.EventType]int{}
	for _, s := range d.Signers {
		if !s.ViewedAt.IsZero() {
			want[viewed]++
		}
		if !s.SignedAt.IsZero() {
			want[signed]++
		}
	}
	if d.AllSigned() {
		want[completed] = 1
	}
	if !maps.Equal(want, got) || d.AllSigned() && events[len(events)-1] != completed {
		t.Fatalf("%s: got events %v, want %v with the completed one last", d.Status, events, want)
	}
}

// TestAct_lastSignersConcurrently lets all signers sign at the same moment, several times each.
func TestAct_lastSignersConcurrently(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	update(t, s, func(tx *store.Tx) {
		tx.PutWebhook(store.Webhook{ID: "s", Family: signing.FamilySignature})
	})
	const documents = 300
	for range documents {
		d := add(t, s, ids, signing.Document{}, noon)
		var wg sync.WaitGroup
		for _, email := range []string{"ann@example.com", "ben@example.com", "ann@example.com", "ben@example.com"} {
			wg.Go(func() {
				s.Act(d.ID, func(d signing.Document, _ time.Time) (signing.Change, error) {
					return d.Sign(email, signing.SignParams{}, noon)
				})
			})
		}
		wg.Wait()
	}
	view(t, s, func(tx *store.Tx) {
		completed := map[string]int{}
		for _, d := range values(tx.Deliveries()) {
			if d.Events[0].Type == signing.EventSignatureCompleted {
				completed[d.Events[0].Document.ID]++
			}
		}
		require.Len(t, completed, documents)
		require.Len(t, values(tx.Deliveries()), 3*documents, "two signed events and one completed event each")
	})
}

// TestAct_timeOfItsTransaction holds acts up with a transaction in which the clock moves on.
func TestAct_timeOfItsTransaction(t *testing.T) {
	var hours atomic.Int64
	s, ids := store.New(func() time.Time { return noon.Add(time.Duration(hours.Load()) * time.Hour) }), signing.NewIDs(1)
	d := add(t, s, ids, signing.Document{}, noon)
	var waiting, done sync.WaitGroup
	update(t, s, func(tx *store.Tx) {
		for range 50 {
			waiting.Add(1)
			done.Go(func() {
				waiting.Done()
				s.Act(d.ID, signing.Document.Remind)
			})
		}
		waiting.Wait()
		for range 100 {
			runtime.Gosched() // into the acts, as far as they come
		}
		hours.Store(2)
		c, err := d.Remind(noon.Add(2 * time.Hour))
		require.NoError(t, err)
		tx.Apply(c)
	})
	done.Wait()
	view(t, s, func(tx *store.Tx) {
		trail := values(tx.Audit(d.ID))
		require.Len(t, trail, 2+1+50)
		for _, e := range trail[2:] {
			require.Equal(t, noon.Add(2*time.Hour), e.At)
		}
	})
}
