package queue

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/signforms/signforms-go/internal/filelock"
)

// errReplaced means that writes to the open file would be lost.
var errReplaced = errors.New("the file was removed or replaced, or other contents were copied into it, since it was opened: open it again")

// header reads the header of a file directly. SQLite would read it from its log or its memory.
type header struct {
	file  *os.File
	info  os.FileInfo
	alone bool
	used  int // number of stores of this process that use the header
}

// headers has one header for each file that this process has open. A header is closed after SQLite
// has closed the file, because closing any descriptor of a file drops all locks that the process
// holds on it.
var headers struct {
	mu   sync.Mutex
	open []*header
}

// The kind of its lock distinguishes [Options.Exclusive] from shared use of the file.
func openHeader(path string, alone bool) (*header, error) {
	headers.mu.Lock()
	defer headers.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, h := range headers.open {
		switch {
		case !os.SameFile(h.info, info):
		case alone || h.alone:
			return nil, inUse(alone)
		default:
			h.used++
			return h, nil
		}
	}
	flag, lock := os.O_RDONLY, filelock.TryShareContent
	if alone {
		flag, lock = os.O_RDWR, filelock.TryContent
	}
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	err = lock(file)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		err = inUse(alone)
	case errors.Is(err, errors.ErrUnsupported) && !alone:
		err = nil
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	h := &header{file, info, alone, 1}
	headers.open = append(headers.open, h)
	return h, nil
}

func inUse(alone bool) error {
	if alone {
		return errors.New("a process has the file open: Options.Exclusive needs it for this process alone")
	}
	return errors.New("a process has the file open with Options.Exclusive: end that process first")
}

func (h *header) close() error {
	if h == nil {
		return nil
	}
	headers.mu.Lock()
	defer headers.mu.Unlock()
	if h.used--; h.used > 0 {
		return nil
	}
	headers.open = slices.DeleteFunc(headers.open, func(other *header) bool { return other == h })
	return h.file.Close()
}

// version returns the schema cookie of the file itself, bytes 40 to 43.
func (h *header) version() (uint32, error) {
	var b [4]byte
	if _, err := h.file.ReadAt(b[:], 40); errors.Is(err, io.EOF) {
		return 0, errReplaced
	} else if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b[:]), nil
}
