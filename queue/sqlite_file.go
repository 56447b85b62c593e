package queue

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"
)

// errReplaced means that what is written would be lost.
var errReplaced = errors.New("the file was removed or replaced, or other contents were copied into it, since it was opened: open it again")

// identify returns the file and its log as they are on the disk.
func identify(path string) (files [2]os.FileInfo, err error) {
	for i, suffix := range []string{"", "-wal"} {
		if files[i], err = os.Stat(path + suffix); err != nil {
			return files, err
		}
	}
	return files, nil
}

// intact returns an error if the file or its log is not the one that is open, or has other contents. SQLite does not notice that, and
// goes on writing. After the first such error it returns the same, because a later checkpoint may make the header look right.
func (s *sqliteStore) intact() error {
	if s.lost {
		return errReplaced
	}
	now, err := identify(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !(os.SameFile(now[0], s.file[0]) && os.SameFile(now[1], s.file[1])) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	version, err := s.header.version()
	if err != nil || version == s.seen {
		s.lost = errors.Is(err, errReplaced)
		return err
	}
	// A checkpoint may have written a newer version, but none that is newer than what SQLite reads now.
	var newest int32
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA schema_version").Scan(&newest); err != nil {
		return err
	}
	if version-s.seen > uint32(newest)-s.seen {
		s.lost = true
		return errReplaced
	}
	s.seen = version
	return nil
}

// stampEvery is how often a process that writes raises the version. A backup that is older than that has an older version.
const stampEvery = time.Minute

// stamp begins a transaction: it checks the file, and now and then raises the version in its header by a number that another file will
// not have. The version is SQLite's schema_version; when it changes, connections only read the schema again.
func (s *sqliteStore) stamp() error {
	if s.file[0] != nil {
		if err := s.intact(); err != nil {
			return err
		}
	}
	if !s.stamped.IsZero() && time.Since(s.stamped) < stampEvery {
		return nil
	}
	ctx := context.Background()
	var version int32
	if err := s.conn.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return err
	}
	if version < 1<<10 { // of a new file, or one of an older version of this package
		version += rand.Int32N(1 << 30)
	}
	version += 1 + rand.Int32N(1<<12) // it may wrap around after some years
	if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA schema_version = %d", version)); err != nil {
		return err
	}
	s.stamped = time.Now()
	return nil
}

// header reads the header of a file past SQLite, which would answer from its log or its memory.
type header struct {
	file *os.File
	info os.FileInfo
	used int // by how many stores of this process
}

// headers has one header for each file that this process has open. It is closed after SQLite has closed the file, because closing any
// descriptor of a file drops all locks that the process holds on it.
var headers struct {
	mu   sync.Mutex
	open []*header
}

func openHeader(path string) (*header, error) {
	headers.mu.Lock()
	defer headers.mu.Unlock()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	for _, h := range headers.open {
		if os.SameFile(h.info, info) {
			h.used++
			return h, nil
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	h := &header{file, info, 1}
	headers.open = append(headers.open, h)
	return h, nil
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
