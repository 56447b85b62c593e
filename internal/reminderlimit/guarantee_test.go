package reminderlimit_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/api"
)

// Ten virtual days take about two seconds, and ten times as long with the race detector. .ci/nightly tries 200.
var simDays = flag.Int("budget.days", 2, "for how many virtual days reminders are simulated")

// badNetwork has everything that can go wrong, differently for each seed.
func badNetwork(seed uint64) conditions {
	c := conditions{
		latency: []time.Duration{20 * time.Second, 5 * time.Second, 0, 20 * time.Second}[seed%4],
		pause:   90 * time.Minute, refusals: .05, hangs: .05, answers: .04, cancels: .1, impatience: .5,
		outcomes: map[outcome]float64{lostThere: .05, lostBack: .05, resetThere: .05, resetBack: .05, cutBack: .03, gatewayFirst: .03},
	}
	if seed%8 == 3 {
		c.outcomes[late] = .05
	}
	if seed%5 == 4 {
		c.answers = 0 // no 429 closes the budget, so that more arrives
	}
	return c
}

// checkGuarantee holds a verdict against what is promised whatever happens.
func checkGuarantee(t *testing.T, v verdict) {
	t.Helper()
	require.LessOrEqual(t, v.worst, api.DefaultReminders, "arrivals in a window of 15 minutes: %+v", v)
	require.Zero(t, v.twice, "calls that may have reminded more than once: %+v", v)
	require.Greater(t, v.arrivals, 100, "hardly anything arrived: %+v", v)
	if v.stragglers == 0 {
		require.Zero(t, v.refused, "requests that the service refused: %+v", v)
	}
}

func TestBudget_limitIsNeverExceeded(t *testing.T) {
	lasts := day
	if testing.Short() {
		lasts /= 2
	}
	first := uint64(2) // the next has stragglers
	last := first + uint64(*simDays)
	var total verdict
	t.Run("seeds", func(t *testing.T) {
		for seed := first; seed < last; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				v := simulate(t, seed, badNetwork(seed), readings[seed%3](), lasts)
				checkGuarantee(t, v)
				total.arrivals += v.arrivals
				total.stragglers += v.stragglers
			})
		}
	})
	t.Logf("%d virtual days: %d requests arrived, %d of them stragglers that are excepted", *simDays, total.arrivals, total.stragglers)
	require.NotZero(t, total.stragglers, "the exception was never met")
}

func TestBudget_limitIsNeverExceededIn30Days(t *testing.T) {
	if *simDays < 30 {
		t.Skip("run by .ci/nightly, with -budget.days 200")
	}
	v := simulate(t, 1_000, badNetwork(1), readings[0](), 30*day)
	t.Logf("%+v", v)
	checkGuarantee(t, v)
}

func TestBudget_steadyDemandGetsTheWholeLimit(t *testing.T) {
	for _, row := range []struct {
		name string
		c    conditions
	}{
		{name: "no latency", c: conditions{}},
		{name: "round trips up to 29.6 s", c: conditions{latency: 7400 * time.Millisecond}},
		{name: "round trips of 29.8 s", c: conditions{latency: 14900 * time.Millisecond, constant: true}},
		{name: "a third of all dials refused", c: conditions{latency: time.Second, refusals: .33}},
		{name: "half the callers do not wait", c: conditions{latency: time.Second, impatience: .5}},
	} {
		row.c.patientOnly = true
		lasts, readings := 8*time.Hour, readings
		switch {
		case testing.Short():
			readings = readings[:1]
		case *simDays >= 30:
			lasts = day
		}
		for i, limit := range readings {
			t.Run(fmt.Sprintf("%s/reading %d", row.name, i), func(t *testing.T) {
				t.Parallel()
				v := simulate(t, uint64(i), row.c, limit(), lasts)
				t.Logf("%+v", v)
				checkGuarantee(t, v)
				require.Zero(t, v.refused)
				require.GreaterOrEqual(t, v.arrivals, possible(lasts)*95/100, "of %d possible", possible(lasts))
			})
		}
	}
}
