package probe_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/signformstest"
)

const day = 24 * time.Hour

// narrow are services of which an observation suggests more than it shows.
var narrow = []another{
	{"dateTo to the end of the hour", ending("dateTo", upTo(time.Hour)), []string{"dateTo included"}, nil},
	{"dateTo to the end of twelve hours", ending("dateTo", upTo(day/2)), []string{"dateTo included"}, nil},
	{"dateTo to the end of the week", ending("dateTo", upTo(7*day)), []string{"dateTo included"}, nil},
	{"dateFrom from the beginning of the week", ending("dateFrom", downTo(7*day)), []string{"dateFrom included"}, nil},
	{"dateFrom from the beginning of the month", ending("dateFrom", func(at time.Time) time.Time {
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	}), []string{"dateFrom included"}, nil},
	{"one document whatever dateFrom is", edited(func(f *imitation, q url.Values, body map[string]any) {
		if q.Has("dateFrom") && len(body["documents"].([]any)) == 0 {
			body["documents"] = []any{f.document(20)}
		}
	}), nil, nil},
	{"inputs refused with 404", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if number(r.URL.Query(), "limit", 1) > 100 {
				return fakeError{404, "no such limit", "not_found"}
			}
			return nil
		}
	}, []string{"largest limit"}, nil},
	{"no list beside dates", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if at, err := time.Parse(time.RFC3339, r.URL.Query().Get("dateFrom")); err == nil && at.After(f.at(f.n)) {
				return fakeError{404, "no documents", "not_found"}
			}
			return nil
		}
	}, []string{"empty list"}, nil},
	{"null that the SDK cannot read", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if len(body["documents"].([]any)) == 0 && q.Has("page") {
			clear(body)
			body["documents"] = nil
		}
	}), []string{"empty list"}, []string{"pagination"}},
	{"page refused before the key", func(f *imitation) {
		f.key = "taken"
		f.gate = func(r *http.Request) error {
			switch {
			case r.URL.Query().Has("page"):
				return fakeError{400, "unknown input", "invalid_input"}
			case r.Header.Get("X-Api-Key") != fakeKey:
				return fakeError{403, "no such key", "forbidden"}
			}
			return nil
		}
	}, []string{"unknown parameters"}, []string{"pages", "page size", "unknown parameters"}},
	{"dates of updatedAt", func(f *imitation) { f.n, f.dates = 62, "updated" }, theDates[2:], nil},
	{"microseconds", func(f *imitation) { f.dates = "micros" }, nil, nil},
	{"microseconds, exclusive", func(f *imitation) { f.dates = "micro exclusive" }, theDates[2:], nil},
	{"Fastify's errors", func(f *imitation) { f.errors = "fastify" }, []string{"error layout", "error codes"}, nil},
	{"a gateway with a message alone", func(f *imitation) {
		f.ask = func(r *http.Request) {
			f.errors = map[bool]string{true: "no code"}[r.URL.Query().Get("documentId") == "not-an-id"]
		}
	}, nil, []string{"error codes"}},
	{"NestJS", func(f *imitation) { f.errors = "nest" }, []string{"error layout", "error codes"}, nil},
	{"errors in another case", func(f *imitation) { f.errors = "case" }, []string{"error layout", "error codes"}, nil},
	{"counts in two spellings", edited(func(_ *imitation, _ url.Values, body map[string]any) {
		body["paginatioN"], body["documentscount"] = map[string]any{"currentPage": 77, "totalPages": 999, "totalDocuments": 99999}, -1
		body["Pagination"], body["DocumentsCount"] = body["paginatioN"], -1
	}), nil, nil},
	{"ids in two spellings", documents(func(_ int, d fakeDocument) { d["documentid"], d["DocumentId"] = "x", "y" }), nil, nil},
	{"ids called id", documents(func(_ int, d fakeDocument) {
		d["id"] = d["documentId"]
		delete(d, "documentId")
	}), []string{"document fields"}, []string{"list documents"}},
	{"a router that asks for inputs", func(f *imitation) {
		f.absent = "responses"
		f.gate = func(r *http.Request) error {
			switch {
			case !strings.HasPrefix(r.URL.Path, "/get-form"):
				return nil
			case r.URL.RawQuery == "":
				return fakeError{400, "inputs are required", "invalid_input"}
			}
			return fakeError{404, "not found", "not_found"}
		}
	}, aboutResponses[:1], aboutResponses[1:]},
	{"a route without a list, behind a gateway that knows its inputs", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			q := r.URL.Query()
			q.Del("formId")
			switch {
			case !strings.HasPrefix(r.URL.Path, "/get-form-responses"):
				return nil
			case len(q) > 0:
				return fakeError{400, "unknown input", "invalid_input"}
			}
			return fakeError{404, "there is nothing", "missing"}
		}
	}, aboutResponses[:2], nil},
	{"counts of the page beside unknown parameters", edited(func(_ *imitation, q url.Values, body map[string]any) {
		if q.Has("sortBy") {
			n := len(body["documents"].([]any))
			body["documentsCount"], body["pagination"] = n, map[string]any{"currentPage": 1, "totalPages": 1, "totalDocuments": n}
		}
	}), []string{"unknown parameters"}, nil},
	{"a firewall from not-an-id on", func(f *imitation) {
		blocked := false
		f.gate = func(r *http.Request) error {
			if blocked = blocked || r.URL.Query().Get("documentId") == "not-an-id"; blocked {
				return fakeError{403, "blocked", "forbidden"}
			}
			return nil
		}
	}, nil, everyFact[:7]},
	{"a 404 that is never the same", func(f *imitation) {
		f.gate = func(r *http.Request) error {
			if r.URL.Path == "/get-form-responses" {
				return fakeError{404, "nothing here, " + strings.Repeat("x", f.count), "missing"}
			}
			return nil
		}
	}, aboutResponses[:1], aboutResponses[1:]},
	{"64 records where there is no order", unordered64, []string{"largest limit"}, []string{"default order", "documents count", "totals", "pages", "sort orders"}},
}

