package reminderlimit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// Calls that cannot wait and calls that can, before a store that takes its time: who cannot wait is refused soon, and never
// while there is a slot for everybody.
func TestReminderMaxWait_zeroIsRefusedOnlyWithoutASlot(t *testing.T) {
	for seed := range uint64(clienttest.Long(300, 30)) {
		synctest.Test(t, func(t *testing.T) { hastyCalls(t, seed) })
	}
}

func hastyCalls(t *testing.T, seed uint64) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	upTo := func(d time.Duration) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.Int64N(int64(d)))
	}
	pause := func(context.Context) error { time.Sleep(upTo(300 * time.Millisecond)); return nil }
	store := clienttest.NewOddStore()
	unreachable := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("connection refused")
	}}
	service := &clienttest.UntracedTransport{}
	hasty := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, MaxAttempts: 1})
	patient := clienttest.BudgetClient(t, service, signforms.Options{LimitStore: store, MaxAttempts: 1, ReminderMaxWait: -1})
	used, callers := int(upTo(6)), 1+int(upTo(12))
	for range used {
		hasty.Remind(t.Context(), clienttest.DocNumber(0))
	}
	service.Answer = func(_ int, req *http.Request) (*http.Response, error) {
		time.Sleep(upTo(4 * time.Second))
		if upTo(2) == 0 { // gives the slot back
			return unreachable.RoundTrip(req)
		}
		return httpmock.NewStringResponse(http.StatusOK, `{}`), nil
	}
	store.BeforeTake, store.BeforePeek, store.AfterTake = pause, pause, func() { pause(t.Context()) }

	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Minute, cancel).Stop()
	var calls sync.WaitGroup
	var refused atomic.Int64
	for n := range callers {
		documents := hasty
		if upTo(3) == 0 {
			documents = patient
		}
		calls.Go(func() {
			time.Sleep(upTo(3 * time.Second))
			start := time.Now()
			_, err := documents.Remind(ctx, clienttest.DocNumber(n))
			if errors.Is(err, signforms.ErrRateLimited) {
				refused.Add(1)
				assert.Less(t, time.Since(start), 8*time.Second, "seed %d: refused when it was known long before", seed)
			}
		})
	}
	calls.Wait()
	time.Sleep(3 * time.Second) // until the store has answered those that gave up
	if used+callers <= 5 {
		require.Zero(t, refused.Load(), "seed %d: %d slots for %d calls", seed, 5-used, callers)
	}
}
