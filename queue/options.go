package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"
)

// defaultRetries gives 11 tries within about 24 hours, the first one included.
var defaultRetries = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// Options are the optional settings of [OpenSQLite] and [OpenPostgres]. The zero value gives the
// defaults. All processes that share a store should have the same Options.
type Options struct {
	// Workers is how many ordering keys [Queue.Run] works on concurrently. Default 8. A negative
	// number is refused.
	Workers int

	// Timeout is how long a function may take for one event before its ctx ends. Default 1 minute.
	// A negative Timeout is refused, and a Timeout of over 365 days counts as 365 days. The package
	// documentation describes what happens to a function that does not return then.
	Timeout time.Duration

	// Grace is how long functions may continue after the ctx of [Queue.Run] has ended, before their
	// own ctx ends. Default 20 seconds. With a negative Grace, their ctx ends at once.
	Grace time.Duration

	// Retries are the waits between the tries of an event whose function fails. Each wait varies by
	// a tenth in either direction. If the try after the last wait fails, the event has failed. A
	// wait may be 0; a negative wait is refused.
	//
	//   - nil gives 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, 8 h and 8 h: 11 tries within
	//     about 24 hours.
	//   - A slice that is empty but not nil, such as []time.Duration{}, gives one try.
	Retries []time.Duration

	// MaxPending is how many events may be pending. A delivery whose new events would exceed
	// MaxPending gets the response 503. An empty queue accepts a delivery of any size. Default
	// 1,000,000. A negative number means no limit.
	//
	// The limit may take effect late. Events are counted once a second, or more rarely if counting
	// takes longer. While a count fails, the last successful count is used.
	MaxPending int

	// KeepBodies is how long the JSON of an event is kept after the event was processed. By default
	// it is 0, and the JSON is erased in the transaction that stores the outcome. A negative
	// KeepBodies is refused.
	KeepBodies time.Duration

	// KeepFailed is how long a failed event is kept. Default 30 days. After that the event is
	// erased, which the log reports. A negative KeepFailed is refused. To keep failed events
	// forever, set 100 years: 876000 * time.Hour.
	KeepFailed time.Duration

	// KeepKeys is how long the key of an event is kept after the event was processed or erased.
	// A repeat of the event before that time does not run. Default 7 days. KeepKeys should be longer than the time
	// for which the service repeats a delivery, which the service does not document. A negative
	// KeepKeys is refused. To keep keys forever, set 100 years: 876000 * time.Hour.
	KeepKeys time.Duration

	// Note returns a text that is stored in [Entry].Note of each event of a delivery, such as the
	// trace context of the request. The text is cut off after 200 bytes. A repeat does not change
	// it. ctx is the context of the request, or of [Queue.Store]. Note is called concurrently. If
	// Note panics, that is logged and the text is empty. nil means no text.
	Note func(ctx context.Context) string

	// OnReceived is called for each request to [Queue.Handler] before the response is sent. It is
	// called concurrently and should return quickly. A panic in OnReceived is logged and has no
	// other effect. nil means no call.
	OnReceived func(context.Context, Received)

	// OnSettled is called for each run of a function when its outcome is stored. It is called
	// concurrently and should return quickly. Its ctx is the ctx of the function, which has ended.
	// If a process dies during a run, the process that finds the event after the lease reports it,
	// as Retrying or FailedPermanently with Duration 0. A panic in OnSettled is logged and has no
	// other effect. nil means no call.
	OnSettled func(context.Context, Settled)

	// Logger gets a line for each failed try, failed event, 503 and error of the store. At debug
	// level, it gets a line for each processed event. Lines contain ids, types and error texts, but
	// never a body. The default is [slog.Default] at the time when the queue is opened.
	Logger *slog.Logger

	// Exclusive locks a SQLite file, so that no other process uses it at the same time. Another
	// [OpenSQLite] of the file, in another process or in this one, then returns an error. All times
	// follow the clock of this process from the moment of opening, and [Queue.Run] sets a timer
	// only for the next due event.
	//
	// In a bubble of testing/synctest, in which the queue must be opened, the clock is the clock of
	// the bubble, so days pass at once. Exclusive is refused for Postgres, and on systems other
	// than Linux, macOS and Windows.
	Exclusive bool

	poll      time.Duration // how often Run checks for events that other processes have received
	clocks    clocks        // tests replace the clocks
	unwatched bool          // tests on virtual time do not wait for other processes
	sync      func()        // called before each commit on SQLite; with it, tests simulate a slow disk
	unsynced  bool          // for tests, which show that a power cut loses events without a sync
}

