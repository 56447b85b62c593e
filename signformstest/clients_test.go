package signformstest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// TestFault_errorOfTheClient confronts the SDK's client with each API fault: once in a list, which the client may repeat, and once
// in a send, which it may not.
func TestFault_errorOfTheClient(t *testing.T) {
	type fault = signformstest.Fault
	unavailable, unknown, limited := signforms.ErrUnavailable, signforms.ErrOutcomeUnknown, signforms.ErrRateLimited
	for _, c := range []struct {
		name       string
		fault      fault
		list, send error // nil: it succeeds
		lists      int   // requests for the list
		sent       int   // documents made by the send
	}{
		{name: "none", fault: fault{}, list: nil, send: nil, lists: 1, sent: 1},
		{name: "500", fault: fault{Status: 500}, list: unavailable, send: unknown, lists: 4, sent: 0},
		{name: "500, once", fault: fault{Status: 500, Times: 1}, list: nil, send: unknown, lists: 2, sent: 0},
		{name: "503 after the work", fault: fault{Status: 503, AfterWork: true, Times: 1}, list: nil, send: unknown, lists: 2, sent: 1},
		{name: "429", fault: fault{Status: 429, RetryAfter: "7"}, list: limited, send: limited, lists: 1, sent: 0},
		{name: "400", fault: fault{Status: 400, Body: `{"message":"no"}`}, list: signforms.ErrInvalid,
			send: signforms.ErrInvalid, lists: 1, sent: 0},
		{name: "reset", fault: fault{Reset: true, Times: 1}, list: nil, send: unknown, lists: 2, sent: 0},
		{name: "answer dropped", fault: fault{Reset: true, AfterWork: true, Times: 1}, list: nil, send: unknown, lists: 2, sent: 1},
		{name: "cut", fault: fault{Cut: 20, Times: 1}, list: nil, send: unknown, lists: 2, sent: 1},
		{name: "empty", fault: fault{Body: " ", AfterWork: true}, list: unavailable, send: unknown, lists: 1, sent: 1},
		{name: "garbage", fault: fault{Body: "{garbage"}, list: signforms.ErrBadResponse, send: unknown, lists: 1, sent: 0},
		{name: "HTML", fault: fault{Body: "<html>"}, list: signforms.ErrBadResponse, send: unknown, lists: 1, sent: 0},
		{name: "unknown values", fault: fault{Odd: true}, list: nil, send: nil, lists: 1, sent: 1},
		{name: "latency", fault: fault{Latency: time.Second}, list: nil, send: nil, lists: 1, sent: 1},
		{name: "latency, too long", fault: fault{Latency: time.Hour}, list: context.DeadlineExceeded, send: unknown, lists: 4, sent: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close()
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
				defer srv.Close()
				set := func() (remove func()) {
					if c.fault == (fault{}) {
						return func() {}
					}
					return srv.Fail(c.fault)
				}
				remove := set()
				_, err := srv.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
				requireMatches(t, c.list, err)
				synctest.Wait() // until a request that the client gave up is in the log
				require.Len(t, srv.Requests(), c.lists)
				remove()

				template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
				set()
				_, err = srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
					TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
				})
				requireMatches(t, c.send, err)
				synctest.Wait()
				require.Len(t, srv.Requests(), c.lists+1, "a send is not repeated")
				require.Len(t, srv.Messages(), c.sent)
			})
		})
	}
}

func requireMatches(t *testing.T, want, err error) {
	t.Helper()
	if want == nil {
		require.NoError(t, err)
		return
	}
	require.True(t, errors.Is(err, want), "got %v, want one that is %v", err, want)
}
