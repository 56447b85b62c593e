package store_test

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// saver is a keeper whose saves do what its function does.
type saver struct {
	store.Keeper
	save func(ids []string) error
}

func (*saver) Load(func(store.Write)) error { return nil }

func (k *saver) Save(_ time.Time, writes []store.Write) error {
	var ids []string
	for _, w := range writes {
		ids = append(ids, w.ID)
	}
	return k.save(ids)
}

func newSaved(t *testing.T) (*store.Store, *saver) {
	k := &saver{}
	s := store.New(atNoon)
	require.NoError(t, s.Keep(k))
	return s, k
}

func putTemplate(s *store.Store, id string) error {
	return s.Update(func(tx *store.Tx) error {
		tx.PutTemplate(signing.Template{ID: id})
		return nil
	})
}

func hasTemplate(s *store.Store, id string) bool {
	return s.View(func(tx *store.Tx) error {
		_, err := tx.Template(id)
		return err
	}) == nil
}

// TestSave_failureUndoesTheChange: nothing of it is left, and the next one is saved without it.
func TestSave_failureUndoesTheChange(t *testing.T) {
	s, k := newSaved(t)
	full := fmt.Errorf("%w: full", store.ErrRolledBack)
	k.save = func([]string) error { return full }
	err := putTemplate(s, "lost")
	require.ErrorIs(t, err, full)
	require.ErrorAs(t, err, new(*store.Unavailable))
	require.False(t, hasTemplate(s, "lost"))
	var saved [][]string
	k.save = func(ids []string) error { saved = append(saved, ids); return nil }
	require.NoError(t, putTemplate(s, "kept"))
	require.Equal(t, [][]string{{"kept"}}, saved)
}

// TestUpdate_functionEndsItsGoroutine, as a test that fails does: its change is undone, and later ones go on.
func TestUpdate_functionEndsItsGoroutine(t *testing.T) {
	s, k := newSaved(t)
	k.save = func([]string) error { return nil }
	var ended sync.WaitGroup
	ended.Go(func() {
		s.Update(func(tx *store.Tx) error {
			tx.PutTemplate(signing.Template{ID: "lost"})
			runtime.Goexit()
			return nil
		})
	})
	ended.Wait()
	require.False(t, hasTemplate(s, "lost"))
	require.NoError(t, putTemplate(s, "kept"))
}

// TestSave_unknownOutcomeStopsTheStore: no later change is saved or made.
func TestSave_unknownOutcomeStopsTheStore(t *testing.T) {
	for _, row := range []struct {
		name string
		save func([]string) error
	}{
		{name: "error", save: func([]string) error { return io.ErrUnexpectedEOF }},
		{name: "panic", save: func([]string) error { panic("broken") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, k := newSaved(t)
			k.save = row.save
			require.NoError(t, s.Stopped())
			err := putTemplate(s, "a")
			require.ErrorIs(t, err, store.ErrStopped)
			require.ErrorAs(t, err, new(*store.Unavailable))
			k.save = func([]string) error { t.Error("a save after one that is in doubt"); return nil }
			require.ErrorIs(t, putTemplate(s, "b"), store.ErrStopped)
			require.ErrorIs(t, s.Stopped(), store.ErrStopped)
		})
	}
}

// TestAudit_ofAFileToBeMadeIsKept: whatever the bound, until the file was made.
func TestAudit_ofAFileToBeMadeIsKept(t *testing.T) {
	s, ids := store.New(atNoon), signing.NewIDs(1)
	s.SetBounds(store.Bounds{Audit: 8})
	s.SetFinishes(true)
	signed := add(t, s, ids, signing.Document{Name: "Lease"}, noon)
	for _, signer := range signed.Signers {
		_, err := s.Act(signed.ID, func(d signing.Document, at time.Time) (signing.Change, error) {
			return d.Sign(signer.ID, signing.SignParams{}, at)
		})
		require.NoError(t, err)
	}
	trail := func() (n int) {
		view(t, s, func(tx *store.Tx) { n = tx.Audit(signed.ID).Len() })
		return n
	}
	was := trail()
	for range 40 {
		add(t, s, ids, signing.Document{Name: "Other"}, noon)
	}
	require.Equal(t, was, trail())
	_, err := s.Act(signed.ID, func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.Finish(signing.NewFile([]byte("%PDF")), at), nil
	})
	require.NoError(t, err)
	for range 40 {
		add(t, s, ids, signing.Document{Name: "Other"}, noon)
	}
	require.Zero(t, trail())
}
