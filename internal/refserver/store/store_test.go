package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

func view(t *testing.T, s *store.Store, fn func(*store.Tx)) {
	t.Helper()
	require.NoError(t, s.View(func(tx *store.Tx) error { fn(tx); return nil }))
}

func update(t *testing.T, s *store.Store, fn func(*store.Tx)) {
	t.Helper()
	require.NoError(t, s.Update(func(tx *store.Tx) error { fn(tx); return nil }))
}

// add stores a PDF document with two signers that was sent at the time.
func add(t testing.TB, s *store.Store, ids *signing.IDs, d signing.Document, at time.Time) signing.Document {
	t.Helper()
	if d.Kind == "" {
		d.Kind = signing.KindPDF
	}
	d.Signers = []signing.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}}
	var out signing.Document
	require.NoError(t, s.Update(func(tx *store.Tx) error {
		for _, step := range []func() (signing.Change, error){
			func() (signing.Change, error) { return signing.Create(d, ids, at) },
			func() (signing.Change, error) { return out.Send(at) },
		} {
			c, err := step()
			if err != nil {
				return err
			}
			tx.Apply(c)
			out = *c.Document
		}
		return nil
	}))
	return out
}

// dump is everything a store shows, as text.
func dump(t *testing.T, s *store.Store, ids ...string) (text string) {
	t.Helper()
	view(t, s, func(tx *store.Tx) {
		for _, status := range append(signing.Statuses[:], "") {
			for _, archived := range []*bool{nil, new(true), new(false)} {
				docs, n := tx.Documents(store.Query{Status: status, Archived: archived, Page: store.Page{Limit: 9}})()
				text += fmt.Sprintf("%+v %d\n", docs, n)
			}
		}
		templates, n := tx.Templates(store.Query{Page: store.Page{Limit: 9}})()
		due, isDue := tx.NextDeliveryAt()
		text += fmt.Sprintf("%+v %d %v %v %d %v\n", templates, n, due, isDue, tx.CountForms(), tx.Webhooks())
		for _, id := range ids {
			text += fmt.Sprintf("%s %+v\n", id, values(tx.Audit(id)))
			responses, n := tx.Responses(id, store.Page{Limit: 9})
			text += fmt.Sprintf("%+v %d\n", responses, n)
		}
		text += fmt.Sprintf("%+v\n", values(tx.Messages()))
		for _, d := range values(tx.Deliveries()) {
			text += fmt.Sprintf("%s %s %v\n", d.ID, d.Status, d.NextAttemptAt)
		}
	})
	return text
}

func TestUpdate_failureLeavesNothing(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	hook := store.Webhook{ID: "h1", Family: signing.FamilySignature, URL: "http://127.0.0.1/"}
	form := signing.Form{ID: "f", Fields: []signing.FormField{{ID: "q"}}}
	update(t, s, func(tx *store.Tx) { tx.PutWebhook(hook) })
	d := add(t, s, ids, signing.Document{Name: "Lease", ExpiresFor: time.Hour}, noon)
	_, err := s.Act(d.ID, func(d signing.Document, _ time.Time) (signing.Change, error) {
		return d.View("ann@example.com", signing.Origin{}, noon)
	})
	require.NoError(t, err)
	before := dump(t, s, d.ID, "f")
	require.Contains(t, before, "dlv_0000000001 pending")

	var token, response string // of a document and a form response that are rolled back
	everything := func(tx *store.Tx) {
		created, err := signing.Create(signing.Document{Signers: []signing.Signer{{}}}, ids, noon)
		require.NoError(t, err)
		token = created.Document.Signers[0].Token
		tx.Apply(created)
		tx.PutKey("k")
		tx.PutTemplate(signing.Template{ID: "t"})
		tx.PutForm(form)
		submitted, err := form.Submit(signing.SubmitParams{}, ids, noon)
		require.NoError(t, err)
		response = submitted.Response.ObjectID
		tx.Apply(submitted)
		got, err := tx.Document(d.ID)
		require.NoError(t, err)
		signed, err := got.Sign("ann@example.com", signing.SignParams{}, noon)
		require.NoError(t, err)
		tx.Apply(signed)
		void, err := signed.Document.Void(noon)
		require.NoError(t, err)
		tx.Apply(void)
		hook.Disabled = true
		tx.PutWebhook(hook)
		require.NoError(t, tx.DeleteWebhook(hook.ID))
	}
	boom := errors.New("boom")
	require.ErrorIs(t, s.Update(func(tx *store.Tx) error { everything(tx); return boom }), boom)
	require.Equal(t, before, dump(t, s, d.ID, "f"))
	require.PanicsWithValue(t, "boom", func() { s.Update(func(tx *store.Tx) error { everything(tx); panic("boom") }) })
	require.Equal(t, before, dump(t, s, d.ID, "f"))
	view(t, s, func(tx *store.Tx) {
		require.False(t, tx.KnowsKey("k"))
		_, _, ok := tx.DocumentByToken(token)
		require.False(t, ok, "the signing link of a document that never was opens nothing")
		require.Empty(t, tx.KindOf(response))
		_, _, ok = tx.DocumentByToken(d.Signers[1].Token)
		require.True(t, ok, "signing links of the restored document open it")
	})

	update(t, s, everything)
	require.NotEqual(t, before, dump(t, s, d.ID, "f"), "the same work committed is seen")
}

