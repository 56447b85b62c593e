// Package journal keeps on disk what a run of many requests was about to do and what came of it, so that a run that was
// interrupted, killed or cut off by a power failure goes on where it was and repeats nothing.
//
// A journal is a file of JSON lines, readable by its owner alone and locked while it is open:
//
//	{"journal":1}                                                          what kind of file it is
//	{"at":"2026-11-21T19:40:00Z","key":"…","run":"…","item":"line 4","intent":true} a request about to be written
//	{"at":"2026-11-21T19:40:01Z","key":"…","result":"done","id":"66f0…"}    what came of it: done, failed or unknown
//	{"at":"2026-11-21T19:52:10Z","end":["…","…"]}                          a run has ended: these keys are forgotten
//
// A key is a hash: the file holds no name, address, link or API key. Every line is on disk (fsync) before the caller goes on.
// A line that was being written as the machine stopped is dropped when the journal is opened again: its intent was not
// confirmed, so its request was never written.
package journal

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/filelock"
)

// State is what is known of an entry.
type State string

// The states of entries. Begun is an intent without a result: what became of its request is as unknown as with Unknown.
const (
	Begun   State = "begun"
	Done    State = "done"
	Failed  State = "failed" // not carried out
	Unknown State = "unknown"
)

// Open reports whether nobody knows if the request was carried out.
func (s State) Open() bool { return s == Begun || s == Unknown }

// Entry is what the journal says of one key.
type Entry struct {
	Key   string
	Run   string // of which run
	Item  string // what the request is about, for people
	State State
	At    time.Time // of the newest line about it
	ID    string    // of what the request made, when it is done
}

// ErrInUse is the error of Open when another process has the journal.
var ErrInUse = errors.New("another run is using the journal")

var errNoJournal = errors.New("the file is not a journal: name another one")

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	entries map[string]*Entry
	broken  error // of a line that could not be written: what is on disk is not known any more
}

// line is one line of the file.
type line struct {
	Journal int       `json:"journal,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Key     string    `json:"key,omitempty"`
	Run     string    `json:"run,omitempty"`
	Item    string    `json:"item,omitempty"`
	Intent  bool      `json:"intent,omitempty"`
	Result  State     `json:"result,omitempty"`
	ID      string    `json:"id,omitempty"`
	End     []string  `json:"end,omitempty"`
}

const version = 1

// Key returns the key of what the parts say together.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		io.WriteString(h, p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

// Open opens the journal at path, or begins one there; the folder is made too. ErrInUse when another process has it open.
// A journal in which nothing is held any more begins anew. The caller closes it.
func Open(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{file: f, entries: map[string]*Entry{}}
	if err := j.begin(); err != nil {
		f.Close()
		return nil, fmt.Errorf("journal %s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) begin() error {
	if err := filelock.Try(j.file); errors.Is(err, filelock.ErrLocked) {
		return ErrInUse
	} else if err != nil {
		return fmt.Errorf("locking it: %w", err)
	}
	if info, err := j.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errNoJournal)
	}
	if err := j.file.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	whole, err := j.read()
	if err != nil {
		return err
	}
	if len(j.entries) == 0 {
		whole = 0
	}
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, io.SeekStart); err != nil {
		return err
	}
	if whole > 0 {
		return nil
	}
	if err := j.write(line{Journal: version}); err != nil {
		return err
	}
	return filelock.SyncDir(filepath.Dir(j.file.Name()))
}

// read reads the lines and returns where the last whole one ends.
func (j *Journal) read() (whole int64, err error) {
	r := bufio.NewReader(j.file)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		switch {
		case err == io.EOF && number == 1 && len(text) > 0 && !bytes.HasPrefix([]byte(`{"journal":1}`), text):
			return 0, errNoJournal
		case err == io.EOF:
			return whole, nil
		case err != nil:
			return 0, err
		}
		var l line
		if json.Unmarshal(text, &l) != nil || (number == 1) != (l.Journal != 0) || !j.apply(l) {
			if number == 1 {
				return 0, errNoJournal
			}
			return 0, fmt.Errorf("line %d is damaged, so what was done is not known: look at the service before you remove the file", number)
		}
		whole += int64(len(text))
	}
}

// apply notes what a line says, and reports whether it can be one.
func (j *Journal) apply(l line) bool {
	switch {
	case l.Journal != 0:
		return l.Journal == version
	case len(l.End) > 0:
		for _, key := range l.End {
			delete(j.entries, key)
		}
		return true
	case l.Key == "":
		return false
	case l.Intent:
		j.entries[l.Key] = &Entry{Key: l.Key, Run: l.Run, Item: l.Item, State: Begun, At: l.At}
		return true
	}
	e := j.entries[l.Key]
	if e == nil || !slices.Contains([]State{Done, Failed, Unknown}, l.Result) {
		return false
	}
	e.State, e.At, e.ID = l.Result, l.At, l.ID
	return true
}

// Entry returns what the journal holds of a key.
func (j *Journal) Entry(key string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.entries[key]; e != nil {
		return *e, true
	}
	return Entry{}, false
}

// Entries returns what the journal holds, oldest first.
func (j *Journal) Entries() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]Entry, 0, len(j.entries))
	for _, e := range j.entries {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return all
}

// Intend notes that a request is about to be written, for which run and for what. When it returns nil the note is on disk; otherwise the request must not
// be written.
func (j *Journal) Intend(key, run, item string) error {
	return j.add(line{At: now(), Key: key, Run: run, Item: item, Intent: true})
}

// Settle notes what came of a request that was intended; id is what it made, or empty. Without an intent there is nothing to
// settle.
func (j *Journal) Settle(key string, result State, id string) error {
	if _, ok := j.Entry(key); !ok {
		return nil
	}
	return j.add(line{At: now(), Key: key, Result: result, ID: id})
}

// Forget ends a run: what is known of the keys is held back no longer. Either all are forgotten or, when the machine stops
// meanwhile, none.
func (j *Journal) Forget(keys []string) error {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { _, ok := j.Entry(key); return !ok })
	if len(keys) == 0 {
		return nil
	}
	return j.add(line{At: now(), End: keys})
}

// Close closes the file and gives the lock back.
func (j *Journal) Close() error { return j.file.Close() }

func (j *Journal) add(l line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(l); err != nil {
		return fmt.Errorf("journal %s: %w", j.file.Name(), err)
	}
	j.apply(l)
	return nil
}

// write appends a line. After an error it writes no more: a part of a line may be there.
func (j *Journal) write(l line) error {
	if j.broken != nil {
		return j.broken
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, j.broken = j.file.Write(append(text, '\n')); j.broken == nil {
		j.broken = j.file.Sync()
	}
	return j.broken
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
