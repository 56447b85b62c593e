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
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/internal/filelock"
)

// The states of a line of a batch, as a results file has them. A line without a row is not begun.
const (
	sending = "sending" // a request is about to be made; of a run that has ended: unknown
	sent    = "sent"
	failed  = "failed"
	unknown = "unknown" // it may have been sent
	again   = "again"   // a person says so of one that was unknown
	moved   = "moved"   // by --rest to another file
)

var states = []string{sending, sent, failed, unknown, again, moved}

// row is the last row of a line.
type row struct {
	state, id string
	note      string // the reason of failed, the file of moved
}

// results is a results file: a header, and rows of which the last one of a line counts. Each row is on the disk
// before add returns.
type results struct {
	path   string
	header [][2]string // a name and a value in each line
	column string      // what rows are about: line or document
	f      *os.File    // locked; nil: there is no file yet
	comma  rune
	size   int64
	rows   map[string]row
	failed error // of a write, after which nothing more is sent
}

// openResults reads and locks the results file at path, if there is one. It refuses one with another header, and what
// known refuses.
func openResults(path string, header [][2]string, column string, known func(key string) bool) (*results, error) {
	r := &results{path: path, header: header, column: column, comma: ',', rows: map[string]row{}}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, cli.UsageError("%s: %w", path, cli.PathCause(err))
	}
	r.f = f
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = cli.UsageError("%s is not a regular file", path)
	} else if err == nil && filelock.Try(f) != nil {
		err = cli.UsageError("%s: another process uses it: wait until it ends, or end it", path)
	}
	var text []byte
	if err == nil {
		text, err = cli.ReadAll(f, path, maxFile)
	}
	if err == nil {
		err = r.read(text, known)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

// begin makes the file, if there is none.
func (r *results) begin() (err error) {
	if r.f != nil {
		return nil
	}
	if r.f, err = os.OpenFile(r.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return cli.UsageError("%s: nothing was sent: %w", r.path, cli.PathCause(err))
	}
	if filelock.Try(r.f) != nil {
		return cli.UsageError("%s: another process uses it: wait until it ends, or end it", r.path)
	}
	if err := r.write(r.head()); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(r.path))
}

// close unlocks the file.
func (r *results) close() {
	if r.f != nil {
		r.f.Close()
	}
}

// head returns the beginning of a new file.
func (r *results) head() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, line := range r.header {
		w.Write(line[:])
	}
	w.Write([]string{r.column, "state", "id", "note", "at"})
	w.Flush()
	return b.Bytes()
}

// read takes the rows from a file. A file or a last row of which a loss of power left only the beginning is cut back.
func (r *results) read(text []byte, known func(key string) bool) error {
	whole := bytes.TrimRight(text, "\x00")
	if bytes.HasPrefix(r.head(), whole) && len(whole) < len(r.head()) {
		if err := r.f.Truncate(0); err != nil {
			return err
		}
		return r.write(r.head())
	}
	if last := whole[bytes.LastIndexByte(whole, '\n')+1:]; torn(last) {
		whole = whole[:len(whole)-len(last)]
	}
	body := bytes.TrimPrefix(whole, []byte("\ufeff"))
	r.comma = separator(body)
	lines := csv.NewReader(bytes.NewReader(body))
	lines.Comma, lines.FieldsPerRecord = r.comma, -1
	for i := 0; ; i++ {
		cells, err := lines.Read()
		switch {
		case err == io.EOF && i > len(r.header):
			return r.mend(whole)
		case err != nil:
			return cli.UsageError("%s: %w: undo the edit", r.path, err)
		case i < len(r.header):
			err = r.checkHeader(r.header[i], cell(cells, 0), cell(cells, 1))
		case i == len(r.header) && cell(cells, 0) != r.column:
			err = cli.UsageError("%s: the line with the names of the columns is not there: undo the edit", r.path)
		case i > len(r.header):
			number, _ := lines.FieldPos(0)
			err = r.take(number, cells, known)
		}
		if err != nil {
			return err
		}
	}
}

