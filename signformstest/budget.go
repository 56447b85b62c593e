package signformstest

import (
	"sync"
	"time"

	"github.com/signforms/signforms-go"
)

// clockedBudget is the reminder budget of the server's clients. It follows the server's clock.
// Clients sleep by the wall clock, so clockedBudget wakes them when the server's clock is moved.
type clockedBudget struct {
	*signforms.MemoryLimitStore
	mu    sync.Mutex
	moved chan struct{} // closed when the clock is moved next
}

func newClockedBudget(now func() time.Time) *clockedBudget {
	return &clockedBudget{MemoryLimitStore: signforms.NewMemoryLimitStore(now), moved: make(chan struct{})}
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
