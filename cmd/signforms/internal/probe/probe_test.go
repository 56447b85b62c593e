package probe_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/signformstest"
)

// account starts a service with enough records to show every difference that can be seen in lists.
func account(t *testing.T, p signformstest.Profile) *signformstest.Server {
	t.Helper()
	return accountOf(t, 130, p)
}

// small starts a service whose documents one page shows, as Options.Mutating needs it.
func small(t *testing.T, p signformstest.Profile) *signformstest.Server {
	t.Helper()
	return accountOf(t, 60, p)
}

func accountOf(t *testing.T, n int, p signformstest.Profile) *signformstest.Server {
	t.Helper()
	s := signformstest.NewServer(t, &signformstest.Options{Seed: 5, Start: time.Date(2026, 11, 2, 9, 0, 0, 125_000_000, time.UTC), Profile: p})
	ann := signformstest.Signer{Name: "Ann", Email: "ann@example.org"}
	var changed []string // later, so that their updatedAt is another
	for i := range n {
		id := s.AddDocument(signformstest.Document{Name: fmt.Sprint("Lease ", i), Signers: []signformstest.Signer{ann}})
		if i%25 == 1 {
			changed = append(changed, id)
		}
		if i < 5 {
			require.NoError(t, s.Archive(id))
		}
		if i == n-30 {
			require.NoError(t, s.Signer(id, "ann@example.org").Sign())
		}
		if i > 9 && i%25 > 0 { // some documents have the same time
			s.Advance(47 * time.Minute)
		}
	}
	for _, id := range changed {
		require.NoError(t, s.Signer(id, ann.Email).View())
	}
	offer := s.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	receiver := signforms.Receiver{Name: "Ann", Email: "ann@example.org", RoleTitle: "Buyer"}
	for range 2 {
		_, err := s.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{TemplateID: offer, Receivers: []signforms.Receiver{receiver}})
		if p.Endpoints[signforms.OpSend].Path == "" {
			require.NoError(t, err)
		}
	}
	return s
}

// asked runs probe against a service and returns the report, and how often it waited between requests.
func asked(t *testing.T, s *signformstest.Server, mutating bool) (rep *probe.Report, waits int) {
	t.Helper()
	before := len(s.Requests())
	o := probe.Options{
		BaseURL: s.URL, APIKey: s.APIKey, WorkspaceID: s.WorkspaceID, Mutating: mutating, Transport: s.HTTPClient().Transport, Timeout: 10 * time.Second,
		Sleep: func(_ context.Context, d time.Duration) error {
			require.GreaterOrEqual(t, d, probe.Pause-100*time.Millisecond) // Retry-After may ask for a second
			waits++
			return nil
		},
		LimitStore: signforms.NewMemoryLimitStore(nil),
	}
	rep, err := probe.Run(t.Context(), o)
	require.NoError(t, err)
	n := map[string]int{}
	for _, r := range s.Requests()[before:] {
		n[r.Path+" "+ifGet(r.Method)]++
	}
	gets := 0
	for what, times := range n {
		if strings.HasSuffix(what, " GET") {
			gets += times
		}
	}
	require.LessOrEqual(t, gets, probe.MostGets+map[bool]int{true: probe.MostLooks}[mutating])
	require.LessOrEqual(t, n["/void-document changes"], probe.MostVoids)
	require.LessOrEqual(t, n["/send-reminder changes"], probe.MostReminders)
	require.Zero(t, n["/pdf-template-lambda changes"])
	require.GreaterOrEqual(t, waits, len(s.Requests())-before-1, "each request but the first waits")
	return rep, waits
}

func ifGet(method string) string {
	if method == http.MethodGet {
		return method
	}
	return "changes"
}

