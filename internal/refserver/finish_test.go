package refserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/storagetest"
)

// signedLease adds a document with a webhook that tracks it, and signs it.
func signedLease(t *testing.T, srv *refserver.Server, url string) (doc string) {
	t.Helper()
	srv.AddWebhook(refserver.Webhook{URL: url, Event: refserver.SignatureCompleted})
	doc = srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann, PDF: []byte("%PDF-lease")})
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	return doc
}

func finishedURL(t *testing.T, srv *refserver.Server, doc string) string {
	t.Helper()
	d, err := clientOf(t, srv).Documents.Get(t.Context(), doc)
	require.NoError(t, err)
	return d.FinishedPDFURL
}

func TestTheCompletedEventWaitsForTheFinishedFile(t *testing.T) {
	endpoint, storage := newReceiver(t), &storagetest.Memory{}
	begun, goOn := make(chan refserver.DocumentState, 1), make(chan struct{})
	srv := refserver.NewServer(t, &refserver.Options{
		Start: start, Storage: storage, Finish: func(_ context.Context, d refserver.DocumentState) ([]byte, error) {
			begun <- d
			<-goOn
			return []byte("%PDF-finished " + d.Name), nil
		},
	})
	doc := signedLease(t, srv, endpoint.URL)
	given := <-begun
	require.Equal(t, "%PDF-lease", string(given.PDF))
	require.Equal(t, refserver.StatusSigned, given.Status)
	require.Empty(t, finishedURL(t, srv, doc), "there is no file yet")
	require.Equal(t, refserver.DeliveryWaiting, srv.Deliveries()[1].Status)
	require.ErrorIs(t, srv.Resend(srv.Deliveries()[1].ID), refserver.ErrRefused)

	close(goOn)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"new_signature_pdf_individual_signed", "new_signature_pdf_completed"}, endpoint.types(t))
	require.Contains(t, string(endpoint.all()[1].body), `"finishedPdfUrl":"`+srv.URL+"/finished/"+doc+`.pdf"`)
	require.NotEmpty(t, finishedURL(t, srv, doc))
	pdf, err := srv.FinishedPDF(t.Context(), doc)
	require.NoError(t, err)
	require.Equal(t, "%PDF-finished Lease", string(pdf))
	require.Equal(t, 2, storage.Count(refserver.BlobKind))
	trail := srv.Audit(doc)
	require.Equal(t, "finish", trail[len(trail)-1].Action)
}

// TestAFinishedFileIsMadeAfterARestart closes the server while the file is being made. The next server makes the file, or has no
// Finish and delivers the event without it.
func TestAFinishedFileIsMadeAfterARestart(t *testing.T) {
	for _, made := range []bool{true, false} {
		endpoint, storage, begun := newReceiver(t), &storagetest.Memory{}, make(chan bool)
		srv := refserver.NewServer(t, &refserver.Options{
			Start: start, Storage: storage, Finish: func(ctx context.Context, _ refserver.DocumentState) ([]byte, error) {
				close(begun)
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		doc := signedLease(t, srv, endpoint.URL)
		<-begun
		opts := refserver.Options{Start: start}
		if made {
			opts.Finish = func(context.Context, refserver.DocumentState) ([]byte, error) {
				return []byte("%PDF-finished"), nil
			}
		}
		srv, _ = restart(t, srv, storage, opts)
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, 1, countOf(endpoint.types(t), "new_signature_pdf_completed"))
		require.NotEmpty(t, finishedURL(t, srv, doc))
		pdf, err := srv.FinishedPDF(t.Context(), doc)
		require.NoError(t, err)
		require.Equal(t, made, pdf != nil)
	}
}

func countOf[T comparable](all []T, v T) (n int) {
	for _, other := range all {
		if other == v {
			n++
		}
	}
	return n
}

// TestWithoutAFinishedFileTheEventGoesOut: every try fails, in each possible way, and the event is delivered without the file.
func TestWithoutAFinishedFileTheEventGoesOut(t *testing.T) {
	for name, fail := range map[string]func() ([]byte, error){
		"no paper":          func() ([]byte, error) { return []byte("half a file"), errors.New("no paper") },
		"panic: no paper":   func() ([]byte, error) { panic("no paper") },
		"the file is empty": func() ([]byte, error) { return nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			endpoint, tries := newReceiver(t), new(atomic.Int32)
			srv := refserver.NewServer(t, &refserver.Options{
				Start: start, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
					tries.Add(1)
					return fail()
				},
			})
			doc := signedLease(t, srv, endpoint.URL)
			srv.Advance(300 * time.Second)
			require.NotContains(t, endpoint.types(t), "new_signature_pdf_completed", "the last try is after 340 s")
			srv.Advance(40 * time.Second)
			require.Equal(t, 5, int(tries.Load()))
			require.Equal(t, 1, countOf(endpoint.types(t), "new_signature_pdf_completed"))
			require.NotContains(t, string(endpoint.all()[1].body), "finishedPdfUrl")
			require.Empty(t, finishedURL(t, srv, doc))
			d, _ := srv.FindDocument(doc)
			require.Equal(t, refserver.FileFailed, d.Finished)
			trail := srv.Audit(doc)
			require.Equal(t, "the finished file could not be made, try 5 of 5: "+name, trail[len(trail)-1].Note)
		})
	}
}

