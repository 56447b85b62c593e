package sqlitestore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/signforms/signforms-go/internal/filelock"
)

// scratch is a folder for a copy that is not complete, or not to stay.
type scratch struct {
	folder string
	mark   *os.File // locked as long as the process uses the folder
}

// What is in a scratch folder. The text of the mark shows that the folder is one.
const (
	scratchPrefix = ".signforms-copy-"
	markName      = "in-use"
	markText      = "A temporary folder of signforms check or backup.\n"
	copyName      = "copy"
)

// newScratch makes a folder in another one. It removes those there whose process was killed.
func newScratch(ctx context.Context, in string) (_ *scratch, err error) {
	sweep(in)
	s := &scratch{}
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	if s.folder, err = os.MkdirTemp(in, scratchPrefix+"*"); err != nil {
		return nil, err
	}
	if s.mark, err = os.OpenFile(filepath.Join(s.folder, markName), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := filelock.Wait(ctx, s.mark); err != nil { // somebody who sweeps may hold it for a moment
		return nil, err
	}
	_, err = s.mark.WriteString(markText)
	return s, err
}

func (s *scratch) copy() string { return filepath.Join(s.folder, copyName) }

// remove removes the folder. What it does not know stays, and so does the folder then.
func (s *scratch) remove() error {
	if s.mark == nil {
		return os.RemoveAll(s.folder)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		os.Remove(s.copy() + suffix)
	}
	return errors.Join(s.mark.Close(), os.Remove(s.mark.Name()), os.Remove(s.folder))
}

// sweep removes what processes that were killed have left in a folder.
func sweep(in string) {
	entries, _ := os.ReadDir(in)
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), scratchPrefix) {
			continue
		}
		left := scratch{folder: filepath.Join(in, entry.Name())}
		var err error
		if left.mark, err = os.OpenFile(filepath.Join(left.folder, markName), os.O_RDWR, 0); err != nil {
			continue
		}
		text, _ := io.ReadAll(io.LimitReader(left.mark, 1<<10))
		if string(text) == markText && filelock.Try(left.mark) == nil {
			left.remove()
			continue
		}
		left.mark.Close()
	}
}
