package store_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// slow is a keeper that saves when it is told to.
type slow struct {
	store.Keeper
	saves [][]string // ids of what each save was given
	next  chan error // what the next save returns
	begun chan []string
}

func (k *slow) Load(func(store.Write)) error { return nil }

func (k *slow) Save(_ time.Time, writes []store.Write) error {
	var ids []string
	for _, w := range writes {
		ids = append(ids, w.ID)
	}
	k.begun <- ids
	err := <-k.next
	k.saves = append(k.saves, ids)
	return err
}

// grouped is a store with a save under way, behind which transactions gather.
type grouped struct {
	*testing.T
	*store.Store
	keeper *slow
	all    sync.WaitGroup
}

func newGrouped(t *testing.T) *grouped {
	g := &grouped{T: t, Store: store.New(atNoon), keeper: &slow{next: make(chan error), begun: make(chan []string)}}
	require.NoError(t, g.Keep(g.keeper))
	g.all.Go(func() { g.put("first") })
	require.Equal(t, []string{"first"}, <-g.keeper.begun)
	return g
}

func (g *grouped) put(id string) error {
	return g.Update(func(tx *store.Tx) error {
		tx.PutTemplate(signing.Template{ID: id, WorkspaceID: workspace})
		return nil
	})
}

func (g *grouped) has(id string) bool {
	return g.View(func(tx *store.Tx) error {
		_, err := tx.Template(id)
		return err
	}) == nil
}

// TestTransactionsThatComeMeanwhileAreSavedTogether has 100 transactions come while one is saved: two saves take them all.
func TestTransactionsThatComeMeanwhileAreSavedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		for i := range 100 {
			g.all.Go(func() { require.NoError(t, g.put(fmt.Sprint(i))) })
		}
		synctest.Wait()
		g.keeper.next <- nil
		require.Len(t, <-g.keeper.begun, 64)
		g.keeper.next <- nil
		require.Len(t, <-g.keeper.begun, 36)
		g.keeper.next <- nil
		g.all.Wait()
		require.Len(t, g.keeper.saves, 3)
		for i := range 100 {
			require.True(t, g.has(fmt.Sprint(i)))
		}
	})
}

// busy is a keeper whose saves last until every client waits.
type busy struct {
	store.Keeper
	clients, waiting atomic.Int64
	saves            int
}

func (k *busy) Load(func(store.Write)) error { return nil }

func (k *busy) Save(time.Time, []store.Write) error {
	k.saves++
	for k.waiting.Load() < k.clients.Load() {
		runtime.Gosched()
	}
	for range 100 {
		runtime.Gosched() // who is about to wait does
	}
	return nil
}

// TestReadersHeldUpByASaveJoinTheNextGroup has clients that read before each change, as requests do. Those whom a save held up in reading
// join the next one: were that to begin at once, only half of them would. With one processor that is so whatever else runs.
func TestReadersHeldUpByASaveJoinTheNextGroup(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const clients, changes = 16, 50
	k := &busy{}
	k.clients.Store(clients)
	s := store.New(atNoon)
	require.NoError(t, s.Keep(k))
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			defer k.clients.Add(-1)
			for n := range changes {
				k.waiting.Add(1)
				view(t, s, func(*store.Tx) {})
				assert.NoError(t, s.Update(func(tx *store.Tx) error {
					tx.PutTemplate(signing.Template{ID: fmt.Sprint(i, n), WorkspaceID: workspace})
					return nil
				}))
				k.waiting.Add(-1)
			}
		})
	}
	all.Wait()
	require.Less(t, k.saves, clients*changes/11, "14 in a save, and not 8")
}

