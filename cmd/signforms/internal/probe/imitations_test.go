package probe_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/signformstest"
)

// another is a service that differs in one respect, with what is true of it, written before probe was run against it: the facts that
// differ, and those that cannot be told or of which it is not clear what is true.
type another struct {
	name            string
	is              func(*imitation)
	differ, unclear []string
}

var theDates = []string{"times", "dates alone", "dateFrom included", "dateTo included"}

var aboutRespondents = []string{"list respondents", "unknown template", "redirects"}
var aboutResponses = []string{"list responses", "unknown form", "redirects"}

var everyFact = func() (all []string) {
	for _, f := range probe.Facts {
		all = append(all, f.ID)
	}
	return all
}()

// pageTotals counts the page alone, and the whole list in order.
var pageTotals = edited(func(_ *imitation, q url.Values, body map[string]any) {
	docs, listed := body["documents"].([]any)
	if p, _ := body["pagination"].(map[string]any); p != nil && listed && !q.Has("sortOrder") {
		p["totalPages"], p["totalDocuments"] = 1, len(docs)
	}
})

var others = []another{
	{"as assumed", func(f *imitation) {}, nil, nil},
	{"no documents", func(f *imitation) { f.n = 0 }, nil, []string{"document fields"}},
	{"one document", func(f *imitation) { f.n = 1 }, nil, []string{"limit one", "page size", "default order", "sort orders", "documents count", "totals"}},
	{"three documents", func(f *imitation) { f.n = 3 }, nil, []string{"page size"}},
	{"1,000 documents", func(f *imitation) { f.n = 1000 }, nil, nil},
	{"dates ignored", func(f *imitation) { f.dates = "ignored" }, nil, theDates},
	{"dates cut to seconds", func(f *imitation) { f.dates = "second" }, []string{"dateFrom included", "dateTo included"}, nil},
	{"dates cut to minutes", func(f *imitation) { f.dates = "minute" }, []string{"dateFrom included", "dateTo included"}, nil},
	{"dates cut to days", func(f *imitation) { f.dates = "day" }, []string{"dateFrom included", "dateTo included"}, nil},
	{"dates in a local zone", func(f *imitation) { f.dates = "zone" }, []string{"dateFrom included", "dateTo included"}, nil},
	{"dates exclusive", func(f *imitation) { f.dates = "exclusive" }, []string{"dateFrom included", "dateTo included"}, nil},
	{"dates in seconds", func(f *imitation) { f.dates = "unix" }, []string{"times", "dates alone"}, theDates[2:]},
	{"dates refused", func(f *imitation) { f.dates = "refused" }, nil, theDates},
	{"dates without times", func(f *imitation) { f.dates = "date" }, []string{"times"}, theDates[2:]},
	{"two days by default", func(f *imitation) { f.dates = "range" }, nil, []string{"documents count", "totals", "archive", "page size", "unknown parameters"}},
	{"dateTo ignored", func(f *imitation) { f.dates = "from" }, []string{"times", "dates alone", "dateTo included"}, nil},
	{"pages from 0", func(f *imitation) { f.pages = "zero" }, []string{"pages"}, nil},
	{"pages ignored", func(f *imitation) { f.pages = "ignored" }, []string{"pages"}, []string{"documents count", "totals"}},
	{"pages named", func(f *imitation) { f.pages = "named" }, []string{"pages"}, nil},
	{"limit ignored", func(f *imitation) { f.limits = "ignored" }, []string{"limit one"}, []string{"documents count", "totals", "largest limit"}},
	{"limit named", func(f *imitation) { f.limits = "named" }, []string{"limit one"}, nil},
	{"limit cut to 100", func(f *imitation) { f.limits = "cut" }, []string{"largest limit"}, nil},
	{"limit cut to 20", func(f *imitation) { f.limits = "cut20" }, []string{"largest limit"}, nil},
	{"limit up to 50", func(f *imitation) { f.limits = "refused" }, []string{"largest limit"}, nil},
	{"no largest limit", func(f *imitation) { f.limits = "unbounded" }, []string{"largest limit"}, nil},
	{"sortOrder ignored", func(f *imitation) { f.sorts = "ignored" }, []string{"sort orders"}, nil},
	{"sortOrder ascending", func(f *imitation) { f.sorts = "ascending" }, []string{"sort orders"}, nil},
	{"sortOrder reversed", func(f *imitation) { f.sorts = "reversed" }, []string{"sort orders"}, nil},
	{"oldest first", func(f *imitation) { f.sorts = "oldest" }, []string{"default order"}, nil},
	{"sorted by name", func(f *imitation) { f.sorts = "name" }, []string{"default order", "sort orders"}, nil},
	{"in random order", func(f *imitation) { f.sorts = "random" }, []string{"default order", "sort orders"}, []string{"pages", "documents count", "totals", "archive"}},
	{"ties by id", func(f *imitation) { f.ties = true }, nil, nil},
	{"totals of the page", func(f *imitation) { f.totals = "page" }, []string{"documents count", "totals"}, nil},
	{"no totals", func(f *imitation) { f.totals = "absent" }, []string{"pagination"}, []string{"documents count", "totals"}},
	{"wrong totals", func(f *imitation) { f.totals = "wrong" }, []string{"documents count", "totals"}, nil},
	{"totals of the page but in order", pageTotals, []string{"totals"}, nil},
	{"documentId ignored", func(f *imitation) { f.filters = "ignored" }, []string{"id filter"}, []string{"malformed id"}},
	{"documentId named", func(f *imitation) { f.filters = "named" }, []string{"id filter"}, nil},
	{"malformed id unknown", func(f *imitation) { f.badID = "unknown" }, []string{"malformed id"}, nil},
	{"malformed id 422", func(f *imitation) { f.badID = "422" }, []string{"malformed id"}, nil},
	{"malformed id ignored", func(f *imitation) { f.badID = "ignored" }, []string{"malformed id"}, nil},
	{"unknown status ignored", func(f *imitation) { f.unknown = "ignored" }, []string{"unknown status"}, nil},
	{"unknown status empty", func(f *imitation) { f.unknown = "empty" }, []string{"unknown status"}, nil},
	{"unknown status not found", func(f *imitation) { f.unknown = "404" }, []string{"unknown status"}, nil},
	{"status ignored", func(f *imitation) { f.unknown = "all" }, []string{"unknown status"}, nil},
	{"in progress", func(f *imitation) { f.status = "IN_PROGRESS" }, []string{"status in progress"}, nil},
	{"unknown parameters refused", func(f *imitation) { f.params = "refused" }, []string{"unknown parameters"}, nil},
	{"key 401", func(f *imitation) { f.key = "401" }, []string{"key status"}, nil},
	{"key taken", func(f *imitation) { f.key = "taken" }, []string{"key status"}, []string{"error codes"}},
	{"key refused with 200", func(f *imitation) { f.key = "200" }, []string{"key status"}, []string{"error codes"}},
	{"Express", func(f *imitation) { f.missing = "echo" }, nil, nil},
	{"Fastify", func(f *imitation) { f.missing = "fastify" }, nil, nil},
	{"Koa", func(f *imitation) { f.noSuch = "koa" }, nil, slices.Concat(aboutRespondents, aboutResponses)},
	{"a path suggested", func(f *imitation) { f.missing = "suggest" }, nil, nil},
	{"no lists but documents, Express", func(f *imitation) { f.missing, f.absent = "echo", "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"no lists but documents, Fastify", func(f *imitation) { f.missing, f.absent = "fastify", "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"no lists but documents, one 404", func(f *imitation) { f.absent = "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"no lists but documents, an app at every path", func(f *imitation) { f.missing, f.absent = "spa", "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"no lists but documents, 200 everywhere", func(f *imitation) { f.missing, f.absent = "json200", "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"no lists but documents, AWS", func(f *imitation) { f.missing, f.absent = "aws", "both" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"removed lists", func(f *imitation) { f.noSuch = "tombstone" }, []string{"list respondents", "list responses"}, slices.Concat(aboutRespondents[1:], aboutResponses[1:])},
	{"unknown ids empty", func(f *imitation) { f.noSuch = "empty" }, []string{"unknown template", "unknown form"}, nil},
	{"unknown ids 400", func(f *imitation) { f.noSuch = "400" }, []string{"unknown template", "unknown form"}, []string{"redirects"}},
	{"RFC 7807", func(f *imitation) { f.errors = "7807" }, []string{"error layout", "error codes"}, nil},
	{"Hapi", func(f *imitation) { f.errors = "boom" }, []string{"error layout", "error codes"}, nil},
	{"errors as text", func(f *imitation) { f.errors = "text" }, []string{"error layout", "error codes"}, nil},
	{"errors with 200", func(f *imitation) { f.errors = "ok200" }, []string{"key status", "malformed id", "unknown status", "largest limit", "unknown template", "unknown form"}, []string{"error layout", "error codes"}},
	{"a byte order mark", func(f *imitation) { f.bom = true }, nil, nil},
	{"times in seconds", func(f *imitation) { f.created = "seconds" }, []string{"created format"}, theDates[2:]},
	{"times in numbers", func(f *imitation) { f.created = "numbers" }, []string{"created format"}, theDates[2:]},
	{"times without a zone", func(f *imitation) { f.created = "zoneless" }, []string{"created format"}, theDates[2:]},
	{"times with an offset", func(f *imitation) { f.created = "offset" }, []string{"created format"}, nil},
	{"numbers as ids", func(f *imitation) { f.ids = "numbers" }, nil, []string{"malformed id", "error codes"}},
	{"archived are hidden", func(f *imitation) { f.archived = "hidden" }, []string{"archive"}, nil},
	{"503 now and then", func(f *imitation) { f.trouble = "503" }, nil, nil},
	{"429 now and then", func(f *imitation) { f.trouble = "429" }, nil, nil},
	{"moving", func(f *imitation) { f.moving = true }, nil, nil},
	{"data", func(f *imitation) { f.envelope = "data" }, nil, everyFact},
	{"results", func(f *imitation) { f.envelope = "results" }, nil, everyFact},
	{"an app", func(f *imitation) { f.front = "spa" }, nil, everyFact},
	{"a firewall", func(f *imitation) { f.front = "firewall" }, nil, everyFact},
	{"a challenge", func(f *imitation) { f.front = "challenge" }, nil, everyFact},
}

// seldom cannot be told with the documents that the imitations have.
var seldom = []string{"one respondent", "template fields"}

func probed(t *testing.T, f *imitation, mutating bool) (*probe.Report, error) {
	t.Helper()
	waited := time.Duration(0)
	rep, err := probe.Run(t.Context(), probe.Options{BaseURL: "https://imitation.test", APIKey: fakeKey, WorkspaceID: "ws-1", Mutating: mutating, Transport: f, Timeout: 10 * time.Second,
		LimitStore: signforms.NewMemoryLimitStore(nil),
		Sleep:      func(_ context.Context, d time.Duration) error { waited += d; return nil }})
	require.LessOrEqual(t, waited, probe.MostTime*map[bool]time.Duration{true: 2, false: 1}[mutating])
	gets := 0
	for _, a := range f.asked {
		if a[:3] == "GET" {
			gets++
		}
	}
	require.LessOrEqual(t, gets, probe.MostGets+map[bool]int{true: probe.MostLooks}[mutating])
	return rep, err
}

// falseClaims returns what probe claims of a service that is not so, and how many facts were told of those that can be.
func falseClaims(rep *probe.Report, differ, unclear []string) (wrong []string, told, can int) {
	for _, res := range rep.Results {
		if res.Mutating {
			continue
		}
		if slices.Contains(unclear, res.ID) {
			continue
		}
		isIn := slices.Contains(differ, res.ID)
		if !slices.Contains(seldom, res.ID) {
			can++
			if res.Outcome != probe.CannotTell {
				told++
			}
		}
		if res.Outcome == probe.Holds && isIn || res.Outcome == probe.Differs && !isIn {
			wrong = append(wrong, fmt.Sprintf("%s %s: %s", res.ID, res.Outcome, res.Seen))
		}
	}
	return wrong, told, can
}

// Probe makes no false claim about any imitation, and tells most of what can be told. What it finds makes the SDK work with it.
func TestImitations(t *testing.T) {
	var told, can atomic.Int64
	t.Run("each", func(t *testing.T) {
		for i, o := range slices.Concat(others, partly, notAlways, narrow, shortLists) {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				f := &imitation{n: 64}
				o.is(f)
				rep, err := probed(t, f, false)
				if f.front != "" {
					require.ErrorIs(t, err, probe.ErrFront)
					require.Empty(t, slices.Concat(factsWith(rep, probe.Holds), factsWith(rep, probe.Differs)))
				}
				wrong, a, b := falseClaims(rep, o.differ, o.unclear)
				require.Empty(t, wrong, show(rep))
				told.Add(int64(a))
				can.Add(int64(b))
				if i < len(others) && len(rep.Endpoints) > 0 && !f.moving {
					listsWhole(t, f, rep.Endpoints)
				}
			})
		}
	})
	t.Logf("%d of %d told", told.Load(), can.Load())
	require.GreaterOrEqual(t, told.Load()*100, can.Load()*85)
}

// listsWhole checks that the SDK gets all documents with these endpoints.
func listsWhole(t *testing.T, f *imitation, endpoints map[signforms.Operation]signforms.Endpoint) {
	t.Helper()
	client, err := signforms.New("https://imitation.test", fakeKey, &signforms.Options{Endpoints: endpoints, HTTPClient: &http.Client{Transport: f}})
	require.NoError(t, err)
	n := 0
	for _, err := range client.Documents.All(t.Context(), signforms.DocumentListParams{}) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, f.n, n)
}

var every = flag.Int("pairs", 101, "try one in so many pairs of imitations")

// Nor about services that differ in two respects.
func TestPairsOfImitations(t *testing.T) {
	for i, one := range others {
		for j, two := range others[i+1:] {
			if (i*len(others)+j)%*every > 0 {
				continue
			}
			t.Run(one.name+" and "+two.name, func(t *testing.T) {
				t.Parallel()
				f := combined(one, two)
				if f == nil {
					t.Skip("they differ in the same respect")
				}
				rep, _ := probed(t, f, false)
				wrong, _, _ := falseClaims(rep, slices.Concat(one.differ, two.differ), slices.Concat(one.unclear, two.unclear))
				require.Empty(t, wrong, show(rep))
			})
		}
	}
}

// combined returns an imitation that differs in two respects, or nil where that is one respect.
func combined(one, two another) *imitation {
	first, f := &imitation{n: 64}, &imitation{n: 64}
	one.is(first)
	one.is(f)
	two.is(f)
	usual := &imitation{n: 64}
	for field, value := range reflect.ValueOf(first).Elem().Fields() {
		if unset := reflect.ValueOf(usual).Elem().FieldByIndex(field.Index); !field.IsExported() && fmt.Sprint(value) != fmt.Sprint(unset) &&
			fmt.Sprint(value) != fmt.Sprint(reflect.ValueOf(f).Elem().FieldByIndex(field.Index)) {
			return nil
		}
	}
	return f
}

// acts are the services that --mutating is tried against: what is told of void and reminder, how many requests of both are made
// at most, and whether one of them may have been carried out.
var acts = []struct {
	name         string
	is           func(*imitation)
	void, remind probe.Outcome
	most         int
	mayHaveActed bool
}{
	{"as assumed", func(f *imitation) {}, probe.Holds, probe.Holds, 3, false},
	{"PUT alone", func(f *imitation) { f.acts = "put" }, probe.Differs, probe.Differs, 5, false},
	{"PUT alone, Express", func(f *imitation) { f.acts, f.missing = "put", "echo" }, probe.Differs, probe.Differs, 5, false},
	{"not there", func(f *imitation) { f.acts = "absent" }, probe.CannotTell, probe.CannotTell, 6, false},
	{"not there, a path suggested", func(f *imitation) { f.acts, f.missing = "absent", "suggest" }, probe.CannotTell, probe.CannotTell, 6, false},
	{"one 404 for all", func(f *imitation) { f.acts = "koa" }, probe.CannotTell, probe.CannotTell, 6, false},
	{"acts on any record", func(f *imitation) { f.acts = "ignored" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"an unclear 200", func(f *imitation) { f.acts = "unclear" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"500", func(f *imitation) { f.acts = "500" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"ids ignored", func(f *imitation) { f.acts, f.filters = "ignored", "ignored" }, probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored", func(f *imitation) { f.acts, f.key = "ignored", "anyworkspace" }, probe.CannotTell, probe.CannotTell, 0, false},
	{"archived are hidden", func(f *imitation) { f.acts, f.archived = "taken404", "hidden" }, probe.CannotTell, probe.CannotTell, 0, false},
	{"archived are hidden and not marked", func(f *imitation) {
		f.acts, f.archived = "taken404", "hidden"
		documents(func(_ int, d fakeDocument) { delete(d, "isArchived") })(f)
	}, probe.CannotTell, probe.CannotTell, 0, false},
	{"one document", func(f *imitation) { f.acts, f.n = "ignored", 1 }, probe.CannotTell, probe.CannotTell, 0, false},
	{"lists that the SDK cannot read", func(f *imitation) { f.acts, f.envelope = "ignored", "results" }, probe.CannotTell, probe.CannotTell, 0, false},
	{"more documents than a page shows", func(f *imitation) { f.acts, f.n = "taken404", 200 }, probe.CannotTell, probe.CannotTell, 0, false},
	{"documents that come meanwhile", func(f *imitation) { f.moving = true }, probe.CannotTell, probe.CannotTell, 0, false},
	{"acts and answers 409", func(f *imitation) { f.acts = "taken409" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"acts and answers 422", func(f *imitation) { f.acts = "taken422" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"acts and answers 404", func(f *imitation) { f.acts = "taken404" }, probe.CannotTell, probe.CannotTell, 1, true},
	{"changes a name and answers 404", func(f *imitation) {
		f.acts = "renames"
		documents(func(i int, d fakeDocument) { d["documentName"] = fmt.Sprint(d["documentName"], len(f.acted)) })(f)
	}, probe.CannotTell, probe.CannotTell, 1, true},
	{"acts behind a cache and answers 404", func(f *imitation) {
		f.acts = "renames"
		known := map[string]int{}
		edited(func(_ *imitation, q url.Values, body map[string]any) {
			if _, cached := known[q.Encode()]; !cached {
				known[q.Encode()] = len(f.acted)
			}
			if docs := body["documents"].([]any); len(docs) > 0 && known[q.Encode()] > 0 {
				docs[0].(fakeDocument)["status"] = "VOID"
			}
		})(f)
	}, probe.CannotTell, probe.CannotTell, 1, true},
	{"acts at paths beside it", func(f *imitation) { f.acts = "near" }, probe.Holds, probe.CannotTell, 3, true},
	{"reminds any and answers 409", func(f *imitation) { f.acts = "remind409" }, probe.Holds, probe.CannotTell, 3, true},
	{"workspaces ignored, a page 403 once", unguarded("html403"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, a page 404 once", unguarded("html404"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, 400 once", unguarded("400"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, 409 once", unguarded("409"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, pages 403", unguarded("always html403"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, 409", unguarded("always 409"), probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, texts 403", func(f *imitation) {
		unguarded("always 403")(f)
		f.errors = "text"
	}, probe.CannotTell, probe.CannotTell, 0, false},
	{"workspaces ignored, 403 in another layout", func(f *imitation) {
		unguarded("always 403")(f)
		f.others = "7807"
	}, probe.CannotTell, probe.CannotTell, 0, false},
}

// unguarded ignores workspaces, and acts on any record.
func unguarded(guard string) func(*imitation) {
	return func(f *imitation) { f.acts, f.key, f.guard = "taken404", "anyworkspace", guard }
}

// Nothing is asked to act unless ids and workspaces are proven to count, and nothing more after an answer that may be a success.
func TestMutatingStops(t *testing.T) {
	for _, a := range acts {
		t.Run(a.name, func(t *testing.T) {
			f := &imitation{n: 64}
			a.is(f)
			rep, _ := probed(t, f, true)
			outcome := func(id string) probe.Outcome {
				return rep.Results[slices.IndexFunc(rep.Results, func(r probe.Result) bool { return r.ID == id })].Outcome
			}
			require.Equal(t, a.void, outcome("void document"), show(rep))
			require.Equal(t, a.remind, outcome("send reminder"), show(rep))
			require.Equal(t, a.mayHaveActed, rep.MayHaveActed != "", rep.MayHaveActed)
			n := 0
			for _, asked := range f.asked {
				if asked[:4] != "GET " && (strings.Contains(asked, "/void-document") || strings.Contains(asked, "/send-reminder")) {
					n++
				}
			}
			require.LessOrEqual(t, n, a.most, f.asked)
			require.LessOrEqual(t, len(f.acted), 1)
		})
	}
}

// A code that identifies something is described on the terminal too.
func TestCodesThatAreIDs(t *testing.T) {
	rep, err := probed(t, &imitation{n: 64, errors: "id"}, false)
	require.NoError(t, err)
	require.Contains(t, show(rep), "(UUID of 36) and (UUID of 36)")
	require.NotContains(t, show(rep), "9f3c2a71")
}

// A service that compares a part of the id does not ignore it.
func TestFilterByAPartOfTheID(t *testing.T) {
	rep, err := probed(t, &imitation{n: 64, filters: "prefix"}, false)
	require.NoError(t, err)
	require.Contains(t, factsWith(rep, probe.Differs), "id filter")
	require.False(t, rep.Profile.IgnoreIDs)
}

// A literal says where a larger value may be true.
func TestLargestLimitTried(t *testing.T) {
	rep, err := probed(t, &imitation{n: 128, limits: "unbounded"}, false)
	require.NoError(t, err)
	require.Contains(t, probe.ProfileLiteral(rep.Profile, probe.Verbatim), "MaxLimit: 1000, // or more: no larger one was tried\n")
	require.NotContains(t, probe.ProfileLiteral(signformstest.Profile{MaxLimit: 240}, probe.Verbatim), "//")
}

// A list that is oldest first is so in the literal too, where it cannot be told by which field it is sorted.
func TestOldestFirstByAnotherField(t *testing.T) {
	f := &imitation{n: 64, sorts: "oldest"}
	documents(func(_ int, d fakeDocument) { d["updatedAt"] = d["createdAt"].(string)[:19] + ".999Z" })(f)
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Contains(t, factsWith(rep, probe.CannotTell), "default order", show(rep))
	require.True(t, rep.Profile.OldestFirst)
}

// The reference service is asked all that the facts need, however many requests that takes.
func TestTrialIsWhole(t *testing.T) {
	rep, err := probed(t, &imitation{n: 64, dates: "day", limits: "refused"}, false)
	require.NoError(t, err)
	require.Equal(t, signformstest.Profile{MaxLimit: 50, DateFrom: signformstest.EndAtDayStart, DateTo: signformstest.EndAtDayEnd}, rep.Profile)
	require.NoError(t, rep.ProfileTried)
}

// Totals that are right in order and end the list early without it are to be ignored.
func TestTotalsThatEndTheListEarly(t *testing.T) {
	f := &imitation{n: 64}
	pageTotals(f)
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.Equal(t, map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {IgnoreTotals: true}}, rep.Endpoints)
}
