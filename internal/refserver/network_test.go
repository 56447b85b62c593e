package refserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNetwork_insideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNetwork()
		url := network.Serve("echo.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Hour)
			io.Copy(w, r.Body)
		}))
		require.Equal(t, "http://echo.test", url)
		require.PanicsWithValue(t, `signformstest: "echo.test" is already served in this network`, func() {
			network.Serve("echo.test", http.NotFoundHandler())
		})

		start := time.Now()
		client := network.HTTPClient()
		body := strings.Repeat("a long body ", 100_000)
		resp, err := client.Post(url, "text/plain", strings.NewReader(body))
		require.NoError(t, err)
		got, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, len(body), len(got))
		require.Equal(t, time.Hour, time.Since(start))

		_, err = client.Post("http://exho.test", "text/plain", nil)
		require.ErrorContains(t, err, `exho.test: no server has this name in the network: it has ["echo.test"]`)

		network.Close()
		network.Close()
		_, err = client.Post(url, "text/plain", nil)
		require.ErrorContains(t, err, "the network is closed")
	})
}

func TestNetwork_closeEndsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNetwork()
		url := network.Serve("slow.test", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}))
		failed := make(chan error)
		go func() {
			_, err := network.HTTPClient().Get(url)
			failed <- err
		}()
		synctest.Wait()
		network.Close()
		require.Error(t, <-failed)
	}) // the bubble itself fails the test when a goroutine is left
}

func TestNetwork_dialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewNetwork()
		defer network.Close()
		_, err := network.listen("nobody.accepts")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = network.DialContext(ctx, "tcp", "nobody.accepts:80")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
