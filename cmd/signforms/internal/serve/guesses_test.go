package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// try makes one request with a token from an address, and returns the status and how long the answer took.
func try(t *testing.T, h http.Handler, ctx context.Context, remote, token string) (status int, took time.Duration) {
	t.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/_/api/v1/status", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return send(h, r, remote)
}

func send(h http.Handler, r *http.Request, remote string) (status int, took time.Duration) {
	r.RemoteAddr = remote
	w, began := httptest.NewRecorder(), time.Now()
	h.ServeHTTP(w, r)
	return w.Code, time.Since(began)
}

func guarded() http.Handler {
	return newTokenCheck("right", false).wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
}

func TestWrongTokensCostTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := guarded()
		right := func(remote string) {
			t.Helper()
			status, took := try(t, h, t.Context(), remote, "right")
			require.Equal(t, http.StatusOK, status)
			require.Zero(t, took)
		}
		for i := range 8 {
			status, took := try(t, h, t.Context(), "203.0.114.1:1000", fmt.Sprint(i))
			require.Equal(t, http.StatusUnauthorized, status)
			if i < freeGuesses {
				require.Zero(t, took)
			} else {
				require.Equal(t, guessEvery, took)
			}
			right("203.0.114.1:1001") // of the same address, as behind a proxy
		}
		_, took := try(t, h, t.Context(), "203.0.114.2:1000", "wrong")
		require.Zero(t, took, "from another address")
		r := httptest.NewRequest(http.MethodPost, loginPath, strings.NewReader(url.Values{"token": {"wrong"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		status, took := send(h, r, "203.0.114.1:1002")
		require.Equal(t, http.StatusUnauthorized, status)
		require.Equal(t, guessEvery, took, "on the page of the console")
		r = httptest.NewRequest(http.MethodGet, "/_/", nil)
		r.AddCookie(&http.Cookie{Name: loginCookie, Value: "wrong"})
		_, took = send(h, r, "203.0.114.1:1003")
		require.Equal(t, guessEvery, took, "by a cookie")
		time.Sleep(guessForget + time.Second) // of the bubble's time
		_, took = try(t, h, t.Context(), "203.0.114.1:1000", "wrong")
		require.Zero(t, took, "it is forgotten")
	})
}

// Many connections get no more answers in a time than one. None waits longer than the bound, or than its client.
func TestWrongTokensAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := guarded()
		var all sync.WaitGroup
		var mu sync.Mutex
		at := map[time.Duration]int{}
		for i := range 40 {
			all.Go(func() {
				_, took := try(t, h, t.Context(), fmt.Sprintf("[2606:4700::%x]:1000", i), "wrong")
				mu.Lock()
				defer mu.Unlock()
				at[took]++
			})
		}
		all.Wait()
		require.Equal(t, freeGuesses, at[0])
		for i := range 9 {
			require.Equal(t, 1, at[time.Duration(i+1)*guessEvery])
		}
		require.Equal(t, 40-freeGuesses-9, at[guessLongest])

		gone, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		for range 2 {
			_, took := try(t, h, gone, "[2606:4700::1]:1000", "wrong")
			require.LessOrEqual(t, took, time.Millisecond)
		}
	})
}

func TestGuessersAreBounded(t *testing.T) {
	g := newTokenCheck("right", false).guesses
	now := time.Now()
	first := netip.MustParseAddr("10.0.0.0")
	for range guessMost + freeGuesses {
		require.Zero(t, g.delay(netip.PrefixFrom(first, 32), now))
		first = first.Next()
	}
	require.Equal(t, guessEvery, g.delay(netip.PrefixFrom(first, 32), now), "all further ones count as one")
	require.LessOrEqual(t, len(g.from), guessMost+1)
	g.delay(netip.PrefixFrom(first, 32), now.Add(2*guessForget))
	require.Len(t, g.from, 1)
}
