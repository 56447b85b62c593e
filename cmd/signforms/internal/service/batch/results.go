package batch

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// The states of a line, as a results file has them. A line without a row is not begun.
const (
	sending = "sending" // a request is about to be made; of a run that has ended: unknown
	sent    = "sent"
	failed  = "failed"
	unknown = "unknown" // it may have been sent
	again   = "again"   // a person says so of one that was unknown
	moved   = "moved"   // by --rest to another file
)

var states = []string{sending, sent, failed, unknown, again, moved}

// row is a row of a results file, and what a run prints of a line.
type row struct {
	Line   string `json:"item"` // its number in FILE, or the id of a document
	State  string `json:"outcome"`
	ID     string `json:"createdDocumentId,omitempty"`
	Reason string `json:"message,omitempty"` // of failed; the file of moved
}

// results is a results file: a header, and rows of which the last one of a line counts. Each row is on the disk before
// add returns.
type results struct {
	path   string
	header [][]string // each line has a name and a value
	f      *os.File   // locked; nil: there is no file yet
	comma  rune
	size   int64
	rows   map[string]row
	next   string // the line whose request comes next; empty once it has its row
	failed error  // of a write, after which nothing more is sent
}

// openResults reads and locks the results file at path, if there is one. The caller closes its file.
func openResults(path string, conn service.Connection, header ...[]string) (*results, error) {
	header = append(header, []string{"service", conn.BaseURL()}, []string{"account", conn.Account()},
		[]string{"line", "state", "id", "reason"})
	r := &results{path: path, header: header, comma: ',', rows: map[string]row{}}
	err := r.open(os.O_RDWR | os.O_APPEND)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = r.read()
	}
	if err != nil {
		r.f.Close()
		return nil, cli.UsageError("nothing was sent: %s: %w", path, cli.PathCause(err))
	}
	return r, nil
}

func (r *results) open(flags int) (err error) {
	if r.f, err = os.OpenFile(r.path, flags, 0o600); err != nil {
		return err
	}
	if filelock.Try(r.f) != nil {
		return errors.New("another process uses it: wait until it ends, or end it")
	}
	return nil
}

func (r *results) read() error {
	text, err := cli.ReadAll(r.f, r.path, maxFile)
	if err != nil {
		return err
	}
	in := newReader(text)
	in.FieldsPerRecord = -1
	r.comma, r.size = in.Comma, int64(len(text))
	for _, want := range r.header {
		cells, err := in.Read()
		switch {
		case r.size == 0:
			return errors.New("it is empty: delete it if nobody was mailed; without it everybody is")
		case err != nil || len(cells) < len(want) || cells[0] != want[0]:
			return errors.New("it is no results file, or its header is not whole: put back what it was or, with " +
				"--results, name another")
		case cells[1] != want[1] && want[0] == "file":
			return errors.New("FILE is not the one that it is of: undo the edit of FILE. To correct lines that were not " +
				"sent, then say --rest NEW.csv, and edit NEW.csv")
		case cells[1] != want[1]:
			return fmt.Errorf("it is of the %s %q, and this command has %q: say that one. Of an account that got a "+
				"new key, write the second into the place of the first", want[0], cells[1], want[1])
		}
	}
	for {
		cells, err := in.Read()
		if err == io.EOF && bytes.HasSuffix(text, []byte("\n")) {
			return nil
		}
		if err == nil {
			err = r.take(append(cells, "", "", ""))
		}
		if err != nil { // io.EOF: the end of a line is missing
			line, _ := in.FieldPos(0)
			return fmt.Errorf("line %d: %w: undo the edit, or what a loss of power did", line, err)
		}
	}
}

// take takes a row of the file.
func (r *results) take(cells []string) error {
	w := row{cells[0], cells[1], cells[2], cells[3]}
	before := r.rows[w.Line].State
	switch {
	case !slices.Contains(states, w.State):
		return fmt.Errorf("%q is no state (%s)", w.State, strings.Join(states, ", "))
	case before == sent || before == moved:
		return fmt.Errorf("%s was %s before, and nothing follows that", w.Line, before)
	case w.State == sending:
		w.State = unknown
	}
	r.rows[w.Line] = w
	return nil
}

// add appends a row, and makes the file for the first. From the first one that fails on, all fail: also when somebody
// has edited the file meanwhile.
func (r *results) add(w row) error {
	if r.failed != nil {
		return r.failed
	}
	rows := [][]string{{w.Line, w.State, w.ID, w.Reason}}
	there, err := os.Stat(r.path)
	if r.f == nil {
		rows = append(r.header, rows...)
		if err = r.open(os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL); err == nil {
			err = atomicfile.SyncDir(filepath.Dir(r.path))
		}
	} else if mine, _ := r.f.Stat(); err != nil || there.Size() != r.size || !os.SameFile(mine, there) {
		err = errors.New("it was edited while the run went on: bring back what it was, and add what was printed since")
	}
	if err == nil {
		err = r.write(rows)
	}
	if err != nil {
		if r.size == 0 && r.f != nil { // this run made it
			os.Remove(r.path)
		}
		r.failed = fmt.Errorf("nothing more is sent: %s: %w", r.path, cli.PathCause(err))
	}
	r.rows[w.Line] = w
	return r.failed
}

func (r *results) write(rows [][]string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = r.comma
	w.WriteAll(rows)
	_, err := r.f.Write(b.Bytes())
	if err == nil {
		err = r.f.Sync()
	}
	if err != nil {
		r.f.Truncate(r.size) // what a full disk left of it
		return err
	}
	r.size += int64(b.Len())
	return nil
}

// toDo reports whether a line is not begun, failed, or to be sent again.
func (r *results) toDo(line string) bool {
	state := r.rows[line].State
	return state == "" || state == failed || state == again
}

// RoundTrip implements [http.RoundTripper]. It adds the row sending before the first request of a line, and makes no
// request without it.
func (r *results) RoundTrip(req *http.Request) (*http.Response, error) {
	if line := r.next; line != "" {
		r.next = ""
		r.add(row{Line: line, State: sending})
	}
	if r.failed != nil {
		return nil, r.failed
	}
	return http.DefaultTransport.RoundTrip(req)
}
