package refserver_test

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// try is an attempt, with what a fault may have done to it.
type try struct {
	refserver.Attempt
	event   []byte        // of the delivery, as it should be
	secret  string        // of the webhook
	late    time.Duration // after it was due
	due     time.Time
	twice   bool
	retried bool // after another of the delivery that was late
}

// effects are the words for what happens to an attempt, each with what shows it.
var effects = map[string]func(a try, words string) bool{
	`be made (\S+) later`: func(a try, words string) bool { return lasts(words, a.late) },
	`get lost`:            func(a try, _ string) bool { return a.lost() },
	`be made twice`:       func(a try, _ string) bool { return a.twice },
	`be signed with the secret of this fault`: func(a try, _ string) bool { return !a.sent().genuine(a.secret) },
	`have a timestamp (\S+) in the past`:      func(a try, words string) bool { return lasts(words, -a.shifted()) },
	`have a timestamp (\S+) in the future`:    func(a try, words string) bool { return lasts(words, a.shifted()) },
	`lack the header (\S+)`:                   func(a try, words string) bool { return a.Header.Get(words) == "" },
	`lack webhookEvent`:                       func(a try, _ string) bool { return !strings.Contains(string(a.Body), `webhookEvent`) },
	`have the webhookEvent "(.*)"`:            func(a try, words string) bool { return strings.Contains(string(a.Body), `"`+words+`"`) },
	`have a field of (\d+) bytes? more in each event`: func(a try, words string) bool {
		n, err := strconv.Atoi(words)
		return err == nil && strings.Contains(string(a.Body), `"`+strings.Repeat("x", n)+`"`)
	},
	`be indented & escaped after it was signed`: func(a try, _ string) bool {
		return json.Valid(a.Body) && strings.Contains(string(a.Body), "\n") && !a.sent().genuine(a.secret)
	},
}

func (a try) sent() received { return received{a.Header, a.Body} }

func (a try) lost() bool { return strings.HasPrefix(a.Error, "lost") }

// shifted returns how far the timestamp is from the clock.
func (a try) shifted() time.Duration {
	stamp, err := time.Parse(time.RFC3339, a.Header.Get("X-Timestamp"))
	if err != nil {
		return -1
	}
	return stamp.Sub(a.At)
}

func lasts(words string, d time.Duration) bool {
	said, err := time.ParseDuration(words)
	return err == nil && said == d
}

// usual reports whether nothing is wrong with an attempt.
func (a try) usual() bool {
	return a.late == 0 && a.Error == "" && !a.twice && a.sent().genuine(a.secret) && a.shifted() == 0 && string(a.Body) == string(a.event) &&
		a.Header.Get("Content-Type") != "" && a.Header.Get("User-Agent") == "signforms-refserver"
}

// waits are those between the attempts of a delivery.
var waits = []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour}

// tries returns all attempts in the order in which they were due. What was sent is what the receiver got.
func tries(t *testing.T, srv *refserver.Server, r *receiver) (all []try) {
	t.Helper()
	arrived := 0
	for _, d := range srv.Deliveries() {
		due, made, delayed := d.CreatedAt, 0, false
		for _, a := range d.Attempts {
			if a.Error == "" {
				got := r.all()[arrived]
				arrived++
				require.Equal(t, string(a.Body), string(got.body))
				for _, name := range []string{"X-Timestamp", "X-Signature", "Content-Type", "User-Agent"} {
					require.Equal(t, a.Header.Get(name), got.header.Get(name), name)
				}
			}
			if a.Duplicate {
				all[len(all)-1].twice = true
				continue
			}
			next := try{Attempt: a, event: d.Body, secret: srv.WebhookSecret, late: a.At.Sub(due), due: due, retried: delayed}
			all = append(all, next)
			delayed = delayed || next.late != 0
			if made++; made <= len(waits) {
				due = a.At.Add(waits[made-1])
			}
		}
	}
	require.Len(t, r.all(), arrived)
	return all
}

