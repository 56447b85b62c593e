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

// TestWhatAClientMakesOfFaults has the SDK's own client meet each API fault, once with a list, which it may repeat, and once
// with a send, which it may not.
func TestWhatAClientMakesOfFaults(t *testing.T) {
	type fault = signformstest.Fault
	unavailable, unknown, limited := signforms.ErrUnavailable, signforms.ErrOutcomeUnknown, signforms.ErrRateLimited
	for name, c := range map[string]struct {
		fault      fault
		list, send error // nil: it succeeds
		lists      int   // requests for the list
		sent       int   // documents made by the send
	}{
		"none":               {fault{}, nil, nil, 1, 1},
		"500":                {fault{Status: 500}, unavailable, unknown, 4, 0},
		"500, once":          {fault{Status: 500, Times: 1}, nil, unknown, 2, 0},
		"503 after the work": {fault{Status: 503, AfterWork: true, Times: 1}, nil, unknown, 2, 1},
		"429":                {fault{Status: 429, RetryAfter: "7"}, limited, limited, 1, 0},
		"400":                {fault{Status: 400, Body: `{"message":"no"}`}, signforms.ErrInvalid, signforms.ErrInvalid, 1, 0},
		"reset":              {fault{Reset: true, Times: 1}, nil, unknown, 2, 0},
		"answer dropped":     {fault{Reset: true, AfterWork: true, Times: 1}, nil, unknown, 2, 1},
		"cut":                {fault{Cut: 20, Times: 1}, nil, unknown, 2, 1},
		"empty":              {fault{Body: " ", AfterWork: true}, unavailable, unknown, 1, 1},
		"garbage":            {fault{Body: "{garbage"}, unavailable, unknown, 1, 0},
		"HTML":               {fault{Body: "<html>", ContentType: "text/html"}, unavailable, unknown, 1, 0},
		"wrong types":        {fault{WrongTypes: true}, nil, nil, 1, 1},
		"unknown values":     {fault{Unknown: true}, nil, nil, 1, 1},
		"latency":            {fault{Latency: time.Second}, nil, nil, 1, 1},
		"latency, too long":  {fault{Latency: time.Hour}, context.DeadlineExceeded, unknown, 4, 1},
		"drip":               {fault{Drip: time.Millisecond}, nil, nil, 1, 1},
		"drip, too slow":     {fault{Drip: time.Second}, context.DeadlineExceeded, unknown, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := signformstest.NewNetwork()
				defer network.Close()
				srv := signformstest.NewServer(t, &signformstest.Options{Network: network, FailOnUnusedFaults: true})
				defer srv.Close()
				remove := srv.Fail(c.fault)
				_, err := srv.Client().Documents.List(t.Context(), signforms.DocumentListParams{})
				requireMatches(t, c.list, err)
				synctest.Wait() // for a request that was given up to be logged
				require.Len(t, srv.Requests(), c.lists)
				remove()

				template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
				srv.Fail(c.fault)
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
