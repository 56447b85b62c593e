package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// refusals reports the deliveries that a handler or middleware refuses. The file refuse.go has the
// reasons.
type refusals struct {
	log     *slog.Logger
	onError func(context.Context, error)

	strangers, genuine lineLimit // separate limits, so that forged requests cannot hide the lines about a wrong clock
}

func (f *refusals) report(ctx context.Context, refused *refusal) {
	if f == nil {
		f = &refusals{log: slog.Default()} // f is nil in a zero Handler
	}
	if f.onError != nil {
		f.onError(ctx, &RefusedError{Status: refused.reply.status, Err: refused.err})
	}
	limit := &f.strangers
	if errors.Is(refused.err, ErrTimestamp) || errors.Is(refused.err, ErrPayload) {
		limit = &f.genuine
	}
	level := slog.LevelWarn
	shown, hidden := limit.take()
	if !shown {
		level = slog.LevelDebug
	}
	if !f.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{slog.Int("status", refused.reply.status), slog.String("error", refused.err.Error())}
	if hidden > 0 {
		attrs = append(attrs, slog.Int("at_debug_before", hidden))
	}
	f.log.LogAttrs(ctx, level, "webhook: request refused", attrs...)
}

// linesPerMinute is how many refusals of one kind are logged at warn level in a minute. Further
// refusals are logged at debug level.
const linesPerMinute = 5

// lineLimit counts log lines by the minute.
type lineLimit struct {
	mu     sync.Mutex
	begun  time.Time // begin of the minute
	lines  int       // lines in this minute
	hidden int       // lines over the limit since the last line within it
}

// take reports whether a line is within the limit. If it is, take also returns how many lines were
// over the limit since the last line within it.
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