// TestOneOfAGroupFails: what a transaction did that returns an error or panics is undone, and its caller learns of it; the others
// are saved without.
func TestOneOfAGroupFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		refused := errors.New("refused")
		g.all.Go(func() { require.NoError(t, g.put("a")) })
		synctest.Wait()
		g.all.Go(func() {
			assert.ErrorIs(t, g.Update(func(tx *store.Tx) error {
				tx.PutTemplate(signing.Template{ID: "a", Name: "changed"})
				tx.PutTemplate(signing.Template{ID: "b"})
				return refused
			}), refused)
		})
		synctest.Wait()
		g.all.Go(func() {
			assert.PanicsWithValue(t, "broken", func() {
				g.Update(func(tx *store.Tx) error {
					tx.PutTemplate(signing.Template{ID: "c"})
					panic("broken")
				})
			})
		})
		synctest.Wait()
		g.all.Go(func() { require.NoError(t, g.put("d")) })
		synctest.Wait()
		g.keeper.next <- nil
		require.Equal(t, []string{"a", "d"}, <-g.keeper.begun)
		g.keeper.next <- nil
		g.all.Wait()
		for id, there := range map[string]bool{"a": true, "b": false, "c": false, "d": true} {
			require.Equal(t, there, g.has(id), id)
		}
		view(t, g.Store, func(tx *store.Tx) {
			a, err := tx.Template("a")
			require.NoError(t, err)
			require.Empty(t, a.Name)
		})
	})
}

// TestAGroupThatIsNotSavedIsUndone: nothing of it is left, also where one of it changed what another had added.
func TestAGroupThatIsNotSavedIsUndone(t *testing.T) {
	for _, fate := range []error{errors.New("full"), store.ErrUnknown} {
		synctest.Test(t, func(t *testing.T) {
			g := newGrouped(t)
			for range 3 {
				g.all.Go(func() {
					err := g.put("same")
					assert.ErrorIs(t, err, fate)
					assert.ErrorAs(t, err, new(*store.Unavailable))
				})
				synctest.Wait()
			}
			g.all.Go(func() { require.ErrorIs(t, g.put("another"), fate) })
			synctest.Wait()
			g.keeper.next <- nil
			require.Equal(t, []string{"same", "another"}, <-g.keeper.begun, "each record once")
			g.keeper.next <- fate
			g.all.Wait()
			require.False(t, g.has("same"))
			require.False(t, g.has("another"))
			view(t, g.Store, func(tx *store.Tx) {
				_, n := tx.Templates(store.Query{WorkspaceID: workspace, Page: store.Page{Limit: 9}})()
				require.Equal(t, 1, n)
			})
		})
	}
}

// TestATransactionEndsItsGoroutine, as a test that fails does: the others of its group are refused, and later ones go on.
func TestATransactionEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		for range 2 {
			g.all.Go(func() { g.put("x") }) // one of them may lead, and ends
			synctest.Wait()
		}
		g.all.Go(func() {
			g.Update(func(*store.Tx) error {
				runtime.Goexit()
				return nil
			})
		})
		synctest.Wait()
		g.keeper.next <- nil
		g.all.Wait()
		require.False(t, g.has("x"))
		g.all.Go(func() { require.NoError(t, g.put("y")) })
		require.Equal(t, []string{"y"}, <-g.keeper.begun)
		g.keeper.next <- nil
		g.all.Wait()
		require.True(t, g.has("y"))
	})
}

// TestWhatWaitsBehindADoubtIsRefused: it began before the save of which it is not known whether it was carried out, and must not be
// saved on top of that.
func TestWhatWaitsBehindADoubtIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrouped(t)
		for i := range 3 {
			g.all.Go(func() { require.ErrorIs(t, g.put(fmt.Sprint(i)), store.ErrUnknown) })
		}
		synctest.Wait()
		g.keeper.next <- store.ErrUnknown
		g.all.Wait()
		require.Equal(t, [][]string{{"first"}}, g.keeper.saves)

		g.all.Go(func() { require.NoError(t, g.put("later"), "after everything was loaded again") })
		require.Equal(t, []string{"later"}, <-g.keeper.begun)
		g.keeper.next <- nil
		g.all.Wait()
	})
}

// panicking is a keeper whose saves panic, so that nobody knows what became of them.
type panicking struct{ store.Keeper }

func (panicking) Load(func(store.Write)) error { return nil }

func (panicking) Save(time.Time, []store.Write) error { panic("broken") }

func TestASaveThatPanicsLeavesADoubt(t *testing.T) {
	s := store.New(atNoon)
	require.NoError(t, s.Keep(panicking{}))
	err := s.Update(func(tx *store.Tx) error {
		tx.PutTemplate(signing.Template{ID: "a"})
		return nil
	})
	require.ErrorIs(t, err, store.ErrUnknown)
	view(t, s, func(tx *store.Tx) { require.True(t, tx.InDoubt()) })
}
