package refserver_test

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// says is what a fault's sentence promises about the requests from now on.
type says struct {
	first, last int  // it happens to none before and none after these; from 1
	certain     bool // it happens to all from first to last
	most        int  // it happens this often at most
}

const many = 1 << 30

// read reads a sentence as a person would.
func read(t *testing.T, sentence string) says {
	t.Helper()
	for pattern, meaning := range map[string]func(n []int) says{
		`^Nothing any more\.`:                                            func([]int) says { return says{first: many, last: many, certain: true} },
		`^Every request will `:                                           func([]int) says { return says{first: 1, last: many, certain: true, most: many} },
		`^Every request has a chance of [\d.]+ % to `:                    func(n []int) says { return says{first: 1, last: many, most: many} },
		`^The next request will `:                                        func([]int) says { return says{first: 1, last: 1, certain: true, most: 1} },
		`^The next request has a chance of [\d.]+ % to `:                 func([]int) says { return says{first: 1, last: 1, most: 1} },
		`^The next (\d+) requests will `:                                 func(n []int) says { return says{first: 1, last: n[0], certain: true, most: n[0]} },
		`^Of the requests from now on, number (\d+) will `:               func(n []int) says { return says{first: n[0], last: n[0], certain: true, most: 1} },
		`^Of the requests from now on, number (\d+) has a chance of \d+`: func(n []int) says { return says{first: n[0], last: n[0], most: 1} },
		`^Of the requests from now on, number (\d+) and the (\d+) after it will `: func(n []int) says {
			return says{first: n[0], last: n[0] + n[1], certain: true, most: 1 + n[1]}
		},
		`^Once( more)? at most, every request has a chance of \d+`:                       func([]int) says { return says{first: 1, last: many, most: 1} },
		`^(\d+)( more)? times at most, every request has a chance of \d+`:                func(n []int) says { return says{first: 1, last: many, most: n[0]} },
		`^Once at most, each of the requests from number (\d+) on has a chance of \d+`:   func(n []int) says { return says{first: n[0], last: many, most: 1} },
		`^(\d+) times at most, each of the requests from number (\d+) on has a chance o`: func(n []int) says { return says{first: n[1], last: many, most: n[0]} },
	} {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(sentence); found != nil {
			var numbers []int
			for _, text := range found[1:] {
				if n, err := strconv.Atoi(text); err == nil {
					numbers = append(numbers, n)
				}
			}
			return meaning(numbers)
		}
	}
	require.Fail(t, "a sentence of no known form", sentence)
	return says{}
}

// Whatever the sentence says at any time is what happens from then on, and each happening is counted.
func TestSentencesAndCountsOfFaultsAreTrue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(26, 1))
	refused := map[string]bool{}
	for range 400 {
		srv := refserver.NewServer(t, &refserver.Options{Seed: rnd.Uint64()})
		f := randomFault(rnd)
		if _, err := srv.TryFail(f); neverHappens(f) {
			var invalid *refserver.InvalidError
			require.ErrorAs(t, err, &invalid, "%+v", f)
			refused[invalid.Field] = true
			continue
		} else {
			require.NoError(t, err, "%+v", f)
		}
		var sentences []string
		var happened []bool
		for i := range 12 {
			before := srv.Faults()[0]
			require.Equal(t, i, before.Matched)
			sentences = append(sentences, before.String())
			got := ask(srv)
			happened = append(happened, !got.usual())
			after := srv.Faults()[0]
			require.Equal(t, happened[i], after.Happened == before.Happened+1, "%+v after %v", f, sentences)
			require.Equal(t, happened[i], after.LastAt != before.LastAt || after.Happened > before.Happened)
			if happened[i] {
				requireAnswer(t, f, got)
			}
		}
		for i, sentence := range sentences {
			requireTrue(t, f, sentence, happened[i:])
		}
	}
	for _, field := range []string{"", "Body", "ContentType", "RetryAfter", "Cut", "Unknown", "WrongTypes", "Reset"} {
		require.True(t, refused[field], "no fault was refused for %q", field)
	}
}

// randomFault returns a fault with any number of effects, of which some cannot happen.
func randomFault(rnd *rand.Rand) refserver.Fault {
	pick := func(from ...int) int { return from[rnd.IntN(len(from))] }
	text := func(from ...string) string { return from[rnd.IntN(len(from))] }
	return refserver.Fault{
		Nth: pick(0, 0, 1, 2, 4), Times: pick(0, 0, 1, 2, 5), Probability: []float64{0, 0.5, 0.2, 0.999999, 1}[rnd.IntN(5)], AfterWork: rnd.IntN(2) == 0,
		Status: pick(0, 0, 200, 204, 304, 503), Body: text("", "", "{}", `{"n":1}`, "null"), ContentType: text("", "", "", "text/plain", " "),
		RetryAfter: text("", "", "", "7", "\u00a0 "), Cut: pick(0, 0, 0, 1, 10), Unknown: rnd.IntN(4) == 0,
		WrongTypes: rnd.IntN(6) == 0, Reset: rnd.IntN(8) == 0,
	}
}

