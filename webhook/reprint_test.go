package webhook

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const reprintSecret = "whsec_example_7f3c1b52d9e84a06"

func reprinting(t *testing.T, secrets ...string) *Verifier {
	v, err := NewVerifier(append(secrets, reprintSecret), &VerifierOptions{Tolerance: -1})
	require.NoError(t, err)
	return v
}

func signed(body string) http.Header {
	return Sign(reprintSecret, time.Unix(1795176000, 0), []byte(body))
}

// A reformatted body is accepted up to the bound, and refused above it. The bytes that were signed are accepted at any
// size.
func TestVerify_reprintBound(t *testing.T) {
	v := reprinting(t)
	for _, c := range []struct {
		name      string
		size      int
		formatted bool
		want      error
	}{
		{name: "reformatted, at the bound", size: maxReprint, formatted: true},
		{name: "reformatted, above the bound", size: maxReprint + 1, formatted: true, want: ErrSignature},
		{name: "as signed, above the bound", size: maxReprint + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `["` + strings.Repeat("x", c.size-5) + `"]`
			header := signed(body)
			if body += " "; !c.formatted {
				header = signed(body)
			}
			verified, err := v.Verify(header, []byte(body))
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.formatted && c.want == nil, verified.Reserialized)
		})
	}
}

// While every slot is taken, forged bodies wait. A genuine body that came as it was signed does not, nor does a forged one
// above the bound.
func TestVerify_reprintsAreBounded(t *testing.T) {
	defer func(slots chan struct{}) { reprints = slots }(reprints)
	synctest.Test(t, func(t *testing.T) {
		reprints = make(chan struct{}, 2) // of the bubble
		v, other := reprinting(t), reprinting(t)
		reprints <- struct{}{}
		reprints <- struct{}{}
		refused := make(chan error, 2)
		for _, v := range []*Verifier{v, other} {
			go func() {
				_, err := v.Verify(signed("another"), []byte("[ ]"))
				refused <- err
			}()
		}
		synctest.Wait()
		require.Empty(t, refused)
		ended, end := context.WithCancel(t.Context())
		end()
		request := httptest.NewRequestWithContext(ended, http.MethodPost, "/", strings.NewReader("[ ]"))
		maps.Copy(request.Header, signed("[]"))
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		NewHandler(v, Funcs{Default: func(context.Context, Event) error { return nil }}, nil).ServeHTTP(response, request)
		require.Equal(t, http.StatusServiceUnavailable, response.Code, "the wait ends with the request's context")
		_, err := v.Verify(signed("[]"), []byte("[]"))
		require.NoError(t, err)
		_, err = v.Verify(signed("another"), bytes.Repeat([]byte{' '}, maxReprint+1))
		require.ErrorIs(t, err, ErrSignature)
		<-reprints
		require.ErrorIs(t, <-refused, ErrSignature)
		require.ErrorIs(t, <-refused, ErrSignature)
	})
}

// A forged body costs a bounded amount of memory, whatever is in it and however many secrets there are.
func TestVerify_refusalIsCheap(t *testing.T) {
	v := reprinting(t, "a second secret", "a third secret")
	fill := func(open, unit, end string, size int) []byte {
		n := (size - len(open) - len(end)) / len(unit)
		return []byte(open + strings.TrimSuffix(strings.Repeat(unit, n), ",") + end)
	}
	for _, c := range []struct{ name, open, unit, end string }{
		{name: "keys out of order", open: "[", unit: `{"2":1,"1":2},`, end: "]"},
		{name: "nested keys out of order", open: "[", unit: strings.Repeat(`{"1":0,"0":`, 500) + "0" + strings.Repeat("}", 500) + ",", end: "]"},
		{name: "nested repeated keys", open: "[", unit: strings.Repeat(`{"":0,"":`, 500) + "0" + strings.Repeat("}", 500) + ",", end: "]"},
		{name: "one object of equal keys", open: "{", unit: `"":0,`, end: "}"},
		{name: "numbers that print long", open: "[", unit: "1e20,", end: "]"},
		{name: "costly numbers", open: "[", unit: "4.9406564584124654417656879286822137236505980e-324,", end: "]"},
		{name: "not UTF-8", open: `["`, unit: "\xff", end: `"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, row := range []struct {
				size int
				most uint64
			}{{size: maxReprint, most: 2_000_000}, {size: 1 << 20, most: 16_000}} {
				t.Run(fmt.Sprint(row.size), func(t *testing.T) {
					body := fill(c.open, c.unit, c.end, row.size)
					header := signed("another")
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					_, err := v.Verify(header, body)
					runtime.ReadMemStats(&after)
					require.ErrorIs(t, err, ErrSignature)
					require.Less(t, after.TotalAlloc-before.TotalAlloc, row.most, "size %d", row.size)
				})
			}
		})
	}
}