// unordered64 ends each list without sortOrder after 64 records.
func unordered64(f *imitation) {
	edited(func(_ *imitation, q url.Values, body map[string]any) {
		if docs, ok := body["documents"].([]any); ok && !q.Has("sortOrder") {
			body["documents"] = docs[:min(64, len(docs))]
		}
	})(f)
	f.n = 100
}

// A limit that is refused one time and taken another has no bound.
func TestLimitsRefusedNowAndThen(t *testing.T) {
	for _, of := range []int{2, 3, 4, 5, 7} {
		for _, from := range []int{20, 60, 100} {
			for _, is := range []string{"", "unbounded", "cut"} {
				t.Run(fmt.Sprint(of, from, is), func(t *testing.T) {
					t.Parallel()
					f := &imitation{n: 130, limits: is}
					f.gate = func(r *http.Request) error {
						if number(r.URL.Query(), "limit", 1) > from && f.count%of == 0 {
							return fakeError{400, "not now", "invalid_input"}
						}
						return nil
					}
					rep, err := probed(t, f, false)
					require.NoError(t, err)
					require.Zero(t, rep.Profile.MaxLimit%1000) // which is taken now and then
					wrong, _, _ := falseClaims(rep, map[bool][]string{true: {"largest limit"}}[is != ""], slices.DeleteFunc(slices.Clone(everyFact), func(id string) bool { return id != "times" && id != "dates alone" }))
					require.Empty(t, wrong, show(rep))
				})
			}
		}
	}
}

// An account in which no document was changed does not show by which time the service filters.
func TestDatesWithoutChanges(t *testing.T) {
	f := &imitation{n: 64}
	documents(func(_ int, d fakeDocument) { d["updatedAt"] = d["createdAt"] })(f)
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Subset(t, factsWith(rep, probe.CannotTell), theDates[2:], show(rep))
	f = &imitation{n: 64}
	documents(func(_ int, d fakeDocument) { delete(d, "updatedAt") })(f)
	rep, err = probed(t, f, false)
	require.NoError(t, err)
	require.Subset(t, factsWith(rep, probe.Holds), theDates[2:], show(rep))
}

// What fails after the wrong key is no answer to it.
func TestLastRequestFails(t *testing.T) {
	f, foreign := &imitation{n: 64}, 0
	f.ask = func(r *http.Request) {
		if r.Header.Get("X-Api-Key") != fakeKey {
			foreign++
		}
	}
	f.gate = func(*http.Request) error {
		if foreign > 1 {
			return fakeError{500, "oops", ""}
		}
		return nil
	}
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Contains(t, factsWith(rep, probe.CannotTell), "key status")
	require.NotContains(t, show(rep), "the right key is not taken")
}

