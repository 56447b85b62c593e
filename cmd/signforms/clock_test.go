package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/signformstest"
)

// An advance ends with its command: the clock stays, and another advance can begin.
func TestClockAdvanceEndsWithItsCommand(t *testing.T) {
	s, c, _ := sandboxWith(t)
	var attempts atomic.Int64
	hangs := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if attempts.Add(1) == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		close(hangs)
		<-r.Context().Done()
	}))
	t.Cleanup(receiver.Close)
	var made wire.ID
	hook := signformstest.Webhook{URL: receiver.URL, Event: signformstest.FamilySignatureCompleted}
	require.NoError(t, c.Post(t.Context(), "/webhooks", hook, &made))
	signs(t, c, lease(t, c), "ann@example.com")
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		ended <- run(ctx, hasty, []string{"clock", "advance", "72h", "--url", s.BaseURL}, strings.NewReader(""), io.Discard, &stderr)
	}()
	<-hangs // at the second attempt, 5 seconds after the first
	var now wire.Clock
	require.NoError(t, c.Get(t.Context(), "/clock", nil, &now))
	require.True(t, now.Advancing)
	interrupt()
	require.Equal(t, cli.ExitPartial, <-ended)
	now = wire.Clock{}
	require.NoError(t, c.Get(t.Context(), "/clock", nil, &now))
	require.False(t, now.Advancing)
	require.Regexp(t, `signforms: interrupted: the clock is at \S+ and continues from there; it has moved by [0-9]s, and (71h59m5[0-9]s|72h0m0s) is left\n$`, stderr.String())
	require.NoError(t, c.Delete(t.Context(), "/webhooks/"+made.ID))
	now = wire.Clock{}
	require.NoError(t, c.Post(t.Context(), "/clock/advance", wire.Advance{By: wire.Duration(time.Hour)}, &now))
	require.Less(t, time.Duration(now.Ahead), 2*time.Hour)
	require.Empty(t, now.Unanswering)
}
