package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/atomicfile"
	"github.com/signforms/signforms-go/cmd/signforms/internal/filelock"
)

// Notes is a folder with a note for each run that has not ended. A run finds there the runs with other journals that are for some of
// the same people.
type Notes string

// Note says where the journal of a run is, and whom the run is for, whether or not they have had their request.
type Note struct {
	Run     string    `json:"run"`
	At      time.Time `json:"at"`
	Journal string    `json:"journal"`
	Who     []string  `json:"who"`
}

const noteEnd = ".json"

func (n Notes) path(run string) string { return filepath.Join(string(n), run+noteEnd) }

// Lock makes the folder and keeps other processes from the notes until unlock is called. It waits for them until ctx ends.
func (n Notes) Lock(ctx context.Context) (unlock func() error, err error) {
	if err := os.MkdirAll(string(n), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(string(n), "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Wait(ctx, f); err != nil {
		f.Close()
		return nil, err
	}
	return f.Close, nil
}

// Sharing returns the notes of other runs than this one that are for somebody in who. A folder that is not there or cannot be read
// holds none; Lock returns why.
func (n Notes) Sharing(run string, who map[string]bool) (found []Note, err error) {
	files, err := os.ReadDir(string(n))
	if err != nil {
		return nil, nil
	}
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), noteEnd)
		if !ok || id == run || strings.HasPrefix(id, ".") {
			continue
		}
		note, err := n.read(id)
		if errors.Is(err, fs.ErrNotExist) { // its run has just ended
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, w := range note.Who {
			if who[w] {
				found = append(found, note)
				break
			}
		}
	}
	return found, nil
}

func (n Notes) read(run string) (note Note, err error) {
	text, err := os.ReadFile(n.path(run))
	if err != nil {
		return note, err
	}
	if json.Unmarshal(text, &note) != nil || note.Run != run {
		return note, fmt.Errorf("%s, which notes a run that has not ended, is damaged: remove it", n.path(run))
	}
	return note, nil
}

// Keep writes a note. A note of the same run is replaced.
func (n Notes) Keep(note Note) error {
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return atomicfile.Write(n.path(note.Run), text)
}

// Remove removes the note of a run, if there is one.
func (n Notes) Remove(run string) error {
	if err := os.Remove(n.path(run)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Entries returns the entries of the run's journal, which another process may be using.
func (n Note) Entries() ([]Entry, error) {
	f, err := os.Open(n.Journal)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	j := &Journal{file: f, entries: map[string]*Entry{}}
	if _, err := j.read(); err != nil {
		return nil, err
	}
	if j.run == nil || j.run.ID != n.Run {
		return nil, errors.New("the run is not in it")
	}
	return j.Entries(), nil
}