// neverHappens reports whether a part of a random fault cannot happen.
func neverHappens(f refserver.Fault) bool {
	answers, blank := f.Status != 0 || f.Body != "", func(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
	size, object := len(f.Body), strings.HasPrefix(f.Body, "{")
	switch {
	case f.Unknown:
		size = 100 // a field more
	case f.WrongTypes:
		size = len(`{"n":"a string"}`)
	}
	changed := answers || f.ContentType != "" || f.RetryAfter != "" || f.Cut > 0 || f.Unknown || f.WrongTypes
	return f.Reset == changed ||
		blank(f.ContentType) || blank(f.RetryAfter) || f.ContentType != "" && f.Status == 304 || f.Body != "" && (f.Status == 204 || f.Status == 304) ||
		answers && (f.Cut > 0 && f.Cut >= size || f.Unknown && !object || f.WrongTypes && f.Body != `{"n":1}`)
}

// requireAnswer holds the answer to a request that a fault happened to against each part of the fault.
func requireAnswer(t *testing.T, f refserver.Fault, got reply) {
	t.Helper()
	require.Equal(t, f.Cut > 0 || f.Reset, got.err != nil, "%+v: %v", f, got.err)
	if f.Reset {
		require.Zero(t, got.status)
		return
	}
	require.Equal(t, cmp.Or(f.Status, http.StatusOK), got.status, "%+v", f)
	require.Equal(t, f.RetryAfter, got.header.Get("Retry-After"), "%+v", f)
	if f.Status != http.StatusNotModified {
		require.Equal(t, cmp.Or(f.ContentType, "application/json"), got.header.Get("Content-Type"), "%+v", f)
	}
	switch {
	case f.Cut > 0:
		require.Len(t, got.body, f.Cut, "%+v", f)
	case f.Unknown:
		require.Contains(t, got.body, "FromTheFuture", "%+v", f)
	case f.WrongTypes:
		require.Contains(t, got.body, `"a string"`, "%+v", f)
	case f.Status != 0 || f.Body != "":
		require.Equal(t, f.Body, got.body, "%+v", f)
	}
}

// requireTrue holds a sentence against which of the requests after it were met by the fault.
func requireTrue(t *testing.T, fault any, sentence string, happened []bool) {
	t.Helper()
	said, n := read(t, sentence), 0
	for i, is := range happened {
		if is {
			n++
		}
		within := i+1 >= said.first && i+1 <= said.last
		require.False(t, is && !within, "%+v: %q, and then %v", fault, sentence, happened)
		require.False(t, said.certain && within && !is, "%+v: %q, and then %v", fault, sentence, happened)
	}
	require.LessOrEqual(t, n, said.most, "%+v: %q, and then %v", fault, sentence, happened)
}

// reply is what a client saw of an answer.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

func ask(srv *refserver.Server) reply {
	req, _ := http.NewRequest(http.MethodGet, srv.URL+"/get-documents", nil)
	req.Header.Set("x-api-key", srv.APIKey)
	req.Close = true // net/http repeats a GET that is reset on a used connection
	resp, err := srv.HTTPClient().Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body), err}
}

// usual reports whether nothing was wrong with an answer.
func (r reply) usual() bool {
	return r.err == nil && r.status == http.StatusOK && strings.Contains(r.body, `"documents"`) && !strings.Contains(r.body, "FromTheFuture") && !strings.Contains(r.body, "a string") &&
		r.header.Get("Content-Type") == "application/json" && r.header.Get("Retry-After") == ""
}

// failed reports whether something was wrong with an answer.
func failed(srv *refserver.Server) bool { return !ask(srv).usual() }

