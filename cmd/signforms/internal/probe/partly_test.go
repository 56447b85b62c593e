package probe_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
)

// partly are services that look as assumed in some answers and are not so in others.
var partly = []another{
	{"sorted page by page", func(f *imitation) { f.sorts = "page" }, []string{"sort orders"}, nil},
	{"sorted page by page, 1,000 documents", func(f *imitation) { f.n, f.sorts = 1000, "page" }, []string{"sort orders"}, nil},
	{"asc of the newest 100", func(f *imitation) { f.n, f.sorts = 1000, "window" }, []string{"sort orders"}, nil},
	{"ids of the newest 100", func(f *imitation) { f.n, f.filters = 1000, "window" }, []string{"id filter"}, nil},
	{"some in progress by another name", documents(func(i int, d fakeDocument) {
		if i%3 == 0 && d["status"] == "PENDING" {
			d["status"] = "AWAITING_SIGNATURE"
		}
	}), []string{"status in progress"}, nil},
	{"count up to the page", edited(func(_ *imitation, q url.Values, body map[string]any) {
		body["documentsCount"] = number(q, "limit", 10)*(number(q, "page", 1)-1) + len(body["documents"].([]any))
	}), []string{"documents count"}, nil},
	{"count capped but for the last page", func(f *imitation) {
		f.n, f.list = 1000, func(q url.Values, body map[string]any) {
			if len(body["documents"].([]any)) > 0 && number(q, "page", 1) < body["pagination"].(map[string]any)["totalPages"].(int) {
				body["documentsCount"] = 500
			}
		}
	}, []string{"documents count"}, nil},
	{"the last page again and again", func(f *imitation) { f.pages = "last" }, nil, nil},
	{"two documents and an offset", func(f *imitation) { f.n, f.pages = 2, "offset" }, []string{"pages"}, []string{"page size", "default order", "sort orders"}},
	{"a replica that lags", edited(func(f *imitation, _ url.Values, body map[string]any) {
		if f.count%2 == 1 {
			body["documentsCount"] = body["documentsCount"].(int) - 2
			p := body["pagination"].(map[string]any)
			p["totalDocuments"] = p["totalDocuments"].(int) - 2
		}
	}), nil, nil},
	{"limit=100 gives 10", asking(func(q url.Values) {
		if q.Get("limit") == "100" {
			q.Set("limit", "10")
		}
	}), []string{"largest limit"}, nil},
	{"a date means its beginning", func(f *imitation) { f.dates = "start" }, []string{"dates alone"}, nil},
	{"microseconds in half of the documents", func(f *imitation) { f.ties, f.dates = true, "micro" }, []string{"dateTo included"}, nil},
	{"pagination of several pages alone", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if body["pagination"].(map[string]any)["totalPages"].(int) < 2 {
			delete(body, "pagination")
		}
	}), []string{"pagination"}, nil},
	{"name in some documents", documents(func(i int, d fakeDocument) {
		if i%3 == 2 {
			d["name"] = d["documentName"]
			delete(d, "documentName")
		}
	}), []string{"spellings"}, nil},
	{"both names", documents(func(i int, d fakeDocument) { d["name"] = d["documentName"] }), []string{"spellings"}, nil},
	{"null beside the other name", documents(func(i int, d fakeDocument) { d["name"], d["documentName"] = d["documentName"], nil }), []string{"spellings"}, nil},
	{"fields of the first document alone", documents(func(i int, d fakeDocument) {
		if i > 0 {
			delete(d, "authorEmail")
		}
	}), []string{"document fields"}, nil},
	{"texts for booleans", documents(func(i int, d fakeDocument) { d["isSigningOrder"] = "false" }), []string{"document fields"}, nil},
	{"every /get- answers", func(f *imitation) {
		f.absent, f.gate = "both", func(r *http.Request) error {
			switch {
			case r.URL.Path == "/get-documents" || !strings.HasPrefix(r.URL.Path, "/get-"):
				return nil
			case r.URL.RawQuery == "":
				return fakeError{400, "a filter is needed", "invalid_input"}
			}
			return fakeError{404, "no such record", "not_found"}
		}
	}, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"old archived are hidden", func(f *imitation) { f.archived = "old hidden" }, []string{"archive"}, []string{"documents count", "totals"}},
	{"a firewall after the eighth request", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if q := r.URL.Query(); f.count > 8 && (q.Has("status") || q.Has("documentId") || q.Has("templateId") || q.Has("formId") || q.Get("limit") == "101") {
				return fakeError{403, "<html>blocked</html>", ""}
			}
			return nil
		}
		f.errors = "text"
		f.key = "taken"
	}, []string{"key status"}, []string{"error codes"}},
	{"a cache that disregards keys", func(f *imitation) {
		known := map[string]bool{}
		f.ask = func(r *http.Request) {
			if known[r.URL.String()] {
				r.Header.Set("X-Api-Key", fakeKey)
			}
			known[r.URL.String()] = known[r.URL.String()] || r.Header.Get("X-Api-Key") == fakeKey
		}
	}, nil, nil},
}

func number(q url.Values, name string, usual int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return usual
}

func edited(edit func(*imitation, url.Values, map[string]any)) func(*imitation) {
	return func(f *imitation) { f.list = func(q url.Values, body map[string]any) { edit(f, q, body) } }
}

// documents changes the documents; i is the place in their page.
func documents(edit func(i int, d fakeDocument)) func(*imitation) {
	return edited(func(_ *imitation, _ url.Values, body map[string]any) {
		for i, d := range body["documents"].([]any) {
			edit(i, d.(fakeDocument))
		}
	})
}

func asking(change func(url.Values)) func(*imitation) {
	return func(f *imitation) {
		f.ask = func(r *http.Request) {
			q := maps.Clone(r.URL.Query())
			change(q)
			r.URL.RawQuery = q.Encode()
		}
	}
}

// One list that is empty for a moment, whichever it is, makes no fact differ.
func TestOneEmptyListClaimsNothing(t *testing.T) {
	for nth := 1; nth < 45; nth++ {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			t.Parallel()
			f := &imitation{n: 64}
			f.list = func(_ url.Values, body map[string]any) {
				if f.count == nth {
					body["documents"], body["documentsCount"] = []any{}, 0
					body["pagination"] = map[string]any{"currentPage": 1, "totalPages": 0, "totalDocuments": 0}
				}
			}
			rep, err := probed(t, f, false)
			require.NoError(t, err)
			require.Empty(t, factsWith(rep, probe.Differs), show(rep))
		})
	}
}
