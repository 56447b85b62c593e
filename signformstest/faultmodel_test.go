package signformstest_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
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
		`^Every request has a chance of (\d+) % to `:                     func(n []int) says { return says{first: 1, last: many, most: many} },
		`^The next request will `:                                        func([]int) says { return says{first: 1, last: 1, certain: true, most: 1} },
		`^The next request has a chance of (\d+) % to `:                  func([]int) says { return says{first: 1, last: 1, most: 1} },
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
	pick := func(from ...int) int { return from[rnd.IntN(len(from))] }
	for range 150 {
		srv := signformstest.NewServer(t, &signformstest.Options{Seed: rnd.Uint64()})
		f := signformstest.Fault{Nth: pick(0, 0, 1, 2, 4), Times: pick(0, 0, 1, 2, 5), Probability: []float64{0, 0.5, 0.2, 1}[rnd.IntN(4)], AfterWork: rnd.IntN(2) == 0}
		switch rnd.IntN(3) {
		case 0:
			f.Status = 503
		case 1:
			f.Cut = 10
		case 2:
			f.Unknown = true
		}
		srv.Fail(f)
		var sentences []string
		var happened []bool
		for i := range 12 {
			before := srv.Faults()[0]
			require.Equal(t, i, before.Matched)
			sentences = append(sentences, before.String())
			happened = append(happened, failed(srv))
			after := srv.Faults()[0]
			require.Equal(t, happened[i], after.Happened == before.Happened+1, "%+v after %v", f, sentences)
			require.Equal(t, happened[i], after.LastAt != before.LastAt || after.Happened > before.Happened)
		}
		for i, sentence := range sentences {
			requireTrue(t, f, sentence, happened[i:])
		}
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

// failed reports whether something was wrong with an answer.
func failed(srv *signformstest.Server) bool {
	req, _ := http.NewRequest(http.MethodGet, srv.URL+"/get-documents", nil)
	req.Header.Set("x-api-key", srv.APIKey)
	resp, err := srv.HTTPClient().Do(req)
	if err != nil {
		return true
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(body), "FromTheFuture")
}

func TestFaultsThatWouldDoNothingAreRefused(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	for _, c := range []struct {
		fault signformstest.Fault
		field string
	}{
		{signformstest.Fault{}, ""},
		{signformstest.Fault{Operation: signforms.OpSend, Times: 2}, ""},
		{signformstest.Fault{AfterWork: true}, ""},
		{signformstest.Fault{Status: 500, Cut: 1}, "Cut"},
		{signformstest.Fault{Body: "1234", Cut: 4}, "Cut"},
		{signformstest.Fault{Body: "1", Drip: 1}, "Drip"},
		{signformstest.Fault{Status: 500, Unknown: true}, "Unknown"},
		{signformstest.Fault{Body: "[1]", Unknown: true}, "Unknown"},
		{signformstest.Fault{Status: 500, AfterWork: true, WrongTypes: true}, "WrongTypes"},
		{signformstest.Fault{Body: "null", WrongTypes: true}, "WrongTypes"},
		{signformstest.Fault{Status: 204, Body: "x"}, "Body"},
		{signformstest.Fault{Status: 304, Body: "x"}, "Body"},
		{signformstest.Fault{Reset: true, Status: 500}, "Reset"},
		{signformstest.Fault{Reset: true, Cut: 1}, "Reset"},
	} {
		_, err := srv.TryFail(c.fault)
		var invalid *signformstest.InvalidError
		require.ErrorAs(t, err, &invalid, "%+v", c.fault)
		require.Equal(t, c.field, invalid.Field, "%+v: %v", c.fault, err)
	}
	_, err := srv.TryFailWebhooks(signformstest.WebhookFault{Times: 2})
	require.ErrorIs(t, err, signformstest.ErrInvalid)
	_, err = srv.TryFailWebhooks(signformstest.WebhookFault{OmitType: true, Type: "new_thing"})
	require.ErrorContains(t, err, "Type")
	require.ErrorIs(t, err, signformstest.ErrInvalid)
	for _, f := range []signformstest.Fault{
		{Latency: 1}, {AfterWork: true, Latency: 1}, {AfterWork: true, Cut: 1}, {Body: "1234", Cut: 3}, {Body: "12", Drip: 1}, {RetryAfter: "1"},
		{Body: "{}", Unknown: true}, {Body: "[1]", WrongTypes: true}, {Status: 204}, {Reset: true, AfterWork: true, Latency: 1},
	} {
		_, err := srv.TryFail(f)
		require.NoError(t, err, "%+v", f)
	}
}

// A fault that an answer leaves no room for has not happened, so that Times counts on.
func TestACutBehindTheEndOfAnAnswerIsNotCounted(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	srv.Fail(signformstest.Fault{Cut: 4000, Times: 1})
	require.False(t, failed(srv))
	f := srv.Faults()[0]
	require.Equal(t, []int{1, 0}, []int{f.Matched, f.Happened})
	require.Zero(t, f.LastAt)
	require.NotContains(t, fmt.Sprint(srv.Requests()), "met a fault")
	for i := range 20 {
		srv.AddDocument(signformstest.Document{Name: strings.Repeat("x", 900), Signers: []signformstest.Signer{{Email: fmt.Sprintf("a%d@example.com", i)}}})
	}
	require.True(t, failed(srv))
	require.False(t, failed(srv))
	require.Equal(t, 1, srv.Faults()[0].Happened)
}