// mend makes the file end after its last whole row.
func (r *results) mend(whole []byte) error {
	r.size = int64(len(whole))
	if err := r.f.Truncate(r.size); err != nil {
		return err
	}
	if !bytes.HasSuffix(whole, []byte("\n")) { // an editor left it out
		return r.write([]byte("\n"))
	}
	return nil
}

func cell(cells []string, i int) string {
	if i >= len(cells) {
		return ""
	}
	return strings.TrimSpace(cells[i])
}

// torn reports whether a text is only the beginning of a row.
func torn(text []byte) bool {
	_, rest, found := strings.Cut(string(text), ",")
	for _, state := range states {
		if found && rest != state && strings.HasPrefix(state, rest) {
			return true
		}
	}
	return !found && len(text) > 0 && !bytes.ContainsAny(text, ";\t")
}

// take takes a row of the file.
func (r *results) take(number int, cells []string, known func(key string) bool) error {
	key, state := strings.ToLower(cell(cells, 0)), strings.ToLower(cell(cells, 1))
	wrong := func(what string) error {
		return cli.UsageError("%s, line %d: %s: undo the edit", r.path, number, what)
	}
	valid := false
	for _, s := range states {
		valid = valid || s == state
	}
	before := r.rows[key].state
	switch {
	case key == "" && state == "": // spreadsheets leave such lines
		return nil
	case !valid:
		return wrong(fmt.Sprintf("%q is no state (%s)", cell(cells, 1), strings.Join(states, ", ")))
	case !known(key):
		return wrong(fmt.Sprintf("there is no %s %q", r.column, cell(cells, 0)))
	case before == sent || before == moved && state != moved:
		return wrong(fmt.Sprintf("%s %s was %s before, and nothing follows that", r.column, key, before))
	case state == sending:
		state = unknown
	}
	r.rows[key] = row{state, cell(cells, 2), cell(cells, 3)}
	return nil
}

func (r *results) checkHeader(want [2]string, name, value string) error {
	switch {
	case name == want[0] && value == want[1]:
		return nil
	case name != want[0]:
		return cli.UsageError("nothing was sent: the header of %s has %q where %q should be: undo the edit", r.path, name, want[0])
	case name == "file":
		return cli.UsageError("nothing was sent: FILE is not the one that %s is of: undo the edit of FILE. To correct "+
			"lines that were not sent, then say --rest NEW.csv, and edit NEW.csv", r.path)
	}
	return cli.UsageError("nothing was sent: %s is of the %s %q, and this command has %q: say that one", r.path, name,
		value, want[1])
}

// add appends a row. From the first one that fails on, all fail.
func (r *results) add(key, state, id, note string) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = r.comma
	w.Write([]string{key, state, id, note, cli.Time(time.Now())})
	w.Flush()
	if r.failed == nil {
		r.failed = r.unchanged()
	}
	if r.failed == nil {
		r.failed = r.write(b.Bytes())
	}
	if r.failed == nil {
		r.rows[key] = row{state, id, note}
	}
	return r.failed
}

// unchanged refuses to go on with a file that somebody else has written, or replaced.
func (r *results) unchanged() error {
	mine, err := r.f.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(r.path); err == nil && os.SameFile(mine, there) && mine.Size() == r.size {
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s was edited while the run went on, so nothing more is sent: bring back what it "+
		"was, and add what was printed since",
		r.path), err)
}

func (r *results) write(text []byte) error {
	n, err := r.f.Write(text)
	r.size += int64(n)
	if err == nil {
		err = r.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written, so nothing more is sent: %w", r.path, cli.PathCause(err))
	}
	return nil
}

// open reports whether a line is not begun, failed, or to be sent again.
func (r *results) open(key string) bool {
	switch r.rows[key].state {
	case "", failed, again:
		return true
	}
	return false
}

type itemKey struct{}

// transport adds the row sending before the first request of an item. Without that row there is no request.
func (r *results) transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if key, ok := req.Context().Value(itemKey{}).(string); ok && r.rows[key].state != sending {
			if err := r.add(key, sending, "", ""); err != nil {
				return nil, err
			}
		}
		return next.RoundTrip(req)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
