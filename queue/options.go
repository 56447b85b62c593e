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

// defaultRetries are 11 tries within about 24 hours, with the first.
var defaultRetries = []time.Duration{
	5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// Options are the optional settings of [OpenSQLite] and [OpenPostgres]. The zero value gives the
// defaults. All processes that share a store should have the same.
type Options struct {
	// Workers is how many ordering keys [Queue.Run] works on at once. Default 8; negative is refused.
	Workers int

	// Timeout is how long a function may take for one event until its ctx ends. Default 1 minute; negative is refused;
	// over 365 days count as 365. The package documentation says what becomes of a function that does not return then.
	Timeout time.Duration

	// Grace is how long functions may go on after the ctx of [Queue.Run] has ended, until their own
	// ctx ends. Default 20 seconds; negative: their ctx ends at once.
	Grace time.Duration

	// Retries are the waits between the tries of an event whose function fails; each varies by a
	// tenth either way. When the try after the last wait fails, the event has failed. nil gives 5
	// s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 4 h, 8 h and 8 h: 11 tries within about 24 hours. A
	// slice that is empty but not nil, such as []time.Duration{}, gives one try. A wait may be 0;
	// negative is refused.
	Retries []time.Duration

	// MaxPending is how many events may wait. A delivery whose new events would exceed it is answered
	// 503, unless none waits: a queue that is empty takes a delivery of any size. Default 1,000,000;
	// negative: no limit. The bound may be late: events are counted once a second, more rarely if
	// counting takes longer, and while a count fails the last known one is used.
	MaxPending int

	// KeepBodies is how long the JSON of an event is kept after it was processed. Default 0: it is erased in the
	// transaction that stores the outcome. Negative is refused.
	KeepBodies time.Duration

	// KeepFailed is how long a failed event is kept. Default 30 days. After that it is erased, and
	// a line in the log says so. Negative is refused. To keep it for ever, set 100 years: 876000 *
	// time.Hour.
	KeepFailed time.Duration

	// KeepKeys is how long the key of an event is kept after it was processed or erased. Until then, repeats are
	// recognised. Default 7 days. It should be longer than the service repeats a delivery, which it does not document.
	// Negative is refused. To keep keys for ever, set 100 years: 876000 * time.Hour.
	KeepKeys time.Duration

	// Note returns a text that is stored with the events of a delivery, such as the trace context
	// of its request: at most 200 bytes, the rest is cut off. ctx is that of the request, or of
	// [Queue.Store]. [Entry].Note has the text; a repeat does not change it. It is called
	// concurrently. If it panics, that is logged and the text is empty. nil: no text.
	Note func(ctx context.Context) string

	// OnReceived is called for each request to [Queue.Handler] before it is answered, concurrently. It should return
	// quickly. A panic in it is logged and changes nothing else. nil means no call.
	OnReceived func(context.Context, Received)

	// OnSettled is called for each run of a function when its outcome is stored, concurrently. Its
	// ctx is that of the function, ended. When a process dies during a run, the process that finds
	// the event after the lease reports it, as Retrying or FailedPermanently with Duration 0. It
	// should return quickly. A panic in it is logged and changes nothing else. nil means no call.
	OnSettled func(context.Context, Settled)

	// Logger gets a line for each failed try, failed event, 503 and error of the store, and at
	// debug level for each event that was processed. Lines contain ids, types and error texts,
	// never a body. Default [slog.Default] as it is when the queue is opened.
	Logger *slog.Logger

	// Exclusive is for a SQLite file that no other process uses meanwhile: it takes the file's lock, and
	// [OpenSQLite] of another process or of this one returns an error. Then all times follow the clock of
	// this process from the moment of opening, and [Queue.Run] has no timer but for what is due next. In
	// a bubble of testing/synctest, which the queue must be opened in, that is the bubble's clock: days
	// pass at once. It is refused for Postgres, and on systems other than Linux, macOS and Windows.
	Exclusive bool

	poll      time.Duration // how often Run looks for what other processes have received
	clocks    clocks        // tests replace them
	unwatched bool          // tests on virtual time do not wait for other processes
	sync      func()        // is called before each commit on SQLite: tests show what a slow disk does
	unsynced  bool          // tests show that a power cut loses events without a sync
}

// Received is the result of one request to [Queue.Handler].
type Received struct {
	Status     int // the status that it is answered with
	Stored     int // new events
	Duplicates int // events that were received before
	Redriven   int // events that had failed and get another try
	Duration   time.Duration
	Err        error // why a genuine delivery was answered 400 or 503; nil for other refusals, which the Verifier logs
}

// Settled is the result of one run of a function.
type Settled struct {
	Entry    Entry // as it was when the function began, or when an interrupted run was found
	Outcome  Outcome
	Err      error         // the function's error; nil when the event was processed
	Duration time.Duration // how long the function ran
	Retry    time.Time     // when the next try is due; zero unless Outcome is Retrying
}

// Outcome is the outcome of one run of a function. An outcome that [webhook.Outcome] has too has
// the same word. A failed run is Retrying here, because the queue repeats it, and failed there,
// because only another delivery does.
type Outcome string

// The outcomes of a run.
const (
	Processed         Outcome = "processed"          // done, or the event has no function
	Retrying          Outcome = "retrying"           // failed, and tried again at Settled.Retry
	FailedPermanently Outcome = "failed_permanently" // not tried again, and listed until it is retried or erased; or failed after it was erased while it ran
	Released          Outcome = "released"           // interrupted by the end of Run, not counted as a try
	Stale             Outcome = "stale"              // not stored: the lease had ended, the store did not answer, or ErrLost
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
		setDefault(&s.poll, 365*24*time.Hour) // nothing comes from elsewhere
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

// waitLimit returns how long Run waits for a function, so that the outcome can still be stored within the lease.
func (s *settings) waitLimit() time.Duration { return s.Timeout + s.margin/2 }

// RetryAfter wraps an error of a function so that the next try is due after d, whatever [Options.Retries] says. It is
// for a service that says when it will be back. The try counts as any other. An error that is also wrapped in
// [webhook.Permanent] is not tried again. RetryAfter(nil, d) is nil; a negative d counts as 0.
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
