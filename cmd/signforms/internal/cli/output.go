package cli

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// Output is the format in which a command prints records.
type Output struct {
	JSON, CSV bool
	BOM       bool // CSV that begins with a byte order mark
}

// AddFlags adds --json and --csv.
func (o *Output) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON record a line")
	cmd.Flags().BoolVar(&o.CSV, "csv", false, "print CSV with a header line")
	cmd.Flags().BoolVar(&o.BOM, "bom", false, "print CSV that begins with a byte order mark, as Excel on Windows needs it")
	Alternatives(cmd, false, "csv", "json")
	Alternatives(cmd, false, "bom", "json")
}

// Column is one column of a table or of CSV.
type Column[T any] struct {
	Name  string
	Value func(T) string
	Wide  bool // only in CSV
}

// Printer prints records of one kind as they arrive. The format is JSON or CSV. Otherwise it is an
// aligned table on a terminal, and columns separated by tabs elsewhere.
type Printer[T any] struct {
	columns []Column[T]
	clean   func(cell string) string
	row     func([]string) error
	record  func(T) error // set instead of row for JSON
	End     func() error
	none    func() error // prints an empty list; nil: prints nothing
}

// NewPrinter returns a printer. shape converts a record to the value that --json prints. A table is
// aligned in pages of page records.
func NewPrinter[T any](cmd *cobra.Command, o Output, columns []Column[T], shape func(T) any, page int) *Printer[T] {
	w := cmd.OutOrStdout()
	p := &Printer[T]{clean: Plain, End: func() error { return nil }}
	if o.JSON {
		p.record = func(v T) error { return EncodeJSON(w, shape(v), "") }
		return p
	}
	o.CSV = o.CSV || o.BOM
	var header []string
	for _, c := range columns {
		switch {
		case o.CSV:
			header = append(header, c.Name)
		case c.Wide:
			continue
		default:
			header = append(header, heading(c.Name))
		}
		p.columns = append(p.columns, c)
	}
	switch {
	case o.CSV:
		p.clean = csvCell
		out := csv.NewWriter(w)
		p.row = func(cells []string) error {
			out.Write(cells)
			out.Flush()
			return out.Error()
		}
	case isTerminal(w):
		out, rows := newTable(w), 0
		p.End = out.Flush
		p.row = func(cells []string) error {
			if rows++; rows%(page+1) == 0 {
				defer out.Flush()
			}
			return line(out, cells)
		}
	default:
		p.row = func(cells []string) error { return line(w, cells) }
	}
	first := p.row
	p.row = func(cells []string) error { // the header is printed with the first record, so that a failed command prints no header
		p.row = first
		if err := first(header); err != nil {
			return err
		}
		return first(cells)
	}
	if o.CSV {
		p.none = func() error { return first(header) }
	}
	if o.BOM {
		header[0] = "\ufeff" + header[0]
	}
	return p
}

// newTable returns a writer that aligns cells separated by tabs.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 8, 2, ' ', 0) }

// PrintRows prints lines of cells in columns.
func PrintRows(w io.Writer, rows ...[]string) {
	table := newTable(w)
	for _, row := range rows {
		for i := range row {
			row[i] = Plain(row[i])
		}
		line(table, row) // Flush returns the errors of writes
	}
	table.Flush()
}

// heading returns the heading of a column in a table, such as DOCUMENT ID for documentId.
func heading(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// Print prints one record.
func (p *Printer[T]) Print(v T) error {
	if p.record != nil {
		return p.record(v)
	}
	cells := make([]string, len(p.columns))
	for i, c := range p.columns {
		cells[i] = p.clean(c.Value(v))
	}
	return p.row(cells)
}

// PrintAll prints every record of a sequence. If the sequence fails, PrintAll prints the records
// before the failure. If some records were printed, the exit code of the error is [ExitPartial], or
// [ExitInterrupted] after a signal. An error that already has such an exit code occurs only at the
// end of a list.
func PrintAll[T any](p *Printer[*T], records iter.Seq2[*T, error]) error {
	printed := 0
	for record, err := range records {
		if err == nil {
			err = p.Print(record)
		}
		if err == nil {
			printed++
			continue
		}
		if ended := p.End(); ended != nil {
			err = errors.Join(err, ended)
		}
		err = Interrupted(err)
		if coded, _ := errors.AsType[*exitError](err); printed == 0 || coded != nil && coded.code == ExitPartial {
			return err
		}
		code := ExitPartial
		if ExitCode(err) == ExitInterrupted {
			code = ExitInterrupted
		}
		return ExitWith(code, fmt.Errorf("%w; this list ends early, after %s", err, Count(printed, "record", "records")))
	}
	if printed == 0 && p.none != nil {
		return p.none()
	}
	return p.End()
}

// PrintItems prints records that --json prints unchanged.
func PrintItems[T any](cmd *cobra.Command, o Output, columns []Column[T], items []T) error {
	p := NewPrinter(cmd, o, columns, func(v T) any { return v }, len(items))
	for _, item := range items {
		if err := p.Print(item); err != nil {
			return err
		}
	}
	return p.End()
}

func line(w io.Writer, cells []string) error {
	_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
	return err
}

// csvCell returns a cell that no spreadsheet reads as a formula. The cell cannot move the cursor of
// a terminal or change the direction of text.
func csvCell(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	if strings.IndexAny(strings.TrimLeft(s, " \n"), "=+-@＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}
