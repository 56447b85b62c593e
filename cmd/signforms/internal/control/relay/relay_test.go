package relay_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/relay"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

const id = "abcdefghijklmnopqrst"

func deliver(rs *relay.Relays) <-chan wire.RelayedAnswer {
	answered := make(chan wire.RelayedAnswer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		answered <- rs.Deliver(ctx, id, http.Header{"X-Kind": {"a"}}, []byte("[]"))
	}()
	return answered
}

func TestAttemptsFailWithTheirListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := relay.New()
		require.Equal(t, http.StatusServiceUnavailable, (<-deliver(rs)).Status, "nobody listens")
		require.False(t, rs.Heard(id))

		first := rs.Connect(id)
		lost := deliver(rs)
		attempt := <-first.Attempts
		second := rs.Connect(id) // the connection of the first was lost
		<-first.Gone
		require.Equal(t, http.StatusServiceUnavailable, (<-lost).Status)
		require.False(t, rs.Report(id, attempt.ID, wire.RelayedAnswer{Status: 200}), "it has failed already")
		rs.Leave(id, first)
		require.True(t, rs.Heard(id), "the first leaves after the second has come")

		answered := deliver(rs)
		attempt = <-second.Attempts
		require.Equal(t, "a", attempt.Header.Get("X-Kind"))
		require.True(t, rs.Report(id, attempt.ID, wire.RelayedAnswer{Status: 418}))
		require.False(t, rs.Report(id, attempt.ID, wire.RelayedAnswer{Status: 200}), "it has one report")
		require.Equal(t, 418, (<-answered).Status)

		answered = deliver(rs)
		require.True(t, rs.Report(id, (<-second.Attempts).ID, wire.RelayedAnswer{Error: "down"}))
		require.Equal(t, wire.RelayedAnswer{Status: 502, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: []byte("down")}, <-answered)
		require.Equal(t, http.StatusGatewayTimeout, (<-deliver(rs)).Status, "no report")
		rs.End(id)
		<-second.Gone
	})
}

func TestASlowListenerHasToLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rs := relay.New()
		slow := rs.Connect(id)
		var all []<-chan wire.RelayedAnswer
		for range 1001 {
			all = append(all, deliver(rs))
		}
		<-slow.Gone
		for _, answered := range all {
			require.Equal(t, http.StatusServiceUnavailable, (<-answered).Status)
		}
	})
}
