package refserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestWatch_events(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	watcher := srv.Watch()
	_, more := watcher.Take()
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	<-more
	call(t, srv, "GET", "/get-documents?documentType=PDF", "")
	remove := srv.Fail(refserver.Fault{Status: 500})
	remove()
	srv.Advance(time.Minute)
	kinds := map[refserver.HappeningKind]int{}
	all, _ := watcher.Take()
	for _, h := range all {
		kinds[h.Kind]++
		require.Zero(t, h.Missed)
		if h.Kind == refserver.DocumentHappening || h.Kind == refserver.AuditHappening || h.Kind == refserver.MessageHappening {
			require.Equal(t, doc, h.ID)
		}
	}
	require.Equal(t, "event: document\ndata: {\"kind\":\"document\",\"id\":\""+doc+"\",\"at\":\"2026-11-20T12:00:00Z\"}\n\n", string(all[0].Event))
	require.Equal(t, map[refserver.HappeningKind]int{"document": 1, "audit": 1, "message": 1, "request": 1, "fault": 2, "clock": 1}, kinds, "of each record once in a change")
	require.Error(t, srv.Pay(doc))
	all, more = watcher.Take()
	require.Empty(t, all, "what was refused did not happen")
	select {
	case <-more:
		t.Error("nothing happened")
	default:
	}
}

// TestWatch_slowWatcherMissesTheOldest: of more than there is room for, the newest is told, with the number of the missing ones.
func TestWatch_slowWatcherMissesTheOldest(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	slow, inTime, taken := srv.Watch(), srv.Watch(), 0
	for range 10_000 { // faults, which come and go
		srv.Fail(refserver.Fault{Status: 500})()
		if all, _ := inTime.Take(); len(all) == 2 && all[0].Missed == 0 {
			taken += 2
		}
	}
	require.Equal(t, 20_000, taken)
	all, _ := slow.Take()
	require.Len(t, all, 1)
	require.Equal(t, 19_999, all[0].Missed)
	require.Contains(t, string(all[0].Event), `"missed":19999}`)
	for range 8192 / 2 {
		srv.Fail(refserver.Fault{Status: 500})()
	}
	all, _ = slow.Take()
	require.Len(t, all, 8192, "as many wait")
	require.Zero(t, all[0].Missed)
}

func TestWatch_endsWithClose(t *testing.T) {
	srv := servicetest.Start(t, nil)
	watcher := srv.Watch()
	_, more := watcher.Take()
	srv.Close()
	<-more
	all, more := watcher.Take()
	require.Empty(t, all)
	require.Nil(t, more)
	_, more = srv.Watch().Take()
	require.Nil(t, more)
}