// factsWith returns the facts with this outcome.
func factsWith(rep *probe.Report, o probe.Outcome) (ids []string) {
	for _, r := range rep.Results {
		if r.Outcome == o {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func show(rep *probe.Report) string {
	var b strings.Builder
	for _, r := range rep.Results {
		fmt.Fprintf(&b, "%-24s %-12s %s\n", r.ID, r.Outcome, r.Seen)
	}
	return b.String()
}

// On a service as the wire format assumes it, no fact differs. Facts that only changes can show cannot be told.
func TestAssumedReading(t *testing.T) {
	rep, _ := asked(t, account(t, signformstest.Profile{}), false)
	require.Empty(t, factsWith(rep, probe.Differs), show(rep))
	var untold []string
	for _, f := range probe.Facts {
		if f.Mutating {
			untold = append(untold, f.ID)
		}
	}
	require.Equal(t, untold, factsWith(rep, probe.CannotTell), show(rep))
	require.Empty(t, probe.ProfileLiteral(rep.Profile, probe.Verbatim))
	require.Empty(t, rep.Endpoints)

	rep, _ = asked(t, small(t, signformstest.Profile{}), true)
	require.Empty(t, factsWith(rep, probe.Differs), show(rep))
	require.Contains(t, factsWith(rep, probe.Holds), "void document")
	require.Contains(t, factsWith(rep, probe.Holds), "send reminder")
}

// reading is a Profile with one field set, and the facts that differ because of it. Without such facts the field cannot be seen.
type reading struct {
	field   string
	profile signformstest.Profile
	differ  []string
	untold  []string // facts that cannot be told because of it, besides those that never can
}

var readings = []reading{
	{field: "PageSize", profile: signformstest.Profile{PageSize: 25}, differ: []string{"page size"}},
	{field: "MaxLimit", profile: signformstest.Profile{MaxLimit: 50}, differ: []string{"largest limit"}},
	{field: "MaxLimit", profile: signformstest.Profile{MaxLimit: 240}, differ: []string{"largest limit"}, untold: []string{"list responses", "unknown form"}}, // the search takes the requests
	{field: "CutLimit", profile: signformstest.Profile{CutLimit: true}, differ: []string{"largest limit"}},
	{field: "CutLimit", profile: signformstest.Profile{CutLimit: true, MaxLimit: 40}, differ: []string{"largest limit"}},
	{field: "OldestFirst", profile: signformstest.Profile{OldestFirst: true}, differ: []string{"default order"}},
	{field: "HideArchived", profile: signformstest.Profile{HideArchived: true}, differ: []string{"archive"}},
	{field: "UnknownStatus", profile: signformstest.Profile{UnknownStatus: signformstest.UnknownStatusIgnored}, differ: []string{"unknown status"}},
	{field: "UnknownStatus", profile: signformstest.Profile{UnknownStatus: signformstest.UnknownStatusEmpty}, differ: []string{"unknown status"}},
	{field: "DateFormat", profile: signformstest.Profile{DateFormat: signformstest.TimeOnly}, differ: []string{"dates alone"}},
	{field: "DateFormat", profile: signformstest.Profile{DateFormat: signformstest.DateOnly}, differ: []string{"times"}, untold: []string{"dateFrom included", "dateTo included"}},
	{field: "DateFrom", profile: signformstest.Profile{DateFrom: signformstest.EndExcluded}, differ: []string{"dateFrom included"}},
	{field: "DateFrom", profile: signformstest.Profile{DateFrom: signformstest.EndAtDayStart}, differ: []string{"dateFrom included"}},
	{field: "DateFrom", profile: signformstest.Profile{DateFrom: signformstest.EndAtDayEnd}, differ: []string{"dateFrom included"}},
	{field: "DateTo", profile: signformstest.Profile{DateTo: signformstest.EndExcluded}, differ: []string{"dateTo included"}},
	{field: "DateTo", profile: signformstest.Profile{DateTo: signformstest.EndAtDayStart}, differ: []string{"dateTo included"}},
	{field: "DateTo", profile: signformstest.Profile{DateTo: signformstest.EndAtDayEnd}, differ: []string{"dateTo included"}},
	{field: "NoPagination", profile: signformstest.Profile{NoPagination: true}, differ: []string{"pagination"}, untold: []string{"totals"}},
	{field: "CountPage", profile: signformstest.Profile{CountPage: true}, differ: []string{"documents count"}},
	{field: "None", profile: signformstest.Profile{None: signformstest.NoneIsMissing}, differ: []string{"empty list"}},
	{field: "None", profile: signformstest.Profile{None: signformstest.NoneIsNull}, differ: []string{"empty list"}},
	{field: "UnknownIDEmpty", profile: signformstest.Profile{UnknownIDEmpty: true}, differ: []string{"unknown template", "unknown form"}},
	{field: "InProgress", profile: signformstest.Profile{InProgress: "IN_PROGRESS"}, differ: []string{"status in progress"}},
	{field: "Aliases", profile: signformstest.Profile{Aliases: true}, differ: []string{"spellings"}},
	{field: "RespondentObject", profile: signformstest.Profile{RespondentObject: true}, differ: []string{"one respondent"}},
	{field: "MessageOnly", profile: signformstest.Profile{MessageOnly: true}},
	{field: "Extra", profile: signformstest.Profile{Extra: map[string]any{"fieldA": 0}}},
	{field: "BarePDF", profile: signformstest.Profile{BarePDF: true}},
	{field: "StrictRoles", profile: signformstest.Profile{StrictRoles: true}},
	{field: "RefusalStatus", profile: signformstest.Profile{RefusalStatus: 422}},
	{field: "KeyStatus", profile: signformstest.Profile{KeyStatus: 401}, differ: []string{"key status"}},
	{field: "ErrorLayout", profile: signformstest.Profile{ErrorLayout: signformstest.LayoutError}, differ: []string{"error layout", "error codes"}},
	{field: "ErrorLayout", profile: signformstest.Profile{ErrorLayout: signformstest.LayoutDataMessage}, differ: []string{"error layout"}},
	{field: "ErrorLayout", profile: signformstest.Profile{ErrorLayout: signformstest.LayoutDataError}, differ: []string{"error layout", "error codes"}},
	{field: "ErrorLayout", profile: signformstest.Profile{ErrorLayout: signformstest.LayoutText}, differ: []string{"error layout", "error codes"}},
	{field: "AnyID", profile: signformstest.Profile{AnyID: true}, differ: []string{"malformed id"}, untold: []string{"error codes"}},
	{field: "FreeRefusedReminders", profile: signformstest.Profile{FreeRefusedReminders: true}},
	{field: "IgnoreIDs", profile: signformstest.Profile{IgnoreIDs: true}, differ: []string{"id filter"}, untold: []string{"malformed id", "error codes"}},
	{field: "Timestamps", profile: signformstest.Profile{Timestamps: signformstest.UnixMilliseconds}},
	{field: "UntypedSamples", profile: signformstest.Profile{UntypedSamples: true}},
}

// Probe finds each reading and reports no other difference. A field of Profile that is not in the table fails the test.
func TestEveryReading(t *testing.T) {
	for field := range reflect.TypeFor[signformstest.Profile]().Fields() {
		if field.Name != "Endpoints" { // see TestEveryEndpoint
			require.True(t, slices.ContainsFunc(readings, func(r reading) bool { return r.field == field.Name }),
				"Profile.%s is new: say in readings what probe makes of it", field.Name)
		}
	}
	usual, _ := asked(t, account(t, signformstest.Profile{}), false)
	for _, r := range readings {
		t.Run(fmt.Sprintf("%s %v", r.field, reflect.ValueOf(r.profile).FieldByName(r.field)), func(t *testing.T) {
			t.Parallel()
			s := account(t, r.profile)
			before := len(s.Requests())
			rep, _ := asked(t, s, false)
			require.Equal(t, sorted(r.differ), sorted(factsWith(rep, probe.Differs)), show(rep))
			require.Equal(t, sorted(append(factsWith(usual, probe.CannotTell), r.untold...)), sorted(factsWith(rep, probe.CannotTell)), show(rep))
			want := r.profile
			if len(r.differ) == 0 {
				want = signformstest.Profile{}
			}
			if r.profile.DateFormat == signformstest.DateOnly {
				want.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {TimeLayout: time.DateOnly}}
			}
			require.Equal(t, want, rep.Profile)
			require.NoError(t, rep.ProfileTried)
			for _, q := range s.Requests()[before:] {
				require.Equal(t, http.MethodGet, q.Method)
			}
		})
	}
}

func sorted(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// GETs change nothing: no record, no message, no delivery.
func TestGETsChangeNothing(t *testing.T) {
	s := account(t, signformstest.Profile{})
	messages := s.Messages()
	documents := everyDocument(t, s)
	asked(t, s, false)
	require.Equal(t, messages, s.Messages())
	require.Equal(t, documents, everyDocument(t, s))
}

func everyDocument(t *testing.T, s *signformstest.Server) (all []signforms.Document) {
	t.Helper()
	for d, err := range s.Client().Documents.All(t.Context(), signforms.DocumentListParams{}) {
		require.NoError(t, err)
		all = append(all, *d)
	}
	return all
}

const both = signforms.InputsQuery | signforms.InputsBody

// Probe finds each method and place of inputs of void and reminder as far as possible, and names them in the literal.
func TestEveryEndpoint(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
		for _, place := range []signforms.Inputs{both, signforms.InputsQuery, signforms.InputsBody} {
			if method == "GET" && place != signforms.InputsQuery {
				continue
			}
			t.Run(fmt.Sprint("void ", method, place), func(t *testing.T) {
				t.Parallel()
				e := signforms.Endpoint{Method: method, Inputs: place}
				s := small(t, signformstest.Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: e}})
				rep, _ := asked(t, s, true)
				want := map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: {Method: method}}
				if method == "POST" || method == "GET" { // a GET is not tried, as it may be carried out
					want = map[signforms.Operation]signforms.Endpoint{}
				}
				require.Equal(t, want, rep.Endpoints, show(rep))
				require.Equal(t, method != "POST", slices.Contains(factsWith(rep, probe.Differs), "void document"), show(rep))
				require.LessOrEqual(t, len(factsWith(rep, probe.Differs)), 1, show(rep))
			})
		}
	}
	for _, e := range []signforms.Endpoint{{Method: "POST", Inputs: both}, {Method: "POST", Inputs: signforms.InputsQuery}, {Method: "POST", Inputs: signforms.InputsBody}, {Method: "PUT"}, {Method: "PATCH"}} {
		t.Run(fmt.Sprint("remind ", e), func(t *testing.T) {
			s := small(t, signformstest.Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: e}})
			rep, _ := asked(t, s, true)
			require.LessOrEqual(t, len(factsWith(rep, probe.Differs)), 1, show(rep))
			switch e.Method {
			case "POST":
				require.Contains(t, factsWith(rep, probe.Holds), "send reminder", show(rep))
				require.Empty(t, rep.Endpoints)
			case "PATCH": // the service names it, and it is the second that may be tried
				fallthrough
			default:
				require.Equal(t, map[signforms.Operation]signforms.Endpoint{signforms.OpSendReminder: {Method: e.Method}}, rep.Endpoints, show(rep))
			}
		})
	}
}

