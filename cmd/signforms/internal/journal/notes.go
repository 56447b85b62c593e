package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/atomicfile"
)

// Notes is a folder with a note for each run that has not ended. A run finds there the runs with other journals that are for some of
// the same people.
type Notes string

// Note says where the journal of a run is, and whom the run is for, whether or not they have had their request.
type Note struct {
	Run       string    `json:"run"`
	At        time.Time `json:"at"`
	Journal   string    `json:"journal"`
	Workspace string    `json:"workspace,omitempty"` // empty: that of the API key
	Who       []string  `json:"who"`
}

const noteEnd = ".json"

func (n Notes) path(run string) string { return filepath.Join(string(n), run+noteEnd) }

// Sharing returns the notes of other runs than this one that are for somebody in who, but not those for another workspace, where both
// runs name one. A folder that is not there or cannot be read holds none; Keep returns why.
func (n Notes) Sharing(run, workspace string, who map[string]bool) (found []Note, err error) {
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
		apart := workspace != "" && note.Workspace != "" && !strings.EqualFold(workspace, note.Workspace)
		if !apart && slices.ContainsFunc(note.Who, func(w string) bool { return who[w] }) {
			found = append(found, note)
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

// Keep writes a note, and makes the folder. A note of the same run is replaced. Of two runs that first keep their notes and then ask
// for Sharing, at least one finds the other.
func (n Notes) Keep(note Note) error {
	if err := os.MkdirAll(string(n), 0o700); err != nil {
		return err
	}
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

// Abandon notes in the journal of the run that another run takes its place, and removes its note. It returns the error of check for the
// entries of the run, and ErrInUse while a process has that journal open.
func (n Notes) Abandon(note Note, check func([]Entry) error) error {
	if _, err := os.Stat(note.Journal); errors.Is(err, fs.ErrNotExist) {
		return n.Remove(note.Run)
	}
	j, err := Open(note.Journal)
	if err != nil {
		return err
	}
	defer j.Close()
	if run := j.Run(); run != nil && run.ID == note.Run {
		if err := check(j.Entries()); err != nil {
			return err
		}
		if err := j.add(line{At: now(), Abandon: run.ID}); err != nil {
			return err
		}
	}
	return n.Remove(note.Run)
}

// In reports whether the journal of the run is, or was, the file at path.
func (n Note) In(path string) bool {
	there, err := os.Stat(n.Journal)
	here, err2 := os.Stat(path)
	return n.Journal == path || err == nil && err2 == nil && os.SameFile(there, here)
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
