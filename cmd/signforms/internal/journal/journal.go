// Package journal records on disk the intent and the outcome of each request of a run. A run that was interrupted, killed or cut
// off by a power failure can continue where it stopped, and repeats no request.
//
// A journal is a file of JSON lines. Only its owner can read it, and it is locked while it is open:
//
//	{"journal":1}                                                          the format of the file
//	{"at":"2026-11-21T19:40:00Z","begin":"…","settings":{…}}                a run with settings begins
//	{"at":"2026-11-21T19:40:00Z","key":"…","to":["…"],"run":"…","item":"line 4","intent":true} a request about to be sent
//	{"at":"2026-11-21T19:40:01Z","key":"…","result":"done","id":"66f0…"}    its outcome: done, failed or unknown
//	{"at":"2026-11-21T19:52:10Z","end":["…","…"]}                          a run has ended: these keys are forgotten
//	{"at":"2026-11-21T19:52:10Z","abandon":"…"}                            another run took the place of this one
//
// Keys are hashes: the file holds no name, address, link or API key but those in the settings of a run. Every line is on disk
// (fsync) before the caller continues. A line that was cut off because the machine stopped is dropped when the journal is opened
// again. If it was an intent, its request was never sent. If it was a result, the outcome of its request counts as unknown.
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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// State is what is known about the request of an entry.
type State string

// The states of entries. Begun is an intent without a result: the outcome of its request is as unknown as with Unknown.
const (
	Begun   State = "begun"
	Done    State = "done"
	Failed  State = "failed" // not carried out
	Unknown State = "unknown"
)

// Open reports whether it is unknown if the request was carried out.
func (s State) Open() bool { return s == Begun || s == Unknown }

// Entry is what the journal holds about one key.
type Entry struct {
	Key      string
	Who      []string // hashes of the people whom the request is for; entries with other keys may have the same. Empty where nobody asks.
	Run      string   // the run that it belongs to
	Item     string   // what the request is about, for people
	State    State
	Intended time.Time // the time before the request
	At       time.Time // the time of its newest line
	ID       string    // the id of what the request made, when State is Done
}

// Run is a run that has begun and not ended.
type Run struct {
	ID       string
	At       time.Time         // when it began
	Settings map[string]string // what all requests of the run share
	Left     time.Time         // when a run with another journal took its place; zero if none did
}

// ErrInUse is the error of Open when another process has the journal open.
var ErrInUse = errors.New("another run is using the journal")

var errNoJournal = errors.New("the file is not a journal: name another one")

// Journal is an open journal. It is safe for concurrent use.
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	entries map[string]*Entry
	run     *Run
	broken  error // the error of a failed write; what is on disk is unknown since then
}

// line is one line of the file.
type line struct {
	Journal  int               `json:"journal,omitempty"`
	At       time.Time         `json:"at,omitzero"`
	Begin    string            `json:"begin,omitempty"` // the id of a run
	Settings map[string]string `json:"settings,omitempty"`
	Key      string            `json:"key,omitempty"`
	Who      []string          `json:"to,omitempty"`
	Run      string            `json:"run,omitempty"`
	Item     string            `json:"item,omitempty"`
	Intent   bool              `json:"intent,omitempty"`
	Result   State             `json:"result,omitempty"`
	ID       string            `json:"id,omitempty"`
	End      []string          `json:"end,omitempty"`
	Abandon  string            `json:"abandon,omitempty"` // the id of a run
}

const version = 1

// Key returns the key for a list of parts. Different lists have different keys.
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

// Open opens the journal at path, or makes it and its folder. It returns ErrInUse when another process has the journal open.
// It empties a journal without entries and without a run. The caller closes the journal.
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
	if len(j.entries) == 0 && j.run == nil {
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
	return atomicfile.SyncDir(filepath.Dir(j.file.Name()))
}

// read reads the lines and returns the offset at which the last whole line ends.
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
			return 0, fmt.Errorf("line %d is damaged, so it is unknown what was done: check with the service before you remove the file", number)
		}
		whole += int64(len(text))
	}
}

// apply applies a line to the entries. It reports whether the line is valid.
func (j *Journal) apply(l line) bool {
	switch {
	case l.Journal != 0:
		return l.Journal == version
	case l.Begin != "":
		maps.DeleteFunc(j.entries, func(_ string, e *Entry) bool { return !e.State.Open() })
		j.run = &Run{ID: l.Begin, At: l.At, Settings: l.Settings}
		return true
	case len(l.End) > 0:
		for _, key := range l.End {
			delete(j.entries, key)
		}
		j.run = nil
		return true
	case l.Abandon != "":
		if j.run == nil || j.run.ID != l.Abandon {
			return false
		}
		left := *j.run
		left.Left = l.At
		j.run = &left
		return true
	case l.Key == "":
		return false
	case l.Intent:
		j.entries[l.Key] = &Entry{Key: l.Key, Who: l.Who, Run: l.Run, Item: l.Item, State: Begun, Intended: l.At, At: l.At}
		return true
	}
	e := j.entries[l.Key]
	if e == nil || !slices.Contains([]State{Done, Failed, Unknown}, l.Result) {
		return false
	}
	e.State, e.At, e.ID = l.Result, l.At, l.ID
	return true
}

// Entry returns the entry of a key, and whether there is one.
func (j *Journal) Entry(key string) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.entries[key]; e != nil {
		return *e, true
	}
	return Entry{}, false
}

// Entries returns all entries, oldest first.
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

// Run returns the run that has begun and not ended, or nil.
func (j *Journal) Run() *Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// Begin notes that a run with settings begins. It abandons a run that has not ended: of its entries only those whose outcome is
// unknown stay.
func (j *Journal) Begin(id string, settings map[string]string) error {
	return j.add(line{At: now(), Begin: id, Settings: settings})
}

// Intend notes that the request of an entry is about to be sent; its State and times are not used. When Intend returns nil, the note
// is on disk. When it returns an error, the request must not be sent.
func (j *Journal) Intend(e Entry) error {
	return j.add(line{At: now(), Key: e.Key, Who: e.Who, Run: e.Run, Item: e.Item, Intent: true})
}

// Settle notes the outcome of a request. id is the id of what the request made, or empty. For a key without an entry it does
// nothing.
func (j *Journal) Settle(key string, result State, id string) error {
	if _, ok := j.Entry(key); !ok {
		return nil
	}
	return j.add(line{At: now(), Key: key, Result: result, ID: id})
}

// Forget removes the entries of these keys, so that a later run makes their requests again, and with them the run. When the machine
// stops meanwhile, either all of them are forgotten or none.
func (j *Journal) Forget(keys []string) error {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { _, ok := j.Entry(key); return !ok })
	if len(keys) == 0 {
		return nil
	}
	return j.add(line{At: now(), End: keys})
}

// Close closes the file and frees the lock.
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

// write appends a line. After an error it writes nothing more, because a part of a line may be on disk.
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
