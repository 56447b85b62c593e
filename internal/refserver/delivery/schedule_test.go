package delivery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/delivery"
)

func TestNextWait(t *testing.T) {
	var waits []time.Duration
	for n := 1; ; n++ {
		wait, more := delivery.NextWait(n)
		if !more {
			break
		}
		waits = append(waits, wait)
	}
	require.Equal(t, 8, delivery.Attempts)
	require.Equal(t, []time.Duration{
		5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	}, waits)
	_, more := delivery.NextWait(0)
	require.False(t, more, "a delivery that was never tried is not waited for")
}
