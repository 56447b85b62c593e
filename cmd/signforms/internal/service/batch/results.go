package batch

import (
	"bytes"
	"cmp"
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

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// The states of a line in a results file. A line without a row has not been started.
const (
	sending = "sending" // a request is about to be made; if the run has ended, the outcome is unknown
	sent    = "sent"
	failed  = "failed"
	unknown = "unknown" // the line may have been sent
	again   = "again"   // set by a person for an unknown line, so that it is sent again
	moved   = "moved"   // moved to another file by --rest
)

var states = []string{sending, sent, failed, unknown, again, moved}

// row is a row of a results file. A run prints it for each line.
type row struct {
	Line   string `json:"item"` // number of the line in FILE, or the id of a document
	State  string `json:"outcome"`
	ID     string `json:"createdDocumentId,omitempty"`
	Reason string `json:"message,omitempty"` // reason of failed; the other file of moved
}

// results is a results file: a header and rows. The last row of a line counts. Each row is on the
// disk before add returns.
type results struct {
	path   string
	f      *os.File // locked
	comma  rune
	size   int64
	rows   map[string]row
	next   string // the line of the next request; empty after its row was written
	failed error  // error of a write, after which nothing more is sent
}

// open reads and locks the results file at path, or makes it. Each line of its header has a name
// and a value. It returns a client whose sends are recorded in the file. The caller calls
// b.results.close.
func (b *batch) open(path string, o signforms.Options, header ...[]string) (*signforms.Client, error) {
	header = append(header, []string{"service", b.conn.BaseURL()}, []string{"account", b.conn.Account()},
		[]string{"line", "state", "id", "reason"})
	r := &results{path: path, comma: ',', rows: map[string]row{}}
	err := error(nil)
	if _, missing := os.Lstat(path); errors.Is(missing, fs.ErrNotExist) {
		err = create(path, header)
	}
	if err == nil {
		r.f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	}
	if err == nil {
		err = r.begin(header)
	}
	if err != nil {
		r.f.Close()
		return nil, cli.UsageError("nothing was sent: %s: %w", path, cli.PathCause(err))
	}
	b.results, o.Transport = r, r
	return b.conn.Client(o)
}

// create makes a results file with its header. A killed run leaves no part of the header, because
// an empty file may be one that has lost its rows. If another process has made the file in the
// meantime, that file stays.
func create(path string, header [][]string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := writeHeader(f, header); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) { // the file system may not support links
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			err = writeHeader(f, header)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

func writeHeader(f *os.File, header [][]string) error {
	_, err := f.Write(lines(header, ','))
	return errors.Join(err, f.Sync(), f.Close())
}

func (r *results) begin(header [][]string) error {
	if info, err := r.f.Stat(); err != nil || !info.Mode().IsRegular() {
		return cmp.Or(err, errNotRegular)
	}
	if filelock.Try(r.f) != nil {
		return errors.New("another process uses it: wait until it ends, or end it")
	}
	text, err := cli.ReadAll(r.f, r.path, maxFile)
	return cmp.Or(err, r.read(text, header))
}

var errNotRegular = errors.New("it is not a regular file, so the next run could not read the outcomes from it. Copy FILE to a regular file first")

// lines returns rows as CSV.
func lines(rows [][]string, comma rune) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = comma
	w.WriteAll(rows)
	return b.Bytes()
}

// close closes the file, and removes a file without rows.
func (r *results) close() {
	if len(r.rows) == 0 && r.untouched() {
		os.Remove(r.path)
	}
	r.f.Close()
}

func (r *results) read(text []byte, header [][]string) error {
	in := newReader(text)
	in.FieldsPerRecord = -1
	r.comma, r.size = in.Comma, int64(len(text))
	for _, want := range header {
		cells, err := in.Read()
		switch {
		case err != nil || len(cells) < len(want) || cells[0] != want[0]:
			return errors.New("it is empty, is not a results file, or has an incomplete header. Restore its earlier contents. " +
				"An empty file can be deleted if nobody was mailed")
		case cells[1] != want[1] && want[0] == "file":
			return errors.New("it belongs to a different FILE, or the contents of FILE changed since the first run. Undo the edit of FILE. " +
				"To correct lines that were not sent, run --rest NEW.csv afterwards, and edit NEW.csv")
		case cells[1] != want[1]:
			return fmt.Errorf("its %s is %q, but that of this command is %q. Give the command the one of the file. "+
				"Only if the account got a new key, replace the value in the file", want[0], cells[1], want[1])
		}
	}
	for {
		cells, err := in.Read()
		if err == io.EOF && bytes.HasSuffix(text, []byte("\n")) {
			return nil
		}
		if err != nil || len(cells) < 2 || !slices.Contains(states, cells[1]) {
			line, _ := in.FieldPos(0)
			return fmt.Errorf("line %d has no valid state (%s) or no line end. Undo the edit, or remove the part that a loss of power has left", line,
				strings.Join(states, ", "))
		}
		cells = append(cells, "", "")
		w := row{cells[0], cells[1], cells[2], cells[3]}
		if w.State == sending {
			w.State = unknown
		}
		r.rows[w.Line] = w
	}
}

// add appends a row. After the first error, all calls fail.
func (r *results) add(w row) error {
	if r.failed != nil {
		return r.failed
	}
	if err := r.write([][]string{{w.Line, w.State, w.ID, w.Reason}}); err != nil {
		r.failed = fmt.Errorf("nothing more is sent: %s: %w", r.path, cli.PathCause(err))
		return r.failed
	}
	r.rows[w.Line] = w
	return nil
}

func (r *results) write(rows [][]string) error {
	if !r.untouched() {
		return errors.New("it was edited during the run. Restore its earlier contents, and add the lines that were printed since")
	}
	text := lines(rows, r.comma)
	_, err := r.f.Write(text)
	if err == nil {
		err = r.f.Sync()
	}
	if err != nil {
		r.f.Truncate(r.size) // removes the partial row that a full disk has left
		return err
	}
	r.size += int64(len(text))
	return nil
}

// untouched reports whether no other process has changed the file.
func (r *results) untouched() bool {
	mine, err := r.f.Stat()
	there, missing := os.Stat(r.path)
	return err == nil && missing == nil && os.SameFile(mine, there) && there.Size() == r.size
}

// toDo reports whether a line has not been started, has failed, or is to be sent again.
func (r *results) toDo(line string) bool {
	state := r.rows[line].State
	return state == "" || state == failed || state == again
}

// RoundTrip implements [http.RoundTripper]. It adds a row with the state sending before the first
// request of a line. If it cannot add the row, it makes no request.
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