// An operation at another path is not found. Nothing is reported about facts that depend on it.
func TestOperationsElsewhere(t *testing.T) {
	for op, facts := range map[signforms.Operation][]string{
		signforms.OpListDocuments:   {"list documents"},
		signforms.OpListRespondents: {"list respondents"},
		signforms.OpListResponses:   {"list responses"},
		signforms.OpVoidDocument:    nil,
		signforms.OpSendReminder:    nil,
		signforms.OpSend:            nil,
	} {
		for _, e := range []signforms.Endpoint{{Method: "PUT"}, {Path: "/elsewhere"}} {
			for _, mutating := range []bool{false, true} {
				if e.Method != "" && (op == signforms.OpVoidDocument || op == signforms.OpSendReminder) {
					continue // TestEveryEndpoint
				}
				t.Run(fmt.Sprint(op, e, mutating), func(t *testing.T) {
					if e.Method == "" { // the answers to other paths do not prove that it is not there
						facts = nil
					}
					s := small(t, signformstest.Profile{Endpoints: map[signforms.Operation]signforms.Endpoint{op: e}})
					rep, _ := asked(t, s, mutating)
					require.Equal(t, facts, factsWith(rep, probe.Differs), show(rep))
				})
			}
		}
	}
}

// The endpoints that the caller knows of are used.
func TestKnownEndpoints(t *testing.T) {
	endpoints := map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {Path: "/documents"}}
	s := account(t, signformstest.Profile{Endpoints: endpoints})
	rep, err := probe.Run(t.Context(), probe.Options{BaseURL: s.URL, APIKey: s.APIKey, Endpoints: endpoints, Transport: s.HTTPClient().Transport,
		Timeout: time.Second * 10, Sleep: func(context.Context, time.Duration) error { return nil }})
	require.NoError(t, err)
	require.Empty(t, factsWith(rep, probe.Differs), show(rep))
	require.Equal(t, endpoints, rep.Endpoints)
}

