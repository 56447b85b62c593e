package limitstoretest_test

import (
	"testing"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/limitstoretest"
)

func TestMemoryLimitStore(t *testing.T) {
	limitstoretest.Run(t, func(*testing.T) (signforms.LimitStore, func(time.Duration)) {
		var passed time.Duration
		store := signforms.NewMemoryLimitStore(func() time.Time { return time.Now().Add(passed) })
		return store, func(d time.Duration) { passed += d }
	})
}