// As TestSentencesAndCountsOfFaultsAreTrue, for the attempts of deliveries: which ones it happens to, and what.
func TestSentencesAndCountsOfWebhookFaultsAreTrue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(26, 2))
	pick := func(from ...int) int { return from[rnd.IntN(len(from))] }
	seen, refused := map[string]bool{}, map[string]bool{}
	for range 400 {
		network := refserver.NewNetwork() // of its own: requests that were meant for another port would count here
		t.Cleanup(network.Close)
		r := &receiver{}
		for range 40 {
			r.statuses = append(r.statuses, pick(200, 200, 500))
		}
		srv, hook, submit := newPair(t, &refserver.Options{
			Start: start, VirtualTimestamps: true, Seed: rnd.Uint64(), Profile: refserver.Profile{Timestamps: refserver.RFC3339}, Network: network,
		}, network.Serve("app.test", r))
		f := randomWebhookFault(rnd, hook)
		f.Nth, f.Times, f.Probability = pick(0, 0, 1, 2, 4), pick(0, 0, 1, 2, 5), []float64{0, 0.5, 0.2, 0.999999, 1}[rnd.IntN(5)]
		if _, err := srv.TryFailWebhooks(f); impossible(f) {
			var invalid *refserver.InvalidError
			require.ErrorAs(t, err, &invalid, "%+v", f)
			refused[invalid.Field] = true
			continue
		} else {
			require.NoError(t, err, "%+v", f)
		}
		matching, from, sentences := []try(nil), []int(nil), []string(nil)
		for range 6 {
			from, sentences = append(from, len(matching)), append(sentences, srv.Faults()[0].String())
			submit()
			srv.Advance(48 * time.Hour)
			matching = nil
			happened, last := 0, time.Time{}
			for _, a := range tries(t, srv, r) {
				switch usual := a.usual(); {
				case f.Delay > 0 && a.retried:
					require.True(t, usual, "%+v: a delivery is delayed once", f)
					continue
				case !usual:
					happened++
					last = a.due
				}
				matching = append(matching, a)
			}
			now := srv.Faults()[0]
			require.Equal(t, []int{len(matching), happened}, []int{now.Matched, now.Happened}, "%+v after %v", f, sentences)
			require.Equal(t, last, now.LastAt, "%+v", f)
		}
		for i, sentence := range sentences {
			require.Equal(t, f.Delay > 0, strings.Contains(sentence, "not yet delayed"), sentence)
			var happened []bool
			for _, a := range matching[from[i]:] {
				if happened = append(happened, !a.usual()); !a.usual() {
					requireEffects(t, a, sentence, seen)
				}
			}
			sentence = strings.NewReplacer(" of new_form_response", "", " to webhook "+hook, "").Replace(sentence)
			requireTrue(t, f, requests.Replace(sentence), happened)
		}
	}
	require.Len(t, seen, len(effects), "each effect was seen")
	for _, field := range []string{"Drop", "Secret", "Shift", "OmitHeader", "EventType"} {
		require.True(t, refused[field], "no fault was refused for its %s", field)
	}
}

// requests makes a sentence about attempts one about requests.
var requests = strings.NewReplacer("attempts of deliveries not yet delayed", "requests", "attempt of a delivery not yet delayed", "request",
	"delivery attempts", "requests", "delivery attempt", "request")

// requireEffects holds all that a sentence says will happen to an attempt against it, and notes it in seen.
func requireEffects(t *testing.T, a try, sentence string, seen map[string]bool) {
	t.Helper()
	_, what, found := strings.Cut(sentence, " will ")
	if !found {
		_, what, found = strings.Cut(sentence, " % to ")
	}
	require.True(t, found, sentence)
	require.True(t, !a.lost() || strings.HasSuffix(what, "get lost."), "nobody sees more than that it is lost: %s", sentence)
	what = strings.NewReplacer("indented and escaped", "indented & escaped", " and ", ", ").Replace(strings.TrimSuffix(what, "."))
	for one := range strings.SplitSeq(what, ", ") {
		known := false
		for pattern, shows := range effects {
			words := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(one)
			if words == nil {
				continue
			}
			known, seen[pattern] = true, true
			require.True(t, shows(a, words[len(words)-1]), "%s: %q: %+v", sentence, one, a)
		}
		require.True(t, known, "words of no known effect: %q", one)
	}
}

// randomWebhookFault returns a fault with one effect or several, of which some cannot happen.
func randomWebhookFault(rnd *rand.Rand, hook string) (f refserver.WebhookFault) {
	for f == (refserver.WebhookFault{}) {
		for _, set := range []func(){
			func() { f.Drop = true }, func() { f.Delay = 90 * time.Minute }, func() { f.Duplicate = true }, func() { f.Secret = "another" },
			func() { f.Shift = -time.Hour }, func() { f.Shift = 5 * time.Second }, func() { f.OmitType = true }, func() { f.Type, f.OmitType = "new_thing", false },
			func() { f.Pad = 1 + rnd.IntN(30) }, func() { f.Reencode = true },
			func() {
				f.OmitHeader = []string{"x-signature", "X-Signature", "Content-Type", "user-agent", "X-TIMESTAMP", "x-timestamp", "Host", "a:\n"}[rnd.IntN(8)]
			},
		} {
			if rnd.IntN(6) == 0 {
				set()
			}
		}
	}
	if rnd.IntN(5) == 0 {
		f.WebhookID, f.EventType = hook, []string{"new_form_response", "new_signature_pdf_completed"}[rnd.IntN(2)]
	}
	return f
}

// impossible reports whether a part of a random fault cannot happen to a form response, or cannot be seen by its receiver.
func impossible(f refserver.WebhookFault) bool {
	lost := f
	lost.Drop, lost.Delay, lost.WebhookID, lost.EventType, lost.Nth, lost.Times, lost.Probability = false, 0, "", "", 0, 0, 0
	header := strings.ToLower(f.OmitHeader)
	return f.Drop && lost != (refserver.WebhookFault{}) || f.EventType == "new_signature_pdf_completed" ||
		header != "" && !slices.Contains([]string{"content-type", "user-agent", "x-signature", "x-timestamp"}, header) ||
		header == "x-signature" && f.Secret != "" || header == "x-timestamp" && f.Shift != 0
}
