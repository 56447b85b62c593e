package api_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TestAPI_concurrentRequests runs every operation beside every other. The race detector watches; after it, each send has left one
// document and each answer is one of the service's.
func TestAPI_concurrentRequests(t *testing.T) {
	var tick, sent, forms, answers atomic.Int64
	now := func() time.Time {
		return instant("2026-11-19T08:00:00Z").Add(time.Duration(tick.Add(1)) * time.Millisecond)
	}
	s, ids := seed(t, now)
	handler := api.New(api.Options{
		Store: s, IDs: ids,
		Log: func(r api.Record) {
			answers.Add(1)
			if r.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s", r)
			}
		},
	})
	requests := map[string]request{}
	names := []string{
		"send_template", "send_form", "list_documents", "list_templates", "list_respondents", "list_responses", "void_document",
		"send_reminder", "void_template_document", "get_document", "get_respondent", "get_response",
	}
	for _, name := range names {
		requests[name] = load(t, name)
	}
	const workers, each = 16, 60
	var wg sync.WaitGroup
	for worker := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(5, uint64(worker)))
			for range each {
				name := names[rnd.IntN(len(names))]
				w := requests[name].send(handler)
				if name == "send_template" && w.Code == http.StatusOK {
					sent.Add(1)
				}
				if name == "send_form" && w.Code == http.StatusOK {
					forms.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, workers*each, answers.Load())
	require.NoError(t, s.View(func(tx *store.Tx) error {
		require.EqualValues(t, 2+sent.Load(), tx.CountRespondents(template, ""))
		require.EqualValues(t, 2*forms.Load(), len(mailAbout(tx, form)))
		return nil
	}))
}