// TestAFinishedFileThatCannotBeSavedIsMadeAgain: the storage fails after the file is made.
func TestAFinishedFileThatCannotBeSavedIsMadeAgain(t *testing.T) {
	storage, endpoint := newFated(), newReceiver(t)
	srv := refserver.NewServer(t, &refserver.Options{
		Start: start, Storage: storage, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
			if storage.fails.CompareAndSwap(false, true) {
				storage.becomes(storagetest.Failed)
			}
			return []byte("%PDF-finished"), nil
		},
	})
	doc := signedLease(t, srv, endpoint.URL)
	require.ErrorIs(t, srv.Settle(t.Context()), refserver.ErrStorage)
	storage.becomes(storagetest.Saved)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, 1, countOf(endpoint.types(t), "new_signature_pdf_completed"))
	require.NotEmpty(t, finishedURL(t, srv, doc))
}

// TestCancelledWhileItWaited disables the webhook of an event that waits for its file, and then resends the event.
func TestCancelledWhileItWaited(t *testing.T) {
	endpoint, goOn := newReceiver(t), make(chan struct{})
	srv := refserver.NewServer(t, &refserver.Options{
		Start: start, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
			<-goOn
			return []byte("%PDF-finished"), nil
		},
	})
	signedLease(t, srv, endpoint.URL)
	hook, waiting := srv.Webhooks()[0].ID, srv.Deliveries()[1].ID
	require.NoError(t, srv.DisableWebhook(hook))
	d, err := srv.Delivery(waiting)
	require.NoError(t, err)
	require.Equal(t, refserver.DeliveryCancelled, d.Status)
	require.NoError(t, srv.EnableWebhook(hook))
	require.NoError(t, srv.Resend(waiting), "it waits again")
	close(goOn)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, 1, countOf(endpoint.types(t), "new_signature_pdf_completed"))
	require.Contains(t, fmt.Sprintf("%s", endpoint.all()), "finishedPdfUrl")
}

