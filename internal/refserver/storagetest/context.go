package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/signforms/signforms-go/internal/refserver"
)

// contextEnds gives Load and Save a context that has ended.
func contextEnds(t *storageTest) {
	t.save(record("document", "a", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := t.storage.Load(ctx, func(refserver.Record) error { return nil }); err == nil {
		t.Error("Load with an ended context = nil, want an error")
	}
	err := t.storage.Save(ctx, []refserver.Record{record("document", "a", "2")})
	if !errors.Is(err, refserver.ErrRolledBack) {
		t.Errorf("Save with an ended context = %v, want an error that says that nothing was changed", err)
	}
	t.holds(map[string]string{"document/a": "1"})
}

// contextEndsDuring ends a Save's context at the moments at which the storage looks at it, one after the other. Whatever the Save
// makes of it: all records are there or none, and its error says which. The next Save is not disturbed.
func contextEndsDuring(t *storageTest) {
	saved := func(v string) map[string]string {
		return map[string]string{"document/a": v, "document/b": v, "form/a": v}
	}
	save := func(ctx context.Context, v string) error {
		return t.storage.Save(ctx, []refserver.Record{record("document", "a", v), record("document", "b", v), record("form", "a", v)})
	}
	const looks = 20
	for n := range looks {
		before, after := fmt.Sprint("before ", n), fmt.Sprint("after ", n)
		if err := save(t.Context(), before); err != nil {
			t.Fatalf("Save = %v after one whose context had ended", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err := save(&lookedAt{Context: ctx, cancel: cancel, most: int64(n + 1)}, after)
		cancel()
		switch {
		case err == nil:
			t.loads(saved(after))
		case errors.Is(err, refserver.ErrRolledBack):
			t.loads(saved(before))
		case !t.has(saved(after)):
			t.loads(saved(before))
		}
	}
}

// lookedAt is a context that ends after it was looked at so often.
type lookedAt struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
	most   int64
}

func (c *lookedAt) Err() error {
	defer c.look()
	return c.Context.Err()
}

func (c *lookedAt) Done() <-chan struct{} {
	defer c.look()
	return c.Context.Done()
}

func (c *lookedAt) look() {
	if c.looks.Add(1) == c.most {
		c.cancel()
	}
}
