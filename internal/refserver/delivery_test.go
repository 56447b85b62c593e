package refserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// newPair starts a server and a webhook for form responses to the receiver; submit makes one event.
func newPair(t *testing.T, opts *refserver.Options, url string) (srv *servicetest.Server, hook string, submit func()) {
	t.Helper()
	srv = servicetest.Start(t, opts)
	hook, submit = addPair(t, srv, url)
	return srv, hook, submit
}

func addPair(t *testing.T, srv *servicetest.Server, url string) (hook string, submit func()) {
	t.Helper()
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	hook = srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.FormResponse})
	return hook, func() {
		t.Helper()
		_, err := srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{"Name?": "Ann"}})
		require.NoError(t, err)
	}
}

func TestDelivery_followsTheSchedule(t *testing.T) {
	r := newReceiver(t, 500, 301, 404, 503, 400, 401, 429, 500, 500)
	srv, _, submit := newPair(t, &refserver.Options{Start: start, VirtualTimestamps: true}, r.URL)
	submit()
	srv.Advance(48 * time.Hour)

	d := srv.Deliveries()[0]
	require.Equal(t, refserver.DeliveryDead, d.Status, "%s", d)
	var statuses []int
	var waits []time.Duration
	for i, a := range d.Attempts {
		statuses = append(statuses, a.StatusCode)
		if i > 0 {
			waits = append(waits, a.At.Sub(d.Attempts[i-1].At))
		}
	}
	require.Equal(t, []int{500, 301, 404, 503, 400, 401, 429, 500}, statuses)
	require.Equal(t, []time.Duration{
		5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	}, waits)
	require.Equal(t, start.Add(48*time.Hour), srv.Now())

	signatures := map[string]bool{}
	for i, got := range r.all() {
		require.True(t, got.genuine(srv.WebhookSecret), "attempt %d", i+1)
		require.Equal(t, string(d.Body), string(got.body), "attempt %d", i+1)
		require.Equal(t, got.header.Get("x-signature"), d.Attempts[i].Header.Get("x-signature"))
		signatures[got.header.Get("x-signature")] = true
	}
	require.Len(t, signatures, 8, "each attempt is signed with its own timestamp")
	require.Equal(t, "1795176005", r.all()[1].header.Get("x-timestamp"))
}

func TestDelivery_manyDueAtOnce(t *testing.T) {
	t.Parallel()
	const deliveries = 300 // the sender claims 256 at once
	r := newReceiver(t, slices.Repeat([]int{500}, deliveries)...)
	srv, _, submit := newPair(t, &refserver.Options{Start: start}, r.URL)
	for range deliveries {
		submit()
	}
	require.NoError(t, srv.Settle(t.Context()))
	srv.Advance(5 * time.Second)
	for _, d := range srv.Deliveries() {
		require.Equal(t, refserver.DeliveryDelivered, d.Status)
	}
}

func TestDelivery_timestampsFollowTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		r := &receiver{}
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", r))
		defer srv.Close()
		srv.Advance(72 * time.Hour)
		submit()
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, "2000-01-01T00:00:00.000Z", r.all()[0].header.Get("x-timestamp"))
		require.Equal(t, time.Date(2000, 1, 4, 0, 0, 0, 0, time.UTC), srv.Deliveries()[0].Attempts[0].At)
	})
}

func TestDelivery_retriesAsTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		r := &receiver{statuses: []int{500, 500}}
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", r))
		defer srv.Close()
		submit()
		require.NoError(t, srv.Settle(t.Context()))
		require.Len(t, r.all(), 1)
		time.Sleep(65*time.Second + time.Millisecond)
		synctest.Wait()
		require.Len(t, r.all(), 3)
		require.Equal(t, refserver.DeliveryDelivered, srv.Deliveries()[0].Status)
	})
}

func TestDelivery_attemptEndsAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		r := &receiver{}
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("hang.test", hang))
		defer srv.Close()
		srv.AddWebhook(refserver.Webhook{URL: network.Serve("app.test", r), Event: refserver.FormResponse})
		submit()
		synctest.Wait()
		require.Len(t, r.all(), 1, "the endpoint that hangs does not hold up the other")

		start := time.Now()
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, 10*time.Second, time.Since(start))
		a := srv.Deliveries()[0].Attempts[0]
		require.Equal(t, "no complete response within 10s", a.Error)
		require.Equal(t, 10*time.Second, a.Took)
	})
}

