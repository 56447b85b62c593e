package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress shows on stderr how far a batch has come: as a bar with the time left on a terminal, as lines elsewhere.
type progress struct {
	w      io.Writer
	verb   string // in the past tense: reminded, sent
	total  int
	began  time.Time
	bar    bool
	ticker *time.Ticker
	done   chan struct{}
	ended  sync.WaitGroup

	mu       sync.Mutex
	tried    int
	paced    bool // items take about as long as each other; the minutes of an advance do not
	failed   int
	next     time.Time // when the next request can be made
	until    time.Time // when the last request can be made, as far as is known
	reported time.Time // when the last line was printed
	drawn    bool
}

// betweenLines is the least time between two lines without a terminal.
const betweenLines = 10 * time.Second

// NewProgress starts showing progress. The caller calls end.
func NewProgress(w io.Writer, verb string, total int) *progress {
	p := &progress{w: w, verb: verb, total: total, bar: total > 1 && Moves(w), done: make(chan struct{}), began: time.Now(), reported: time.Now()}
	if p.bar {
		p.ticker = time.NewTicker(time.Second)
		p.ended.Go(func() {
			for {
				select {
				case <-p.done:
					return
				case <-p.ticker.C:
					p.mu.Lock()
					p.draw()
					p.mu.Unlock()
				}
			}
		})
	}
	return p
}

// Waits notes how long the next request must wait, and how long the last one.
func (p *progress) Waits(next, last time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.next, p.until = now.Add(next), now.Add(last)
	switch {
	case p.bar:
		p.draw()
	case next >= betweenLines:
		fmt.Fprintf(p.w, "waiting %s: at most 5 reminders are accepted in 15 minutes\n", Rounded(next))
	}
}

// Tell notes that one more item was tried, and calls print to write its outcome without disturbing the bar.
func (p *progress) Tell(failed bool, print func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tried++
	p.paced = true
	if failed {
		p.failed++
	}
	p.hide()
	err := print()
	p.show(p.tried == p.total)
	return err
}

// At notes that n in all are done.
func (p *progress) At(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tried = min(n, p.total)
	p.show(false)
}

// show draws the bar, or prints a line when one is due or it is the last.
func (p *progress) show(last bool) {
	if p.bar {
		p.draw()
	} else if p.total > 1 && (last || time.Since(p.reported) >= betweenLines) {
		p.reported = time.Now()
		fmt.Fprintln(p.w, p.state())
	}
}

// End removes the bar.
func (p *progress) End() {
	close(p.done)
	p.ended.Wait()
	if p.ticker != nil {
		p.ticker.Stop()
	}
	p.hide()
}

// Interrupts prints a line when ctx ends, because a call under way may still take a while. The caller calls stop before end.
func (p *progress) Interrupts(ctx context.Context) (stop func()) {
	said := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		defer close(said)
		p.hide()
		fmt.Fprintln(p.w, "interrupted: ends after what is under way")
	})
	return func() {
		if !cancel() {
			<-said
		}
	}
}

func (p *progress) hide() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// The widest bar, and the narrowest that is drawn.
const (
	maxBar = 24
	minBar = 4
)

func (p *progress) draw() {
	fmt.Fprint(p.w, "\r"+p.line(TerminalWidth(p.w)-1)+"\x1b[K")
	p.drawn = true
}

// line returns the bar and its text. In a narrow terminal the bar is smaller, or left out, before the text is cut.
// A width of 0 or less is unknown.
func (p *progress) line(width int) string {
	text := p.state()
	if next := time.Until(p.next); next >= time.Second {
		text += ", next in " + Rounded(next).String()
	}
	bar := maxBar
	if width > 0 {
		bar = min(bar, width-len(text)-len("[] "))
		text = text[:min(len(text), width)]
	}
	if bar < minBar {
		return text
	}
	full := bar * p.tried / max(p.total, 1)
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", bar-full) + "] " + text
}

// state returns the line of progress, in ASCII.
func (p *progress) state() string {
	text := fmt.Sprintf("%d of %d %s", p.tried-p.failed, p.total, p.verb)
	if p.failed > 0 {
		text += fmt.Sprintf(", %d not", p.failed)
	}
	if left := p.left(); left >= time.Second && p.tried < p.total {
		text += ", " + Rounded(left).String() + " left"
	}
	return text
}

// left returns the time that is left: the wait for the limit or, without one, an estimate from the pace so far.
func (p *progress) left() time.Duration {
	limit := time.Until(p.until)
	if limit > 0 || !p.paced {
		return limit
	}
	return time.Since(p.began) / time.Duration(p.tried) * time.Duration(p.total-p.tried)
}

// Rounded returns d in whole seconds, rounded up.
func Rounded(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
