package signformstest

import (
	"context"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
)

// clockedBudget is the reminder budget of the server's clients. It follows the server's clock. Clients sleep by the wall clock, so
// it wakes them when the server's clock is moved.
type clockedBudget struct {
	now   func() time.Time
	mu    sync.Mutex
	store *signforms.MemoryLimitStore
	moved chan struct{} // closed by the next move
}

func newClockedBudget(s *Server) *clockedBudget {
	return &clockedBudget{now: s.Now, store: signforms.NewMemoryLimitStore(s.Now), moved: make(chan struct{})}
}

func (b *clockedBudget) current() *signforms.MemoryLimitStore {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.store
}

func (b *clockedBudget) Take(ctx context.Context, key string, limit int, hold time.Duration) (string, time.Duration, error) {
	return b.current().Take(ctx, key, limit, hold)
}

// Settle does nothing to a slot from before a reset.
func (b *clockedBudget) Settle(ctx context.Context, key, slot string, keep time.Duration) error {
	return b.current().Settle(ctx, key, slot, keep)
}

func (b *clockedBudget) Block(ctx context.Context, key string, d time.Duration) error {
	return b.current().Block(ctx, key, d)
}

func (b *clockedBudget) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	return b.current().Peek(ctx, key, limit)
}

// reset frees all slots.
func (b *clockedBudget) reset() {
	b.mu.Lock()
	b.store = signforms.NewMemoryLimitStore(b.now)
	b.mu.Unlock()
	b.clockMoved()
}

// Changed is the method that the documentation of package signforms describes for a store whose clock can be moved.
func (b *clockedBudget) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moved
}

func (b *clockedBudget) clockMoved() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.moved)
	b.moved = make(chan struct{})
}
