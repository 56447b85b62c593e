package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows the progress of a command on stderr: as a bar on a terminal, and as lines
// elsewhere.
type Progress struct {
	w     io.Writer
	verb  string // verb in the past tense, such as reminded or sent
	total int
	bar   *progressbar.ProgressBar // nil unless stderr is a terminal

	mu       sync.Mutex
	tried    int
	reported time.Time // when the last line was printed
}

// betweenLines is the least time between two lines without a terminal.
const betweenLines = 10 * time.Second

// NewProgress starts showing progress. The caller calls End.
func NewProgress(w io.Writer, verb string, total int) *Progress {
	p := &Progress{w: w, verb: verb, total: total, reported: time.Now()}
	if total > 1 && Moves(w) {
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(verb),
			progressbar.OptionShowCount(), progressbar.OptionSetWidth(24), progressbar.OptionClearOnFinish())
	}
	return p
}

// Tell counts one more item, and calls print to write its outcome without disturbing the bar.
func (p *Progress) Tell(print func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	err := print()
	p.show(p.tried + 1)
	return err
}

// Say prints a line.
func (p *Progress) Say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	fmt.Fprintln(p.w, text)
}

// At sets the number of finished items to n.
func (p *Progress) At(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(min(n, p.total))
}

// show draws the bar. Without a bar it prints a line if enough time has passed or if this is the
// last item.
func (p *Progress) show(tried int) {
	p.tried = tried
	switch due := time.Since(p.reported) >= betweenLines || tried == p.total; {
	case p.bar != nil:
		p.bar.Set(tried)
	case due && p.total > 1:
		p.reported = time.Now()
		fmt.Fprintf(p.w, "%d of %d %s\n", tried, p.total, p.verb)
	}
}

func (p *Progress) hide() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// End removes the bar.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
}

// Interrupts prints a line when ctx ends, because the running call may still take a while. The
// caller calls stop before End.
func (p *Progress) Interrupts(ctx context.Context) (stop func()) {
	said := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(said)
		p.Say("interrupted: ends after what is under way")
	})
	return func() {
		if !cancel() {
			<-said
		}
	}
}
