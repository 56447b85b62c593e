package store_test

import (
	"errors"
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
		tx.PutTemplate(signing.Template{ID: id, WorkspaceID: workspace})
		return nil
	})
}

func hasTemplate(s *store.Store, id string) bool {
	return s.View(func(tx *store.Tx) error {
		_, err := tx.Template(id)
		return err
	}) == nil
}

// TestAChangeThatIsNotSavedIsUndone: nothing of it is left, and the next one is saved without it.
func TestAChangeThatIsNotSavedIsUndone(t *testing.T) {
	s, k := newSaved(t)
	full := errors.New("full")
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

// TestAFunctionEndsItsGoroutine, as a test that fails does: its change is undone, and later ones go on.
func TestAFunctionEndsItsGoroutine(t *testing.T) {
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

func TestASaveThatPanicsLeavesADoubt(t *testing.T) {
	s, k := newSaved(t)
	k.save = func([]string) error { panic("broken") }
	require.ErrorIs(t, putTemplate(s, "a"), store.ErrUnknown)
	view(t, s, func(tx *store.Tx) { require.True(t, tx.InDoubt()) })
}
