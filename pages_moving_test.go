package signforms_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

var listRuns = flag.Int("lists.runs", 60, "how many random lists All reads from each kind of service")

// readings are the services that All reads lists from, by what they are known for.
var readings = map[string]reading{
	"default":                         {list: "documents", report: "total"},
	"end excluded":                    {list: "documents", report: "total", dateTo: "excluded"},
	"cut to the day":                  {list: "documents", report: "total", dateTo: "day"},
	"dateTo refused with 400":         {list: "documents", report: "total", dateTo: "400"},
	"dateTo refused with 422":         {list: "documents", report: "total", dateTo: "422"},
	"dateTo ignored":                  {list: "documents", report: "total", dateTo: "ignored"},
	"dateTo opens sixty days":         {list: "documents", report: "total", dateTo: "sixty days"},
	"DateTo in the future":            {list: "documents", report: "total", future: true},
	"pages capped":                    {list: "documents", report: "total", pageCap: 10},
	"documentsCount only":             {list: "documents", report: "documentsCount"},
	"totalPages only":                 {list: "documents", report: "totalPages"},
	"nothing reported":                {list: "documents", report: "nothing"},
	"oldest first":                    {list: "documents", report: "total", oldest: true},
	"ties":                            {list: "documents", report: "total", ties: 3},
	"ties in random order":            {list: "documents", report: "total", ties: 3, shuffled: true},
	"one time for all":                {list: "documents", report: "total", ties: 1000},
	"respondents":                     {list: "respondents", report: "totalPages"},
	"respondents, nothing reported":   {list: "respondents", report: "nothing"},
	"respondents, oldest first":       {list: "respondents", report: "totalPages", oldest: true},
	"respondents, pages capped":       {list: "respondents", report: "totalPages", pageCap: 10},
	"respondents, ties in random":     {list: "respondents", report: "totalPages", ties: 3, shuffled: true},
	"responses":                       {list: "responses", report: "total"},
	"responses, hasNextPage only":     {list: "responses", report: "hasNextPage"},
	"responses, oldest first":         {list: "responses", report: "total", oldest: true},
	"responses, pages capped":         {list: "responses", report: "total", pageCap: 10},
	"responses, ties in random order": {list: "responses", report: "total", ties: 3, shuffled: true},
}

// TestMovingLists reads random lists that change at random before each request: every record that was there all the time is
// yielded, and each once, or the list ends with ErrIncomplete, as one in ten does at the most. A list that does not change never
// does, unless nothing tells its end and its order is not the same twice.
func TestMovingLists(t *testing.T) {
	for name, r := range readings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var incomplete, requests int
			for seed := range uint64(*listRuns) {
				rnd := rand.New(rand.NewPCG(seed, 2))
				limit := 1 + rnd.IntN(20)
				s := newMovingService(rnd, r, rnd.IntN(10*limit), []float64{0, 0.1, 0.3, 1, 3}[rnd.IntN(5)])
				if s.pageCap > 0 {
					limit = 20
				}
				there := s.made
				yielded, err := s.all(t, limit)
				requests += s.requests
				if err != nil {
					incomplete++
					require.ErrorIs(t, err, signforms.ErrIncomplete, "seed %d", seed)
					require.True(t, s.events > 0 || s.shuffled && s.report == "totalPages", "seed %d: the list did not move: %v", seed, err)
					require.Equal(t, len(yielded), clienttest.AsError(t, err).Yielded, "seed %d", seed)
					continue
				}
				for n := range there {
					require.True(t, s.left[n] || yielded[s.id(n)], "seed %d: number %d of %d is lost; limit %d, %.1f events a request, %d requests",
						seed, n, there, limit, s.events, s.requests)
				}
			}
			require.LessOrEqual(t, incomplete, max(1, *listRuns/10))
			t.Logf("%s: %d runs, %.1f %% incomplete, %.1f requests each", name, *listRuns, 100*float64(incomplete)/float64(*listRuns), float64(requests)/float64(*listRuns))
		})
	}
}

// all reads the whole list and returns the ids that were yielded.
func (s *movingService) all(t *testing.T, limit int) (yielded map[string]bool, err error) {
	t.Helper()
	yielded = map[string]bool{}
	add := func(id string, e error) {
		if err = e; err == nil {
			require.False(t, yielded[id], "%s was yielded twice", id)
			yielded[id] = true
		}
	}
	c := clienttest.Scripted(t, s)
	switch s.list {
	case "documents":
		p := signforms.DocumentListParams{Limit: limit}
		if s.future {
			p.DateTo = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		for d, err := range c.Documents.All(t.Context(), p) {
			add(value(d).DocumentID, err)
		}
	case "respondents":
		for r, err := range c.Templates.AllRespondents(t.Context(), signforms.RespondentListParams{TemplateID: clienttest.TemplateID, Limit: limit}) {
			add(value(r).RespondentDocumentID, err)
		}
	case "responses":
		for r, err := range c.Forms.AllResponses(t.Context(), signforms.ResponseListParams{FormID: clienttest.FormID, Limit: limit}) {
			add(value(r).ResponseID, err)
		}
	}
	return yielded, err
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
