package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// refusals reports the deliveries that a handler or middleware refuses.
type refusals struct {
	verifier *Verifier
	log      *slog.Logger
	onError  func(context.Context, error)
	diagnose bool

	strangers, genuine lineLimit // separate, so that forged requests cannot hide the lines about a wrong clock
	mu                 sync.Mutex
	diagnosed          time.Time // when the last diagnosis ended
}

// tell reports a refusal. body is nil when it was not read.
func (f *refusals) tell(ctx context.Context, refused *refusal, header http.Header, body []byte) {
	if f == nil {
		f = &refusals{log: slog.Default()} // of a zero Handler
	}
	diagnosis := ""
	if f.diagnose && refused.answer.status == http.StatusUnauthorized {
		diagnosis = f.diagnosis(header, body)
	}
	if f.onError != nil {
		f.onError(ctx, &RefusedError{Status: refused.answer.status, Err: refused.err, Diagnosis: diagnosis})
	}
	limit := &f.strangers
	if errors.Is(refused.err, ErrTimestamp) || errors.Is(refused.err, ErrPayload) {
		limit = &f.genuine
	}
	level := slog.LevelWarn
	shown, hidden := limit.take()
	if !shown && diagnosis == "" {
		level = slog.LevelDebug
	}
	if !f.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.Int("status", refused.answer.status), slog.String("error", refused.err.Error())}
	if diagnosis != "" {
		attrs = append(attrs, slog.String("diagnosis", diagnosis))
	}
	if hidden > 0 {
		attrs = append(attrs, slog.Int("at_debug_before", hidden))
	}
	f.log.LogAttrs(ctx, level, "webhook: request refused", attrs...)
}

// Bounds of the work that unauthenticated requests can cause.
const (
	diagnosisPause   = time.Second
	maxDiagnosedBody = 64 << 10 // a diagnosis hashes the body a few hundred times
)

// diagnosis returns the text of Diagnose, or an empty one when another delivery was diagnosed within the last second.
func (f *refusals) diagnosis(header http.Header, body []byte) string {
	if !f.mu.TryLock() {
		return ""
	}
	defer f.mu.Unlock()
	if since := time.Since(f.diagnosed); since >= 0 && since < diagnosisPause {
		return ""
	}
	defer func() { f.diagnosed = time.Now() }()
	if len(body) > maxDiagnosedBody {
		return "The body is too large for a diagnosis of every delivery: call Diagnose with it."
	}
	return diagnose(f.verifier.secretTexts(), header, body, body != nil)
}

// linesPerMinute is how many refusals of a kind are logged at warn level in a minute. Further ones are at debug level.
const linesPerMinute = 5

// lineLimit counts log lines by the minute.
type lineLimit struct {
	mu     sync.Mutex
	begun  time.Time // of the minute
	lines  int       // in this minute
	hidden int       // lines over the limit since the last one within it
}

// take reports whether a line is within the limit and, if so, how many were over it since the last such line.
func (l *lineLimit) take() (shown bool, hidden int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if since := now.Sub(l.begun); since < 0 || since >= time.Minute {
		l.begun, l.lines = now, 0
	}
	if l.lines++; l.lines > linesPerMinute {
		l.hidden++
		return false, 0
	}
	hidden, l.hidden = l.hidden, 0
	return true, hidden
}