// TestACallThatEndsTheProgram: each life of the program ends in the middle of a call. Settle of the next one waits for the call that is
// made again. After five calls there is no other, and Settle waits for the event without the file.
func TestACallThatEndsTheProgram(t *testing.T) {
	storage, doc, endpoint := &storagetest.Memory{}, "", newReceiver(t)
	for life := 1; ; life++ {
		atTheEnd := make(chan *storagetest.Memory, 1)
		srv := refserver.NewServer(t, &refserver.Options{
			Start: start, Storage: storage, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
				select {
				case atTheEnd <- storage.Copy():
				default: // what happens later is not seen by the next life
				}
				return nil, errors.New("too late")
			},
		})
		if life == 1 {
			doc = signedLease(t, srv, endpoint.URL)
		}
		require.NoError(t, srv.Settle(t.Context()))
		if len(atTheEnd) == 0 {
			require.Equal(t, 6, life)
			require.Equal(t, refserver.DeliveryDelivered, srv.Deliveries()[1].Status)
			trail := srv.Audit(doc)
			require.Equal(t, "the finished file could not be made, try 5 of 5: the program ended during the try", trail[len(trail)-1].Note)
			require.Equal(t, refserver.FileFailed, fileOf(t, srv, doc))
			return
		}
		srv.Close()
		storage = <-atTheEnd
	}
}

// TestTriesThatWaitForRoomDoNotCount: what waits for room has not been tried when the program ends, and the minute of its call begins
// when it has room.
func TestTriesThatWaitForRoomDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := refserver.NewNetwork()
		defer network.Close()
		room, storage, left := make(chan struct{}, 1), &storagetest.Memory{}, time.Duration(0)
		live := func() *refserver.Server {
			return refserver.NewServer(t, &refserver.Options{
				Network: network, Storage: storage, FinishRoom: room, Finish: func(ctx context.Context, _ refserver.DocumentState) ([]byte, error) {
					end, _ := ctx.Deadline()
					left = time.Until(end)
					return []byte("%PDF-finished"), nil
				},
			})
		}
		room <- struct{}{} // a call of somebody else
		srv := live()
		doc := addSigned(t, srv, "Lease")
		for range 6 {
			time.Sleep(10 * time.Minute)
			ended := storage.Copy()
			srv.Close()
			storage = ended
			srv = live()
		}
		defer srv.Close()
		time.Sleep(30 * time.Second)
		<-room
		require.NoError(t, srv.Settle(t.Context()))
		require.Equal(t, refserver.FileMade, fileOf(t, srv, doc))
		require.Equal(t, time.Minute, left)
		require.Empty(t, room)
	})
}

func TestFinishAgain(t *testing.T) {
	endpoint, storage, works := newReceiver(t), &storagetest.Memory{}, new(atomic.Bool)
	srv := refserver.NewServer(t, &refserver.Options{
		Start: start, Storage: storage, Finish: func(context.Context, refserver.DocumentState) ([]byte, error) {
			if works.Load() {
				return []byte("%PDF-finished"), nil
			}
			return nil, errors.New("no " + strings.Repeat("paper", 1000))
		},
	})
	doc := signedLease(t, srv, endpoint.URL)
	require.ErrorIs(t, srv.FinishAgain(doc), refserver.ErrRefused, "it is still tried")
	require.ErrorIs(t, srv.FinishAgain("unknown"), refserver.ErrNotFound)
	srv.Advance(340 * time.Second)
	require.Equal(t, refserver.FileFailed, fileOf(t, srv, doc))
	without := refserver.NewServer(t, &refserver.Options{Start: start, Storage: storage.Copy()})
	require.ErrorIs(t, without.FinishAgain(doc), refserver.ErrRefused, "nobody makes it")
	require.NoError(t, srv.FinishAgain(doc))
	srv.Advance(340 * time.Second)
	require.Equal(t, refserver.FileFailed, fileOf(t, srv, doc), "five more failed")
	trail := srv.Audit(doc)
	require.Regexp(t, `^the finished file could not be made, try 5 of 5: no (paper)+pa…$|^.*…$`, trail[len(trail)-1].Note)
	require.Less(t, len(trail[len(trail)-1].Note), 400, "a long reason is cut")

	works.Store(true)
	require.NoError(t, srv.FinishAgain(doc))
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, refserver.FileMade, fileOf(t, srv, doc))
	require.NotEmpty(t, finishedURL(t, srv, doc))
	require.ErrorIs(t, srv.FinishAgain(doc), refserver.ErrRefused)
	require.Equal(t, 1, countOf(endpoint.types(t), "new_signature_pdf_completed"), "it is not repeated")
}