// A service that ignores ids and acts on any document loses at most one. If its lists show that it ignores ids, nothing is voided.
func TestServiceThatIgnoresIDs(t *testing.T) {
	s := small(t, signformstest.Profile{IgnoreIDs: true})
	documents, messages := everyDocument(t, s), len(s.Messages())
	rep, _ := asked(t, s, true)
	require.Empty(t, rep.MayHaveActed)
	require.Equal(t, documents, everyDocument(t, s), "its lists give it away, so nothing more is asked")
	require.Len(t, s.Messages(), messages)

	// Its lists filter by id, but void and remind ignore the id.
	before := len(s.Requests())
	lists := small(t, signformstest.Profile{})
	o := probe.Options{BaseURL: "http://service.test", APIKey: "any key at all", WorkspaceID: lists.WorkspaceID, Mutating: true, Timeout: time.Second * 10,
		Sleep: func(context.Context, time.Duration) error { return nil },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			to := lists
			if r.Method != http.MethodGet {
				to = s
			}
			r = r.Clone(r.Context())
			target, err := url.Parse(to.URL)
			require.NoError(t, err)
			r.URL.Host, r.Host = target.Host, target.Host
			if r.Header.Get("X-Api-Key") == "any key at all" {
				r.Header.Set("X-Api-Key", to.APIKey)
			}
			if to == s {
				r.Header.Set("Workspaceid", s.WorkspaceID)
			}
			return to.HTTPClient().Transport.RoundTrip(r)
		})}
	rep, err := probe.Run(t.Context(), o)
	require.NoError(t, err)
	require.NotEmpty(t, rep.MayHaveActed, show(rep))
	require.Len(t, s.Requests()[before:], 1, "the first that is carried out is the last")
	require.Contains(t, factsWith(rep, probe.CannotTell), "void document")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestEmptyAccountClaimsLittle(t *testing.T) {
	s := signformstest.NewServer(t, nil)
	rep, _ := asked(t, s, false)
	require.Empty(t, factsWith(rep, probe.Differs), show(rep))
	for _, id := range []string{"page size", "default order", "sort orders", "archive", "documents count", "dateFrom included", "spellings", "one respondent"} {
		require.Contains(t, factsWith(rep, probe.CannotTell), id)
	}
}

