package webhook

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNormalizingIsBounded has forged bodies arrive while as many as may be are being put into JavaScript's form: large
// ones wait, small ones need not wait for them.
func TestNormalizingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := NewVerifier([]string{"whsec_example_7f3c1b52d9e84a06"}, &VerifierOptions{Tolerance: -1})
		require.NoError(t, err)
		header := Sign("another secret", time.Unix(1795176000, 0), nil)
		verify := func(size int, verified *atomic.Int32) {
			_, err := v.Verify(header, []byte("["+strings.Repeat(" ", size-2)+"]"))
			require.ErrorIs(t, err, ErrSignature)
			verified.Add(1)
		}
		var large, small atomic.Int32
		var leave []func()
		for range runtime.GOMAXPROCS(0) {
			leave = append(leave, v.normalizing.enter(smallBody+1))
		}
		for range 10 {
			go verify(smallBody+1, &large)
			go verify(smallBody, &small)
		}
		synctest.Wait()
		require.EqualValues(t, 0, large.Load())
		require.EqualValues(t, 10, small.Load())
		leave[0]()
		synctest.Wait()
		require.EqualValues(t, 10, large.Load())

		for range 8 * runtime.GOMAXPROCS(0) {
			v.normalizing.enter(1)
		}
		go verify(1000, &small)
		synctest.Wait()
		require.EqualValues(t, 10, small.Load(), "small ones are bounded too")
		v.normalizing.enter(smallBody + 1)()
		<-v.normalizing.small
		synctest.Wait()
		require.EqualValues(t, 11, small.Load())
	})
}