func TestView_writePanics(t *testing.T) {
	require.Panics(t, func() { store.New(atNoon).View(func(tx *store.Tx) error { tx.PutKey("k"); return nil }) })
}

func TestAct(t *testing.T) {
	s := store.New(atNoon)
	_, err := s.Act("nowhere", func(d signing.Document, _ time.Time) (signing.Change, error) { return d.Void(noon) })
	var missing *store.Missing
	require.ErrorAs(t, err, &missing)
	require.Equal(t, store.Missing{What: "document", ID: "nowhere"}, *missing)

	d := add(t, s, signing.NewIDs(1), signing.Document{}, noon)
	for range 2 {
		_, err = s.Act(d.ID, func(d signing.Document, _ time.Time) (signing.Change, error) { return d.Void(noon) })
		require.NoError(t, err)
	}
	view(t, s, func(tx *store.Tx) {
		trail := values(tx.Audit(d.ID))
		require.Len(t, trail, 3, "create, send, void; the repeat left no trace")
		require.Equal(t, []int64{1, 2, 3}, []int64{trail[0].ID, trail[1].ID, trail[2].ID})
		got, signer, ok := tx.DocumentByToken(d.Signers[1].Token)
		require.True(t, ok)
		require.Equal(t, 1, signer)
		require.Equal(t, signing.StatusVoid, got.Status)
	})
}

func TestUpdate_documentsExpireFirst(t *testing.T) {
	now := noon
	s, ids := store.New(func() time.Time { return now }), signing.NewIDs(1)
	late := add(t, s, ids, signing.Document{ExpiresFor: 2 * time.Hour}, noon)
	soon := add(t, s, ids, signing.Document{ExpiresFor: time.Hour}, noon)
	never := add(t, s, ids, signing.Document{}, noon)
	void := add(t, s, ids, signing.Document{ExpiresFor: time.Hour}, noon)
	_, err := s.Act(void.ID, func(d signing.Document, _ time.Time) (signing.Change, error) { return d.Void(noon) })
	require.NoError(t, err)

	now = noon.Add(time.Hour - 1)
	view(t, s, func(tx *store.Tx) { require.Len(t, values(tx.Audit(soon.ID)), 2, "not yet") })
	now = noon.Add(time.Hour)
	view(t, s, func(tx *store.Tx) { require.Len(t, values(tx.Audit(soon.ID)), 3, "looking is enough") })
	now = noon.Add(3 * time.Hour)
	_, err = s.Act(soon.ID, func(d signing.Document, at time.Time) (signing.Change, error) { return d.Void(at) })
	require.EqualError(t, err, "cannot void a document that is EXPIRED: it must be DRAFT or PENDING or VOID")
	view(t, s, func(tx *store.Tx) {
		require.Equal(t, now, tx.Now)
		first, last := values(tx.Audit(soon.ID))[2], values(tx.Audit(late.ID))[2]
		require.Equal(t, noon.Add(time.Hour), first.At, "each expires at its own time")
		require.Equal(t, noon.Add(2*time.Hour), last.At)
		require.Less(t, first.ID, last.ID)
		for _, row := range []struct {
			id   string
			want signing.Status
		}{{id: never.ID, want: signing.StatusPending}, {id: void.ID, want: signing.StatusVoid}, {id: soon.ID, want: signing.StatusExpired}} {
			t.Run(row.id, func(t *testing.T) {
				d, err := tx.Document(row.id)
				require.NoError(t, err)
				require.Equal(t, row.want, d.Status)
			})
		}
	})
}

func TestUpdate_failureChangesNoExpiry(t *testing.T) {
	now := noon
	s, ids := store.New(func() time.Time { return now }), signing.NewIDs(1)
	d := add(t, s, ids, signing.Document{ExpiresFor: time.Hour}, noon)
	boom := errors.New("boom")
	require.ErrorIs(t, s.Update(func(tx *store.Tx) error {
		void, err := d.Void(noon)
		require.NoError(t, err)
		tx.Apply(void)
		never := d
		never.ID = "never"
		tx.Apply(signing.Change{Document: &never, Audit: make([]signing.AuditEntry, 1)})
		return boom
	}), boom)
	now = noon.Add(time.Hour)
	require.ErrorIs(t, s.Update(func(tx *store.Tx) error { return boom }), boom)
	view(t, s, func(tx *store.Tx) {
		d, err := tx.Document(d.ID)
		require.NoError(t, err)
		require.Equal(t, signing.StatusExpired, d.Status)
		require.Empty(t, values(tx.Audit("never")))
	})
}

// values returns copies of the records, oldest first.
func values[T any](records store.Records[T]) (out []T) {
	for v := range records.All() {
		out = append(out, *v)
	}
	return out
}