func TestDelivery_receiverAdvancesTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		var srv *servicetest.Server
		var calls atomic.Int32
		srv, _, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", http.HandlerFunc(
			func(_ http.ResponseWriter, r *http.Request) {
				if calls.Add(1) > 1 {
					<-r.Context().Done()
				}
				srv.Advance(time.Second)
			})))
		defer srv.Close()
		submit()
		srv.Advance(48 * time.Hour)
		require.Equal(t, "no complete response within 10s", srv.Deliveries()[0].Attempts[0].Error)
		require.Len(t, srv.Unanswering(), 1)
	})
}

func TestDelivery_redirectsAreNotFollowed(t *testing.T) {
	other := newReceiver(t)
	redirect := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirect.Close)
	srv, _, submit := newPair(t, nil, redirect.URL)
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	require.Empty(t, other.all())
	require.Equal(t, 307, srv.Deliveries()[0].Attempts[0].StatusCode)
}

func TestDelivery_responsesAreReadInPart(t *testing.T) {
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "more and more "); err != nil {
				return
			}
		}
	}))
	t.Cleanup(endless.Close)
	srv, _, submit := newPair(t, nil, endless.URL)
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	d := srv.Deliveries()[0]
	require.Equal(t, refserver.DeliveryDelivered, d.Status)
	require.Len(t, d.Attempts[0].Answer, 4096)
}

func TestWebhook_disabledOrDeletedStopsAtOnce(t *testing.T) {
	for _, row := range []struct {
		name string
		stop func(*servicetest.Server, string) error
	}{
		{name: "disabled", stop: (*servicetest.Server).DisableWebhook},
		{name: "deleted", stop: (*servicetest.Server).DeleteWebhook},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := refserver.NewNetwork()
				defer network.Close()
				tries := 0
				hang := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					tries++
					<-r.Context().Done()
				})
				srv, hook, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("hang.test", hang))
				defer srv.Close()
				submit()
				submit()
				synctest.Wait()
				start := time.Now()
				require.NoError(t, row.stop(srv, hook))
				require.NoError(t, srv.Settle(t.Context()))
				require.Zero(t, time.Since(start), "the attempt under way was broken off")
				submit()
				srv.Advance(48 * time.Hour)
				require.Equal(t, 1, tries)
				require.Len(t, srv.Deliveries(), 2, "what happens later is not for this webhook")
				for _, d := range srv.Deliveries() {
					require.Equal(t, refserver.DeliveryCancelled, d.Status, "%s", d)
				}
			})
		})
	}
}

func TestWebhook_enabledAgainGetsNothingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		r := &receiver{}
		srv, hook, submit := newPair(t, &refserver.Options{Network: network}, network.Serve("app.test", http.HandlerFunc(
			func(w http.ResponseWriter, req *http.Request) {
				r.ServeHTTP(w, req)
				time.Sleep(time.Second)
			})))
		defer srv.Close()
		for range 5 {
			submit() // the first delivery is under way, and the others wait for it
		}
		synctest.Wait()
		require.NoError(t, srv.DisableWebhook(hook))
		require.NoError(t, srv.EnableWebhook(hook))
		submit()
		srv.Advance(48 * time.Hour)
		require.Len(t, r.all(), 2)
		for i, d := range srv.Deliveries() {
			require.Equal(t, i < 5, d.Status == refserver.DeliveryCancelled, "%s", d)
		}
	})
}

func TestWebhook_disabledCanBeEnabled(t *testing.T) {
	r := newReceiver(t)
	srv, hook, submit := newPair(t, nil, r.URL)
	require.NoError(t, srv.DisableWebhook(hook))
	submit()
	require.NoError(t, srv.EnableWebhook(hook))
	submit()
	require.NoError(t, srv.Settle(t.Context()))
	require.Len(t, r.all(), 1)
}
