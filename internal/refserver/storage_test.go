package refserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// faultyStorage is a storage whose saves and loads can be made to fail or to have an unknown outcome.
type faultyStorage struct {
	memory
	outcome  atomic.Int32 // the outcome of every save
	saves    atomic.Int32
	loadFail atomic.Bool
}

func newFated() *faultyStorage {
	f := &faultyStorage{}
	f.Decide = func([]refserver.Record) saveOutcome {
		f.saves.Add(1)
		return saveOutcome(f.outcome.Load())
	}
	return f
}

func (f *faultyStorage) setOutcome(outcome saveOutcome) { f.outcome.Store(int32(outcome)) }

func (f *faultyStorage) Load(ctx context.Context, yield func(refserver.Record) error) error {
	if f.loadFail.Load() {
		return errors.New("no loading")
	}
	return f.memory.Load(ctx, yield)
}

var ann = []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}

// changes holds one change of each kind, made by a program or a client. Each returns the status of the answer or the error of the
// method.
func changes(t *testing.T, srv *servicetest.Server) map[string]func() (int, error) {
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	hook := srv.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1", Event: refserver.FormResponse})
	method := func(fn func() error) func() (int, error) { return func() (int, error) { return 0, fn() } }
	request := func(path, body string) func() (int, error) {
		return func() (int, error) {
			status, _ := call(t, srv, http.MethodPost, path, body)
			return status, nil
		}
	}
	return map[string]func() (int, error){
		"template": method(func() error {
			_, err := srv.Server.AddTemplate(refserver.Template{Name: "Another", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: []byte("%PDF")})
			return err
		}),
		"form": method(func() error {
			_, err := srv.Server.AddForm(refserver.Form{Title: "F", Fields: []refserver.Field{{Question: "?"}}})
			return err
		}),
		"document": method(func() error {
			_, err := srv.Server.AddDocument(refserver.Document{Name: "D", Signers: ann})
			return err
		}),
		"webhook": method(func() error {
			_, err := srv.Server.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1", Event: refserver.FormResponse})
			return err
		}),
		"key":         method(func() error { _, err := srv.AddAPIKey(); return err }),
		"view":        method(func() error { return srv.Signer(doc, "ann@example.com").View() }),
		"expire":      method(func() error { return srv.Expire(doc) }),
		"submit":      method(func() error { _, err := srv.SubmitForm(form, refserver.Submission{}); return err }),
		"sample":      method(func() error { _, err := srv.Server.TestWebhook(hook); return err }),
		"disable":     method(func() error { return srv.DisableWebhook(hook) }),
		"rotate":      method(func() error { _, err := srv.RotateWebhookSecret(hook); return err }),
		"advance":     method(func() error { return srv.Server.Advance(t.Context(), time.Second) }),
		"reset":       method(func() error { return srv.Reset() }),
		"void":        request("/void-document?documentType=PDF&documentId="+doc, ""),
		"remind":      request("/send-reminder?documentType=PDF&documentId="+doc, ""),
		"send":        request("/pdf-template-lambda", `{"signingType":"PDF_TEMPLATE","documentId":"`+template+`","receiversList":[{"name":"Ann","email":"ann@example.com","roleTitle":"Buyer"}]}`),
		"send a form": request("/pdf-template-lambda", `{"signingType":"FORM_TEMPLATE","documentId":"`+form+`","receiversList":[{"name":"Ann","email":"ann@example.com"}]}`),
	}
}

// TestStorage_failedSaveChangesNothing makes each change while the storage fails. The change is refused and leaves no trace. Afterwards it
// succeeds.
func TestStorage_failedSaveChangesNothing(t *testing.T) {
	names := changes(t, servicetest.Start(t, nil))
	for name := range names {
		t.Run(name, func(t *testing.T) {
			storage := newFated()
			srv := servicetest.Start(t, &refserver.Options{Start: start, Storage: storage, PublicURL: publicURL, Seed: 1})
			change := changes(t, srv)[name]
			before, saved := stateOf(srv), storage.Count("")
			storage.setOutcome(saveFails)
			status, err := change()
			require.True(t, errors.Is(err, refserver.ErrStorage) || status == 503, "%v %d", err, status)
			require.Equal(t, before, stateOf(srv))
			require.Equal(t, saved, storage.Count(""))

			storage.setOutcome(saveDone)
			saves := storage.saves.Load()
			status, err = change()
			require.True(t, err == nil && (status == 0 || status == 200), "%v %d", err, status)
			require.Greater(t, storage.saves.Load(), saves)
		})
	}
}