// When one request fails, whichever it is, probe reports no difference because of it.
func TestFailedAnswersClaimNothing(t *testing.T) {
	s := account(t, signformstest.Profile{})
	var known sync.Map // the answers by what was asked: those to GETs are the same in each run
	failing := func(nth int) (rep *probe.Report, asked int) {
		rep, err := probe.Run(t.Context(), probe.Options{BaseURL: s.URL, APIKey: s.APIKey, WorkspaceID: s.WorkspaceID, Timeout: 10 * time.Second,
			Sleep: func(context.Context, time.Duration) error { return nil },
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if asked++; asked == nth {
					return answered(500, `{"message":"internal error","code":"internal"}`), nil
				}
				key := r.Header.Get("X-Api-Key") + " " + r.URL.String()
				if a, seen := known.Load(key); seen {
					return a.(func() *http.Response)(), nil
				}
				resp, err := s.HTTPClient().Transport.RoundTrip(r)
				if err != nil {
					return nil, err
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				again := func() *http.Response { return answered(resp.StatusCode, string(body)) }
				known.Store(key, again)
				return again(), err
			})})
		require.NoError(t, err)
		return rep, asked
	}
	_, gets := failing(0)
	require.Greater(t, gets, 30)
	for n := range gets {
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			t.Parallel()
			rep, _ := failing(n + 1)
			require.Empty(t, factsWith(rep, probe.Differs), show(rep))
		})
	}
}

func answered(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// A service that is unavailable for a moment is asked once more, after the time that it names.
func TestUnavailableIsAskedAgain(t *testing.T) {
	s := account(t, signformstest.Profile{})
	s.Fail(signformstest.Fault{Nth: 5, Times: 1, Status: 503, RetryAfter: "30"})
	rep, _ := asked(t, s, false)
	require.Empty(t, factsWith(rep, probe.Differs), show(rep))
	require.Contains(t, factsWith(rep, probe.Holds), "sort orders")
}

// When the service stops answering, probe reports what it has found so far.
func TestPartialReport(t *testing.T) {
	s := account(t, signformstest.Profile{})
	n := 0
	o := probe.Options{BaseURL: s.URL, APIKey: s.APIKey, Timeout: 10 * time.Second, Sleep: func(context.Context, time.Duration) error { return nil },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if n++; n > 12 {
				return nil, fmt.Errorf("connection refused")
			}
			return s.HTTPClient().Transport.RoundTrip(r)
		})}
	rep, err := probe.Run(t.Context(), o)
	require.EqualError(t, err, "the service does not answer: connection refused")
	require.Contains(t, factsWith(rep, probe.Holds), "page size")
	require.Contains(t, factsWith(rep, probe.CannotTell), "dateFrom included")
	require.Len(t, rep.Results, len(probe.Facts))
}

func TestNothingToAsk(t *testing.T) {
	s := signformstest.NewServer(t, nil)
	o := probe.Options{BaseURL: s.URL, APIKey: "a wrong key", Transport: s.HTTPClient().Transport, Timeout: time.Second,
		Sleep: func(context.Context, time.Duration) error { return nil }}
	_, err := probe.Run(t.Context(), o)
	require.EqualError(t, err, "the service refuses the API key or the workspace (403)")
	o.BaseURL = "http://127.0.0.1:1"
	_, err = probe.Run(t.Context(), o)
	require.ErrorContains(t, err, "the service does not answer")
}