// Errors of several layouts tell that there is no code where none of them has one, or where some of the same fields have none.
func TestLayoutsWithoutACode(t *testing.T) {
	for _, of := range []string{"nest", "fastify"} {
		rep, err := probed(t, &imitation{n: 64, errors: of}, false)
		require.NoError(t, err)
		require.Contains(t, factsWith(rep, probe.Differs), "error layout", show(rep))
	}
}

// ending moves one end of the dates that are times.
func ending(name string, move func(time.Time) time.Time) func(*imitation) {
	return asking(func(q url.Values) {
		if at, err := time.Parse(time.RFC3339, q.Get(name)); err == nil {
			q.Set(name, move(at).Format("2006-01-02T15:04:05.000Z"))
		}
	})
}

func downTo(unit time.Duration) func(time.Time) time.Time {
	return func(at time.Time) time.Time { return at.Truncate(unit) }
}

func upTo(unit time.Duration) func(time.Time) time.Time {
	return func(at time.Time) time.Time { return at.Truncate(unit).Add(unit - time.Millisecond) }
}

// An end is said to mean its day only if it means neither a part of a day nor more days, from whatever hour the documents are.
func TestEndsThatAreNotDays(t *testing.T) {
	moves := map[string]func(time.Duration) func(time.Time) time.Time{"down": downTo, "up": upTo}
	for _, unit := range []time.Duration{time.Hour, day / 4, day / 2, day, 2 * day, 3 * day, 7 * day} {
		for way, move := range moves {
			for _, name := range []string{"dateFrom", "dateTo"} {
				for n := 40; n <= 100; n += 12 {
					t.Run(fmt.Sprint(name, " ", way, " ", unit, " ", n), func(t *testing.T) {
						t.Parallel()
						f := &imitation{n: n}
						ending(name, move(unit))(f)
						rep, err := probed(t, f, false)
						require.NoError(t, err)
						got := map[string]signformstest.DateEnd{"dateFrom": rep.Profile.DateFrom, "dateTo": rep.Profile.DateTo}
						for end, is := range got {
							want := map[string]signformstest.DateEnd{"down": signformstest.EndAtDayStart, "up": signformstest.EndAtDayEnd}[way]
							if end != name || unit != day {
								want = signformstest.EndIncluded
							}
							require.Equal(t, want, is, "%s\n%s", end, show(rep))
						}
					})
				}
			}
		}
	}
}

// What was seen against a fact's own words is told as a difference, and what was not asked is named once.
func TestWhatIsSeenAgainstAFactDiffers(t *testing.T) {
	dropping := func(name, value string) func(*imitation) {
		return asking(func(q url.Values) {
			if value == "" || q.Get(name) == value {
				q.Del(name)
			}
		})
	}
	for name, a := range map[string]struct {
		is     func(*imitation)
		differ []string
	}{
		"FROZEN is taken":     {dropping("status", "FROZEN"), []string{"unknown status"}},
		"ObjectIds are taken": {dropping("documentId", "0123456789abcdef01234567"), []string{"malformed id"}},
		"some in progress by another name": {documents(func(i int, d fakeDocument) {
			if i%3 == 0 && d["status"] == "PENDING" {
				d["status"] = "AWAITING_SIGNATURE"
			}
		}), []string{"status in progress"}},
		"the oldest by another name": {edited(func(f *imitation, _ url.Values, body map[string]any) {
			for _, d := range body["documents"].([]any) {
				if d := d.(fakeDocument); d["documentId"] == f.id(0) {
					d["status"] = "COMPLETED"
				}
			}
		}), []string{"status in progress"}},
		"all in progress by another name": {documents(func(i int, d fakeDocument) {
			if d["status"] == "PENDING" {
				d["status"] = "SENT"
			}
		}), []string{"status in progress"}},
		"limit=1 beside a status gives 10": {asking(func(q url.Values) {
			if q.Has("status") {
				q.Del("limit")
			}
		}), []string{"limit one"}},
		"all respondents for any id": {func(f *imitation) {
			templates(func(fakeDocument) {})(f)
			f.respondents = func(q url.Values) map[string]any {
				if q.Get("respondentDocumentId") == "" && !strings.HasPrefix(q.Get("templateId"), "3f0f8a52") {
					return nil
				}
				return map[string]any{"respondents": []any{map[string]any{"respondentDocumentId": signedID, "status": "SIGNED"},
					map[string]any{"respondentDocumentId": openID, "status": "PENDING"}}}
			}
		}, []string{"one respondent"}},
		"an unknown key is redirected": {func(f *imitation) { f.key = "302" }, []string{"key status"}},
		"an unknown key gets a page": {func(f *imitation) {
			f.key = "taken"
			f.ask = func(r *http.Request) { f.errors = map[bool]string{true: "text"}[r.Header.Get("X-Api-Key") != fakeKey] }
			f.gate = func(r *http.Request) error {
				if r.Header.Get("X-Api-Key") != fakeKey {
					return fakeError{200, "<html>Sign in</html>", ""}
				}
				return nil
			}
		}, []string{"key status"}},
		"what is odd is forbidden": {func(f *imitation) {
			f.gate = func(r *http.Request) error {
				if q := r.URL.Query(); q.Get("status") == "NO_SUCH_STATUS" || q.Get("documentId") == "not-an-id" {
					return fakeError{403, "blocked", "forbidden"}
				}
				return nil
			}
		}, []string{"unknown status", "malformed id"}},
		"limit=1 is refused": {func(f *imitation) {
			f.gate = func(r *http.Request) error {
				if r.URL.Query().Get("limit") == "1" {
					return fakeError{400, "limit is 2 to 100", "invalid_input"}
				}
				return nil
			}
		}, []string{"limit one"}},
		"20 a page with page": {asking(func(q url.Values) {
			if q.Has("page") && !q.Has("limit") {
				q.Set("limit", "20")
			}
		}), []string{"page size"}},
		"dates ignored":    {func(f *imitation) { f.dates = "ignored" }, []string{"times", "dates alone"}},
		"dateTo ignored":   {dropping("dateTo", ""), []string{"times", "dates alone", "dateTo included"}},
		"dates in seconds": {func(f *imitation) { f.dates = "unix" }, []string{"times", "dates alone"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &imitation{n: 130}
			a.is(f)
			rep, err := probed(t, f, false)
			require.NoError(t, err)
			require.ElementsMatch(t, a.differ, factsWith(rep, probe.Differs), show(rep))
		})
	}
}