// TestStorage_unknownOutcomeStopsTheService: every request is answered 503 and nothing changes until it is started again, when
// the change is either there or not, as the storage says.
func TestStorage_unknownOutcomeStopsTheService(t *testing.T) {
	for _, row := range []struct {
		outcome saveOutcome
		there   bool
	}{{outcome: saveKept, there: true}, {outcome: saveLost, there: false}} {
		t.Run(fmt.Sprint(row.outcome), func(t *testing.T) {
			storage := newFated()
			opts := refserver.Options{Start: start, Storage: storage, PublicURL: publicURL}
			srv := servicetest.Start(t, &opts)
			doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF")})
			require.NoError(t, srv.Stopped())
			storage.setOutcome(row.outcome)
			err := srv.Signer(doc, "ann@example.com").Sign()
			require.ErrorIs(t, err, refserver.ErrStorage)
			require.ErrorIs(t, err, refserver.ErrStopped)
			require.ErrorIs(t, srv.Stopped(), refserver.ErrStopped)

			storage.setOutcome(saveDone)
			saves := storage.saves.Load()
			for _, inner := range []struct{ method, path string }{
				{method: http.MethodPost, path: "/void-document?documentType=PDF&documentId=" + doc}, {method: http.MethodGet, path: "/get-documents?documentType=PDF"},
			} {
				t.Run(inner.method, func(t *testing.T) {
					status, answer := call(t, srv, inner.method, inner.path, "")
					require.Equal(t, 503, status)
					require.Contains(t, answer["message"], "the service has stopped")
				})
			}
			require.ErrorIs(t, srv.Expire(doc), refserver.ErrStopped)
			require.Equal(t, saves, storage.saves.Load(), "nothing is saved any more")
			again, _ := restart(t, srv, &storage.memory, opts)
			d, _ := again.FindDocument(doc)
			require.Equal(t, row.there, d.Status == refserver.StatusSigned, "%s", d.Status)
		})
	}
}

// TestStorage_readingSavesNothing lets a document expire and reads it. It is shown as expired at once, also by another server on the saved
// records. Its status is saved with the next change.
func TestStorage_readingSavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		storage := newFated()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage, PublicURL: publicURL})
		defer srv.Close()
		doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, ExpiresFor: time.Hour})
		time.Sleep(2 * time.Hour)
		storage.setOutcome(saveFails)
		saves := storage.saves.Load()
		d, _ := srv.FindDocument(doc)
		require.Equal(t, refserver.Status("EXPIRED"), d.Status)
		require.Len(t, srv.Audit(doc), 3)
		require.Equal(t, saves, storage.saves.Load())

		unsaved := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage.Copy(), PublicURL: publicURL})
		defer unsaved.Close()
		require.Equal(t, stateOf(srv), stateOf(unsaved))
		storage.setOutcome(saveDone)
		srv.AddDocument(refserver.Document{Name: "Another", Draft: true})
		saved := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage.Copy(), PublicURL: publicURL})
		defer saved.Close()
		require.Equal(t, stateOf(srv), stateOf(saved))
	})
}

// endpoint counts the deliveries to a host name of a network in memory.
func endpoint(network *refserver.Network, arrived *atomic.Int32) (url string) {
	return network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
}

