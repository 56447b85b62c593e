package control

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// newFeedAPI returns an API whose service serves it too, in memory, so that a test runs in virtual time.
func newFeedAPI(t testing.TB) (*API, *refserver.Network) {
	t.Helper()
	network := refserver.NewNetwork()
	t.Cleanup(func() { network.Close() })
	var a *API
	server := refserver.NewServer(t, &refserver.Options{Network: network, Middleware: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.ServeHTTP(w, r) })
	}})
	a = New(Config{Server: server})
	return a, network
}

// takeAll returns the events that a reader can take now. An event that counts missed ones stands for them too.
func takeAll(t *testing.T, r *reader) (all []refserver.Happening, missed int) {
	t.Helper()
	for {
		text, ok, _ := r.take()
		if !ok {
			return all, missed
		}
		for block := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
			if block == "" {
				continue
			}
			kind, data, found := strings.Cut(block, "\ndata: ")
			require.True(t, found, block)
			var h refserver.Happening
			require.NoError(t, json.Unmarshal([]byte(data), &h))
			require.Equal(t, "event: "+string(h.Kind), kind)
			missed += h.Missed
			all = append(all, h)
		}
	}
}

func join(t *testing.T, a *API, kind string) *reader {
	t.Helper()
	r, err := a.feeds.join(a.server, kind)
	require.NoError(t, err)
	return r
}

func addTemplates(a *API, n int) {
	for range n {
		a.server.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	}
}

// A reader gets what happens after it joined, in order and soon, and nothing of other kinds.
func TestReadersGetWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newFeedAPI(t)
		want, stop := a.server.Watch(1000)
		defer stop()
		all := join(t, a, "")
		defer a.feeds.leave()
		for range 20 {
			a.server.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		}
		late := join(t, a, "template")
		defer a.feeds.leave()
		addTemplates(a, 3)
		time.Sleep(gatherFor)
		synctest.Wait()
		got, missed := takeAll(t, all)
		require.Zero(t, missed)
		require.Len(t, want, len(got), "all of it")
		for _, h := range got {
			expected := <-want
			expected.At = expected.At.UTC()
			require.Equal(t, expected, h)
		}
		templates, missed := takeAll(t, late)
		require.Zero(t, missed)
		require.Equal(t, got[len(got)-3:], templates)
	})
}

// What a reader does not get is counted, also when it reads only one kind, and when it is the feed that is late.
func TestReadersAreToldWhatTheyMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newFeedAPI(t)
		all, forms, templates := join(t, a, ""), join(t, a, "form"), join(t, a, "template")
		for range 3 {
			defer a.feeds.leave()
		}
		sum := 0
		for _, n := range []int{100, maxWaitingEvents, 500, maxWaitingEvents + 200} {
			addTemplates(a, n)
			sum += n
			time.Sleep(gatherFor)
			synctest.Wait()
		}
		got, missed := takeAll(t, all)
		require.Positive(t, missed)
		require.Equal(t, sum, len(got)+missed)
		got, missed = takeAll(t, templates)
		require.Equal(t, sum, len(got)+missed)
		got, missed = takeAll(t, forms)
		require.Equal(t, 200, missed, "they may have been of any kind")
		require.Len(t, got, 1, "only the event that says so")
	})
}

// Each of many readers gets every event once and in order, while others come and go.
func TestManyReadersBesideWriters(t *testing.T) {
	a, _ := newFeedAPI(t)
	stay := join(t, a, "")
	defer a.feeds.leave()
	var work sync.WaitGroup
	for range 20 {
		r := join(t, a, "template")
		work.Go(func() {
			defer a.feeds.leave()
			for got, missed := 0, 0; got+missed < 300; {
				text, ok, news := r.take()
				if !ok {
					<-news
				}
				got += strings.Count(string(text), "event: template")
			}
		})
	}
	for range 3 {
		work.Go(func() { addTemplates(a, 100) })
		work.Go(func() {
			for range 50 {
				_, err := a.feeds.join(a.server, "")
				if err == nil {
					a.feeds.leave()
				}
			}
		})
	}
	work.Wait()
	var ids []string
	got, missed := takeAll(t, stay)
	for _, h := range got {
		ids = append(ids, h.ID)
	}
	require.Zero(t, missed)
	require.Len(t, ids, 300)
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 300)
}

func TestReadersAreBounded(t *testing.T) {
	a, _ := newFeedAPI(t)
	for range maxReaders {
		join(t, a, "")
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", wire.Prefix+"/events", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "1000 clients read the sandbox's events")
	a.feeds.leave()
	join(t, a, "")
	for range maxReaders {
		a.feeds.leave()
	}
	require.Nil(t, a.feeds.feed, "without readers nothing is watched")
}

// A client that takes nothing for a while is dropped. One that takes what comes stays, however long nothing comes.
func TestReadersThatDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, network := newFeedAPI(t)
		defer a.server.Close()
		for _, reads := range []bool{true, false} {
			conn, err := network.DialContext(t.Context(), "tcp", strings.TrimPrefix(a.server.URL, "http://")+":80")
			require.NoError(t, err)
			defer conn.Close()
			fmt.Fprintf(conn, "GET %s/events HTTP/1.1\r\nHost: sandbox\r\n\r\n", wire.Prefix)
			first := make([]byte, 16)
			_, err = io.ReadFull(conn, first)
			require.NoError(t, err)
			if reads {
				go io.Copy(io.Discard, conn)
			}
		}
		time.Sleep(time.Second)
		require.Equal(t, 2, a.feeds.readers)
		addTemplates(a, maxWaitingEvents)
		time.Sleep(gatherFor + takeWithin + time.Second)
		synctest.Wait()
		require.Equal(t, 1, a.feeds.readers)
		time.Sleep(time.Hour)
		require.Equal(t, 1, a.feeds.readers)
	})
}

// Closing the server ends the streams, after what happened before.
func TestClosingEndsTheStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newFeedAPI(t)
		w := httptest.NewRecorder()
		ended := make(chan bool)
		go func() {
			a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", wire.Prefix+"/events?kind=template", nil))
			close(ended)
		}()
		synctest.Wait()
		addTemplates(a, 2)
		a.server.Close()
		<-ended
		require.Equal(t, 2, strings.Count(w.Body.String(), "event: template"))
	})
}

// After a reset a relay has no webhooks: its listener is sent away, and opens it again.
func TestResetEndsRelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := newFeedAPI(t)
		ask(t, a, "POST", "/relays/"+firstRelay)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		ended := make(chan bool)
		go func() {
			a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", wire.Prefix+"/relays/"+firstRelay+"/attempts", nil))
			close(ended)
		}()
		synctest.Wait()
		require.NoError(t, a.server.DeleteWebhook(a.server.Webhooks()[0].ID))
		time.Sleep(time.Second)
		require.NotNil(t, a.relays.byID[firstRelay], "it has others")
		require.NoError(t, a.server.Reset())
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case <-ended:
		default:
			require.Fail(t, "the listener waits for webhooks that are gone")
		}
		require.Nil(t, a.relays.byID[firstRelay])
	})
}