// Received is the result of one request to [Queue.Handler].
type Received struct {
	Status     int // HTTP status of the response
	Stored     int // new events
	Duplicates int // events that were received before
	Redriven   int // failed events that get another try
	Duration   time.Duration
	Err        error // why a genuine delivery got a 400 or 503; nil for other refusals, which the Verifier logs
}

// Settled is the result of one run of a function.
type Settled struct {
	Entry    Entry // the entry as it was when the function began, or when an interrupted run was found
	Outcome  Outcome
	Err      error         // the function's error; nil if the event was processed
	Duration time.Duration // how long the function ran
	Retry    time.Time     // when the next try is due; zero unless Outcome is Retrying
}

// Outcome is the outcome of one run of a function. An outcome that exists in [webhook.Outcome] too
// has the same word. A failed run is Retrying in this package, because the queue repeats it. In
// package webhook it is failed, because only another delivery repeats it.
type Outcome string

// The outcomes of a run.
const (
	Processed         Outcome = "processed"          // the function returned nil, or the event has no function
	Retrying          Outcome = "retrying"           // the function failed; the next try is at Settled.Retry
	FailedPermanently Outcome = "failed_permanently" // not tried again, and listed until it is retried or erased; also an event that was erased while it ran and then failed
	Released          Outcome = "released"           // interrupted by the end of Run; not counted as a try
	Stale             Outcome = "stale"              // the outcome was not stored: the lease had ended, the store did not respond, or Complete returned ErrLost
)

// settings are Options with their defaults.
type settings struct {
	Options
	maxTries int
	margin   time.Duration // from Timeout to the end of the lease
}

func newSettings(o *Options) (settings, error) {
	if o == nil {
		o = &Options{}
	}
	s := settings{Options: *o}
	negative := func(name string, d time.Duration) error {
		if d < 0 {
			return fmt.Errorf("queue: Options.%s is negative: leave it 0 for the default", name)
		}
		return nil
	}
	mistakes := []error{
		negative("Timeout", s.Timeout), negative("KeepBodies", s.KeepBodies),
		negative("KeepFailed", s.KeepFailed), negative("KeepKeys", s.KeepKeys), negative("Workers", time.Duration(s.Workers)),
	}
	for _, d := range s.Retries {
		mistakes = append(mistakes, negative("Retries", d))
	}
	if err := errors.Join(mistakes...); err != nil {
		return settings{}, err
	}
	s.fill()
	return s, nil
}

func (s *settings) fill() {
	setDefault(&s.Workers, 8)
	setDefault(&s.Timeout, time.Minute)
	setDefault(&s.Grace, 20*time.Second)
	setDefault(&s.MaxPending, 1_000_000)
	setDefault(&s.KeepFailed, 30*24*time.Hour)
	setDefault(&s.KeepKeys, 7*24*time.Hour)
	if s.Exclusive {
		setDefault(&s.poll, 365*24*time.Hour) // no other process stores events
		s.unwatched = true
	}
	setDefault(&s.poll, defaultPoll)
	if s.Retries == nil {
		s.Retries = defaultRetries
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	s.maxTries = len(s.Retries) + 1
	s.Timeout = min(s.Timeout, 365*24*time.Hour)
	s.margin = min(s.Timeout, time.Minute)
}

func setDefault[T int | time.Duration](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

// lease returns how long an ordering key is claimed for one event.
func (s *settings) lease() time.Duration { return s.Timeout + s.margin }

// waitLimit returns how long Run waits for a function. After waitLimit the outcome can still be
// stored within the lease.
func (s *settings) waitLimit() time.Duration { return s.Timeout + s.margin/2 }

// RetryAfter wraps an error of a function so that the next try is due after d, in place of the wait
// in [Options.Retries]. Use it if a service reports when it will be available again. The try counts
// as any other. An error that is also wrapped in [webhook.Permanent] is not tried again.
// RetryAfter(nil, d) is nil; a negative d counts as 0.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryAfterError{err, max(0, d)}
}

type retryAfterError struct {
	err   error
	after time.Duration
}

func (e *retryAfterError) Error() string { return e.err.Error() }
func (e *retryAfterError) Unwrap() error { return e.err }

// wait returns how long to wait after the given number of failed tries.
func (s *settings) wait(err error, failed int) time.Duration {
	if e, ok := errors.AsType[*retryAfterError](err); ok {
		return e.after
	}
	d := s.Retries[failed-1]
	return d - d/10 + rand.N(d/5+1)
}

// maxErrorText bounds the stored text of an error, in bytes.
const maxErrorText = 500

func errorText(err error) string {
	text := err.Error()
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "") // drops an incomplete character at the end
	}
	return strings.TrimSpace(storable(text))
}
