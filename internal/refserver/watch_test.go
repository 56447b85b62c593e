package refserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// drain receives everything that is in the channel.
func drain(happenings <-chan refserver.Happening) (all []refserver.Happening) {
	for {
		select {
		case h, ok := <-happenings:
			if !ok {
				return all
			}
			all = append(all, h)
		default:
			return all
		}
	}
}

func TestWatchTellsWhatHappens(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	happenings, stop := srv.Watch(100)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	call(t, srv, "GET", "/get-documents?documentType=PDF", "")
	remove := srv.Fail(refserver.Fault{Status: 500})
	remove()
	srv.Advance(time.Minute)
	kinds := map[refserver.HappeningKind]int{}
	for _, h := range drain(happenings) {
		kinds[h.Kind]++
		require.Zero(t, h.Missed)
		if h.Kind == refserver.DocumentHappening || h.Kind == refserver.AuditHappening || h.Kind == refserver.MessageHappening {
			require.Equal(t, doc, h.ID)
		}
	}
	require.Equal(t, map[refserver.HappeningKind]int{"document": 2, "audit": 2, "message": 1, "request": 1, "fault": 2, "clock": 1}, kinds)
	require.Error(t, srv.Pay(doc))
	require.Empty(t, drain(happenings), "what was refused did not happen")
	stop()
	stop()
	_, open := <-happenings
	require.False(t, open)
	srv.Expire(doc)
}

// TestWatchersThatAreSlowMissTheOldest: when more happens than there is room for, the newest are kept and the missing ones are counted.
func TestWatchersThatAreSlowMissTheOldest(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	happenings, stop := srv.Watch(3)
	defer stop()
	whole, stopWhole := srv.Watch(1000)
	defer stopWhole()
	var last string
	for range 20 {
		last = srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	}
	got, missed := drain(happenings), 0
	for _, h := range got {
		missed += h.Missed
	}
	require.Len(t, got, 3)
	require.Equal(t, last, got[2].ID)
	require.Equal(t, 17, missed)
	require.Len(t, drain(whole), 20)
}

func TestClosingEndsWatching(t *testing.T) {
	srv := servicetest.Start(t, nil)
	happenings, stop := srv.Watch(1)
	srv.Close()
	require.Empty(t, drain(happenings))
	_, open := <-happenings
	require.False(t, open)
	stop()
	after, _ := srv.Watch(1)
	_, open = <-after
	require.False(t, open)
}
