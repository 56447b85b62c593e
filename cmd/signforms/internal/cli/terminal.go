package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Stdout is standard output. It keeps the first error of a write, for commands whose printing returns none.
type Stdout struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

// NewStdout returns a Stdout that writes to w. It is safe for concurrent use.
func NewStdout(w io.Writer) *Stdout { return &Stdout{w: w} }

func (s *Stdout) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.w.Write(p)
	if err != nil {
		err = fmt.Errorf("standard output: %w", PathCause(err))
		s.err = cmp.Or(s.err, err)
	}
	return n, err
}

// Err returns the first error of a write.
func (s *Stdout) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// terminal returns the file of a reader or writer, and whether it is a terminal.
func terminal(stream any) (*os.File, bool) {
	if s, wrapped := stream.(*Stdout); wrapped {
		stream = s.w
	}
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

func isTerminal(stream any) bool {
	_, is := terminal(stream)
	return is
}

// Moves reports whether w is a terminal on which the cursor may be moved. It reports false with
// TERM=dumb, and with NO_COLOR, whose users want no escape sequences.
func Moves(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("TERM") != "dumb" && os.Getenv("NO_COLOR") == ""
}

// Confirm asks on a terminal whether to continue. It returns an error if there is no terminal or
// the user does not type yes.
func Confirm(cmd *cobra.Command, question string) error {
	answer, err := Ask(cmd, question+" Go on? [y/N] ", "--yes; "+question)
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

// Ask asks the user for a line on a terminal. Without a terminal it returns an error that names the
// flag to use instead.
func Ask(cmd *cobra.Command, question, flag string) (string, error) {
	_, shown := terminal(cmd.ErrOrStderr())
	if _, typed := terminal(cmd.InOrStdin()); !shown || !typed {
		return "", UsageError("there is no terminal to ask on: set %s", flag)
	}
	fmt.Fprint(cmd.ErrOrStderr(), question)
	return readAnswer(cmd.Context(), cmd.InOrStdin())
}

// readAnswer reads a line from a terminal. If ctx ends first, readAnswer returns, but the read
// stays blocked until the program ends, because a read from a terminal cannot be interrupted.
func readAnswer(ctx context.Context, r io.Reader) (string, error) {
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(r, 4<<10)).ReadString('\n')
		read <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case a := <-read:
		return a.text, a.err
	}
}