// TestStorage_senderWaits: the storage fails for three minutes. No delivery starts before the outcome of the one before is
// saved, the sender does not retry the storage in a busy loop, and each delivery arrives once.
func TestStorage_senderWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		network, storage, arrived := refserver.NewNetwork(), newFated(), new(atomic.Int32)
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		defer srv.Close()
		srv.AddWebhook(refserver.Webhook{URL: endpoint(network, arrived), Event: refserver.SignatureCompleted})
		doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
		inner := storage.Decide
		storage.Decide = func(records []refserver.Record) saveOutcome {
			if records[0].Kind != "delivery" {
				return saveDone // the signature; the later saves are outcomes of attempts
			}
			return inner(records)
		}
		storage.setOutcome(saveFails)
		require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
		require.ErrorIs(t, srv.Settle(t.Context()), refserver.ErrStorage)
		time.Sleep(3 * time.Minute)
		require.Equal(t, int32(1), arrived.Load())
		require.LessOrEqual(t, storage.saves.Load(), int32(190), "about one try a second")

		storage.setOutcome(saveDone)
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, int32(2), arrived.Load(), "signed and completed")
		for _, d := range srv.Deliveries() {
			require.Equal(t, refserver.DeliveryDelivered, d.Status)
			require.Len(t, d.Attempts, 1)
		}
	})
}

// TestStorage_unsavedOutcomeOfAnAttempt: the storage fails when the outcome of an attempt is saved. The log has the attempt once.
// The endpoint gets the delivery once if it accepted the attempt, and again when the repeat is due if not.
func TestStorage_unsavedOutcomeOfAnAttempt(t *testing.T) {
	for _, statuses := range [][]int{{200}, {500, 200}} {
		t.Run(fmt.Sprint(statuses), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network, storage, arrived := refserver.NewNetwork(), newFated(), new(atomic.Int32)
				defer network.Close()
				srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
				defer srv.Close()
				url := network.Serve("app.test", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					n := arrived.Add(1)
					if n == 1 {
						storage.setOutcome(saveFails)
					}
					w.WriteHeader(statuses[min(int(n), len(statuses))-1])
				}))
				hook := srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
				id := srv.TestWebhook(hook)
				require.ErrorIs(t, srv.Settle(t.Context()), refserver.ErrStorage)
				time.Sleep(time.Minute + 137*time.Millisecond) // does not end at the time of a repeat
				synctest.Wait()
				storage.setOutcome(saveDone)
				time.Sleep(10 * time.Second)
				require.NoError(t, srv.Settle(t.Context()))
				require.EqualValues(t, len(statuses), arrived.Load())
				d, err := srv.Delivery(id)
				require.NoError(t, err)
				require.Equal(t, refserver.DeliveryDelivered, d.Status)
				require.Len(t, d.Attempts, len(statuses))
			})
		})
	}
}

// TestRestart_sendsDeliveriesUnderWayAgain starts a server on records that were saved while an attempt was under way.
func TestRestart_sendsDeliveriesUnderWayAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, storage, arrived := refserver.NewNetwork(), newFated(), new(atomic.Int32)
		defer network.Close()
		var cut *memory
		url := network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			if arrived.Add(1) == 1 {
				cut = storage.Copy()
			}
		}))
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		srv.TestWebhook(srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted}))
		require.NoError(t, srv.Settle(t.Context()))
		srv.Close()
		require.Equal(t, int32(1), arrived.Load())

		cut.Decide = nil
		again := servicetest.Start(t, &refserver.Options{Network: network, Storage: cut})
		defer again.Close()
		synctest.Wait()
		require.NoError(t, again.Settle(t.Context()))
		require.Equal(t, int32(2), arrived.Load())
		require.Equal(t, refserver.DeliveryDelivered, again.Deliveries()[0].Status)
	})
}

// TestStorage_claimIsNotSaved: a delivery is saved when it falls due and when it is done, but not when an attempt starts.
func TestStorage_claimIsNotSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, storage, saved := refserver.NewNetwork(), newFated(), 0
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network, Storage: storage})
		defer srv.Close()
		url := network.Serve("app.test", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Second) }))
		hook := srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
		watcher := srv.Watch()
		storage.Decide = func(records []refserver.Record) saveOutcome {
			saved += len(records)
			return saveDone
		}
		id := srv.TestWebhook(hook)
		synctest.Wait()
		require.Equal(t, refserver.DeliverySending, srv.Deliveries()[0].Status)
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, 2, saved)
		var told int
		all, _ := watcher.Take()
		for _, h := range all {
			if h.Kind == refserver.DeliveryHappening && h.ID == id {
				told++
			}
		}
		require.Equal(t, 2, told, "pending, delivered")
	})
}