// The key is asked about with a limit that the service takes.
func TestKeyIsToldWhereLimitOneIsRefused(t *testing.T) {
	f := &imitation{n: 130}
	f.gate = func(r *http.Request) error {
		if number(r.URL.Query(), "limit", 10) < 10 {
			return fakeError{400, "limit is 10, 25, 50 or 100", "invalid_input"}
		}
		return nil
	}
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Contains(t, factsWith(rep, probe.Holds), "key status", show(rep))
}

// Where there is no list, the facts about it have one reason, and that no list was redirected is known.
func TestWithoutAListItsFactsAreNotAsked(t *testing.T) {
	rep, err := probed(t, &imitation{n: 64, envelope: "data"}, false)
	require.NoError(t, err)
	require.Contains(t, factsWith(rep, probe.Holds), "redirects", show(rep))
	unasked := 0
	for _, res := range rep.Results {
		if res.Seen == probe.NoList {
			unasked++
		}
	}
	require.Greater(t, unasked, 20, show(rep))
}

// What cannot be told is named as it was seen.
func TestWordsOfDoubts(t *testing.T) {
	for name, a := range map[string]struct {
		is   func(*imitation)
		want string
	}{
		"counts with a point": {edited(func(_ *imitation, _ url.Values, body map[string]any) {
			body["documentsCount"] = json.RawMessage(fmt.Sprint(body["documentsCount"], ".0"))
		}), "documentsCount is missing or not a whole number"},
		"an unknown key is redirected": {func(f *imitation) { f.key = "302" }, " lists, with the right key"},
		"microseconds printed": {documents(func(_ int, d fakeDocument) {
			d["createdAt"] = strings.Replace(d["createdAt"].(string), "Z", "042Z", 1)
		}), "no document has a time in milliseconds and with a zone that would show it"},
	} {
		f := &imitation{n: 64}
		a.is(f)
		rep, err := probed(t, f, false)
		require.NoError(t, err)
		require.Contains(t, show(rep), a.want, name)
	}
}

// A service may say with 404 that there are no documents behind all.
func TestNoListBesideDatesFilters(t *testing.T) {
	f := &imitation{n: 64}
	narrow[slices.IndexFunc(narrow, func(a another) bool { return a.name == "no list beside dates" })].is(f)
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Subset(t, factsWith(rep, probe.Holds), []string{"times", "dates alone"}, show(rep))
}
