package filestore

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// LimitStore is a [signforms.LimitStore] in a file. It is safe for concurrent use, also by several
// processes.
type LimitStore struct {
	path  string
	clock clock
	mu    sync.Mutex // callers in one process wait here, so that they do not poll the file's lock
}

// clock returns the name of a session, and the time since the beginning of the session. Times of
// different sessions cannot be compared.
type clock func() (session string, since time.Duration, err error)

var _ signforms.LimitStore = (*LimitStore)(nil)

// NewLimitStore returns the store in the file at path. The first use of the store makes the folder,
// and a lock file next to path. The file itself is made when a slot is first held. All processes
// must use the same path: a hard link would be a separate file, and a symbolic link would have a
// separate lock.
func NewLimitStore(path string) *LimitStore {
	return &LimitStore{path: path, clock: machineClock}
}

// state is the content of the file. Its times count from the beginning of Session.
type state struct {
	Version int             `json:"version"`
	Session string          `json:"session"`
	Saved   time.Duration   `json:"saved"`
	Keys    map[string]held `json:"keys"`
}

type held struct {
	Slots  []slot `json:"slots,omitempty"`
	Closed *slot  `json:"closed,omitempty"` // the time during which the key is blocked
}

// slot is held until Until, but for at most For from now.
type slot struct {
	ID    string        `json:"id,omitempty"`
	Until time.Duration `json:"until"`
	For   time.Duration `json:"for"`
}

const version = 1

// Take implements [signforms.LimitStore].
func (s *LimitStore) Take(ctx context.Context, key string, limit int, hold time.Duration) (id string, wait time.Duration, err error) {
	err = s.change(ctx, func(st *state) bool {
		h := st.Keys[key]
		if wait = h.free(limit, 0, st.Saved); wait > 0 {
			return false
		}
		id = rand.Text()
		h.hold(slot{id, st.Saved + hold, hold})
		st.Keys[key] = h
		return true
	})
	if err != nil {
		return "", 0, err
	}
	return id, wait, nil
}

// Settle implements [signforms.LimitStore].
func (s *LimitStore) Settle(ctx context.Context, key, id string, keep time.Duration) error {
	return s.change(ctx, func(st *state) bool {
		h := st.Keys[key]
		h.Slots = slices.DeleteFunc(h.Slots, func(other slot) bool { return other.ID == id })
		if keep > 0 {
			h.hold(slot{id, st.Saved + keep, keep})
		}
		st.Keys[key] = h
		return true
	})
}

// Block implements [signforms.LimitStore].
func (s *LimitStore) Block(ctx context.Context, key string, d time.Duration) error {
	return s.change(ctx, func(st *state) bool {
		h := st.Keys[key]
		if until := st.Saved + d; d > 0 && (h.Closed == nil || until > h.Closed.Until) {
			h.Closed = &slot{Until: until, For: d}
			st.Keys[key] = h
			return true
		}
		return false
	})
}

// Peek implements [signforms.LimitStore].
func (s *LimitStore) Peek(ctx context.Context, key string, limit int) ([]time.Duration, error) {
	waits := make([]time.Duration, limit)
	err := s.change(ctx, func(st *state) bool {
		h := st.Keys[key]
		for i := range waits {
			waits[i] = h.free(limit, i, st.Saved)
		}
		return false
	})
	return waits, err
}

func (h *held) hold(s slot) {
	i, _ := slices.BinarySearchFunc(h.Slots, s, func(a, b slot) int {
		if a.Until <= b.Until {
			return -1
		}
		return 1
	})
	h.Slots = slices.Insert(h.Slots, i, s)
}

// free returns the wait until the i-th of limit slots can be taken, counted from 0.
func (h *held) free(limit, i int, now time.Duration) time.Duration {
	var at time.Duration
	if h.Closed != nil {
		at = h.Closed.Until
	}
	if i -= limit - len(h.Slots); i >= 0 {
		at = max(at, h.Slots[i].Until)
	}
	return max(at-now, 0)
}

// change calls fn with the current state, under the lock. It saves the state when fn returns true.
func (s *LimitStore) change(ctx context.Context, fn func(*state) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.path == "" {
		return errors.New("the path is empty: give NewLimitStore the path of a file")
	}
	if info, err := os.Stat(s.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file: give NewLimitStore the path of one", s.path)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(s.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return s.owned(s.path+".lock", err)
	}
	defer lock.Close()
	if err := filelock.Wait(ctx, lock); err != nil {
		return fmt.Errorf("locking %s: %w", s.path, err)
	}
	st, moved, err := s.load()
	if err != nil {
		return err
	}
	if changed := fn(st); !changed && !moved {
		return nil
	}
	return s.save(st)
}

// owned adds the owner of the file to an error of the system, if the file belongs to another user.
func (s *LimitStore) owned(path string, err error) error {
	info, failed := os.Stat(path)
	if !errors.Is(err, fs.ErrPermission) || failed != nil || ownerOf(info) == "" {
		return err
	}
	return fmt.Errorf("%w: it belongs to user %s, because a program of that user took a slot: run all programs that share it as one user, "+
		"and give it and %s.lock to that user (chown)", err, ownerOf(info), s.path)
}

// load reads the file and drops the slots that are no longer held. moved reports that the clock
// started again or was set back, and that the times were moved to the new clock. Such a state must
// be saved, or every load would move the times again.
func (s *LimitStore) load() (st *state, moved bool, err error) {
	session, now, err := s.clock()
	if err != nil {
		return nil, false, fmt.Errorf("reading the clock: %w", err)
	}
	st = &state{Version: version, Session: session, Saved: now, Keys: map[string]held{}}
	text, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, nil
	}
	if err != nil {
		return nil, false, s.owned(s.path, err)
	}
	old, whole := parse(text)
	if !whole {
		return nil, false, fmt.Errorf("%s is damaged: remove it when no reminder has been sent for 17 minutes", s.path)
	}
	var shift time.Duration
	if moved = old.Session != session || now < old.Saved; moved {
		shift = now - old.Saved
	}
	for key, h := range old.Keys {
		if h = h.at(now, shift); len(h.Slots) > 0 || h.Closed != nil {
			st.Keys[key] = h
		}
	}
	return st, moved, nil
}

// parse reads the content of the file. A file is whole only if encode could have written it,
// because a missing or unknown name would free slots.
func parse(text []byte) (st state, whole bool) {
	if json.Unmarshal(text, &st) != nil || st.Version != version || st.Keys == nil {
		return st, false
	}
	again, err := encode(&st)
	return st, err == nil && bytes.Equal(text, again)
}

func encode(st *state) ([]byte, error) {
	text, err := json.Marshal(st)
	return append(text, '\n'), err
}

// at returns the slots that are still held at the time now, with all times moved by shift.
func (h held) at(now, shift time.Duration) held {
	var left held
	for _, s := range h.Slots {
		if s.Until = min(s.Until+shift, now+s.For); s.Until > now {
			left.hold(s)
		}
	}
	if c := h.Closed; c != nil {
		if c.Until = min(c.Until+shift, now+c.For); c.Until > now {
			left.Closed = c
		}
	}
	return left
}

// save replaces the file. When save returns, the new content is on the disk.
func (s *LimitStore) save(st *state) error {
	text, err := encode(st)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path, text)
}
