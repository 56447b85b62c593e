package delivery

import "time"

// Attempts is how often a delivery is tried before it is dead. The schedule is that of this
// reference service, because the interface documents no retries.
const Attempts = len(waits) + 1

// AttemptTimeout limits the time of one attempt, from dialling to the end of the response.
const AttemptTimeout = 10 * time.Second

var waits = [...]time.Duration{
	5 * time.Second,
	time.Minute,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
}

// NextWait returns how long to wait after the given number of attempts, or false if no further
// attempt follows.
func NextWait(attempts int) (time.Duration, bool) {
	if attempts < 1 || attempts >= Attempts {
		return 0, false
	}
	return waits[attempts-1], true
}