func TestFaultsThatWouldDoNothingAreRefused(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	for _, c := range []struct {
		fault refserver.Fault
		field string
	}{
		{refserver.Fault{}, ""},
		{refserver.Fault{Operation: refserver.Send, Times: 2}, ""},
		{refserver.Fault{AfterWork: true}, ""},
		{refserver.Fault{Status: 500, Cut: 1}, "Cut"},
		{refserver.Fault{Body: "1234", Cut: 4}, "Cut"},
		{refserver.Fault{Body: "1", Drip: 1}, "Drip"},
		{refserver.Fault{Status: 500, Unknown: true}, "Unknown"},
		{refserver.Fault{Body: "[1]", Unknown: true}, "Unknown"},
		{refserver.Fault{Status: 500, AfterWork: true, WrongTypes: true}, "WrongTypes"},
		{refserver.Fault{Body: "null", WrongTypes: true}, "WrongTypes"},
		{refserver.Fault{Status: 204, Body: "x"}, "Body"},
		{refserver.Fault{Status: 304, Body: "x"}, "Body"},
		{refserver.Fault{Reset: true, Status: 500}, "Reset"},
		{refserver.Fault{Reset: true, Cut: 1}, "Reset"},
	} {
		_, err := srv.TryFail(c.fault)
		var invalid *refserver.InvalidError
		require.ErrorAs(t, err, &invalid, "%+v", c.fault)
		require.Equal(t, c.field, invalid.Field, "%+v: %v", c.fault, err)
	}
	_, err := srv.TryFailWebhooks(refserver.WebhookFault{Times: 2})
	require.ErrorIs(t, err, refserver.ErrInvalid)
	_, err = srv.TryFailWebhooks(refserver.WebhookFault{OmitType: true, Type: "new_thing"})
	require.ErrorContains(t, err, "Type")
	require.ErrorIs(t, err, refserver.ErrInvalid)
	for _, f := range []refserver.Fault{
		{Latency: 1}, {AfterWork: true, Latency: 1}, {AfterWork: true, Cut: 1}, {Body: "1234", Cut: 3}, {Body: "12", Drip: 1}, {RetryAfter: "1"},
		{Body: "{}", Unknown: true}, {Body: "[1]", WrongTypes: true}, {Status: 204}, {Reset: true, AfterWork: true, Latency: 1},
	} {
		_, err := srv.TryFail(f)
		require.NoError(t, err, "%+v", f)
	}
}

func TestAHeaderThatIsThereAnywayIsNotCounted(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	srv.Fail(refserver.Fault{ContentType: " application/json"})
	require.False(t, failed(srv))
	require.Zero(t, srv.Faults()[0].Happened)
}

// TestFaultsCountUntilOneHappens asks faults in the order in which they were set.
func TestFaultsCountUntilOneHappens(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	srv.Fail(refserver.Fault{Operation: refserver.Send, Status: 500})
	srv.Fail(refserver.Fault{DocumentID: "0123456789abcdef01234567", Status: 500})
	srv.Fail(refserver.Fault{Cut: 4000, Times: 1, Nth: 4})
	srv.Fail(refserver.Fault{Status: 501, Nth: 2})
	srv.Fail(refserver.Fault{Status: 502, Times: 1})
	srv.Fail(refserver.Fault{Status: 503})
	var got []int
	for range 4 {
		got = append(got, ask(srv).status)
	}
	require.Equal(t, []int{502, 501, 503, 200}, got, "the fourth met the Cut, which it was too short for")
	var counts []int
	for _, f := range srv.Faults() {
		counts = append(counts, f.Matched, f.Happened)
	}
	require.Equal(t, []int{0, 0, 0, 0, 4, 0, 3, 1, 2, 1, 1, 1}, counts, "matched and happened, of each")

	r := newReceiver(t)
	r.statuses = []int{500, 500, 500}
	srv, _, submit := newPair(t, nil, r.URL)
	srv.FailWebhooks(refserver.WebhookFault{EventType: "new_signature_pdf_completed", Drop: true})
	srv.FailWebhooks(refserver.WebhookFault{DocumentID: "0123456789abcdef01234567", Drop: true})
	srv.FailWebhooks(refserver.WebhookFault{Type: "new_form_response"}) // as it is anyway: later faults happen
	srv.FailWebhooks(refserver.WebhookFault{Drop: true, Nth: 2})
	srv.FailWebhooks(refserver.WebhookFault{Duplicate: true})
	submit()
	srv.Advance(10 * time.Minute)
	counts = nil
	for _, f := range srv.Faults() {
		counts = append(counts, f.Matched, f.Happened)
	}
	require.Equal(t, []int{0, 0, 0, 0, 3, 0, 3, 1, 2, 2}, counts)
	require.Len(t, r.all(), 4)
}

// A fault that an answer leaves no room for has not happened, so that Times counts on.
func TestACutBehindTheEndOfAnAnswerIsNotCounted(t *testing.T) {
	srv := refserver.NewServer(t, nil)
	srv.Fail(refserver.Fault{Cut: 4000, Times: 1})
	require.False(t, failed(srv))
	f := srv.Faults()[0]
	require.Equal(t, []int{1, 0}, []int{f.Matched, f.Happened})
	require.Zero(t, f.LastAt)
	require.NotContains(t, fmt.Sprint(srv.Requests()), "met a fault")
	for i := range 20 {
		srv.AddDocument(refserver.Document{Name: strings.Repeat("x", 900), Signers: []refserver.Signer{{Email: fmt.Sprintf("a%d@example.com", i)}}})
	}
	require.True(t, failed(srv))
	require.False(t, failed(srv))
	require.Equal(t, 1, srv.Faults()[0].Happened)
}
