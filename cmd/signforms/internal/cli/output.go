package cli

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// Output is how a command prints records.
type Output struct {
	JSON, CSV bool
}

// AddFlags adds --json and --csv.
func (o *Output) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.JSON, "json", false, "print one JSON record a line")
	cmd.Flags().BoolVar(&o.CSV, "csv", false, "print CSV with a header line")
	Alternatives(cmd, false, "csv", "json")
}

// Column is one column of a table or of CSV.
type Column[T any] struct {
	Name  string
	Value func(T) string
	Wide  bool // only in CSV
	Long  bool // may be cut on a terminal
	Time  bool // on a narrow terminal only the day is shown, or nothing
}

// Printer prints records of one kind as they arrive: as JSON, as CSV, as an aligned table on a terminal, or elsewhere as columns
// separated by tabs.
type Printer[T any] struct {
	columns []Column[T]
	clean   func(cell string) string
	row     func([]string) error
	record  func(T) error // set instead of row for JSON
	End     func() error
	none    func() error // prints an empty list; nil: prints nothing
}

// NewPrinter returns a printer. shape converts a record to what --json prints. The first page records set the widths of a table.
func NewPrinter[T any](cmd *cobra.Command, o Output, columns []Column[T], shape func(T) any, page int) *Printer[T] {
	w := cmd.OutOrStdout()
	p := &Printer[T]{clean: Plain, End: func() error { return nil }}
	if o.JSON {
		p.record = func(v T) error { return EncodeJSON(w, shape(v), "") }
		return p
	}
	for _, c := range columns {
		if o.CSV || !c.Wide {
			p.columns = append(p.columns, c)
		}
	}
	header := make([]string, len(p.columns))
	long, times := make([]bool, len(p.columns)), make([]bool, len(p.columns))
	for i, c := range p.columns {
		header[i], long[i], times[i] = c.Name, c.Long, c.Time
	}
	width := TerminalWidth(w)
	switch {
	case o.CSV:
		p.clean = csvCell
		p.row = func(cells []string) error { return line(w, cells, ",") }
	case width > 0:
		t := &table{w: w, width: width, long: long, times: times, page: page + 1}
		p.row, p.End = t.row, t.flush
	default:
		p.row = func(cells []string) error { return line(w, cells, "\t") }
	}
	if !o.CSV {
		for i := range header {
			header[i] = heading(header[i])
		}
	}
	first := p.row
	p.row = func(cells []string) error { // the header comes with the first record, so that a failed command prints none
		p.row = first
		if err := first(header); err != nil {
			return err
		}
		return first(cells)
	}
	if o.CSV {
		p.none = func() error { return first(header) }
	}
	return p
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

// PrintAll prints every record of a sequence. When the sequence fails, it prints the records before the failure, and the error of a
// list of which some were printed has [ExitPartial], or [ExitInterrupted]. An error that has it already comes at the end of a list.
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

// PrintItems prints records that --json prints as they are.
func PrintItems[T any](cmd *cobra.Command, o Output, columns []Column[T], items []T) error {
	p := NewPrinter(cmd, o, columns, func(v T) any { return v }, len(items))
	for _, item := range items {
		if err := p.Print(item); err != nil {
			return err
		}
	}
	return p.End()
}

func line(w io.Writer, cells []string, separator string) error {
	_, err := fmt.Fprintln(w, strings.Join(cells, separator))
	return err
}

// csvCell returns a cell in quotes where a reader with commas or with semicolons needs them.
func csvCell(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return ' ' // these could move the cursor of a terminal, hide text or turn it around
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	s = noFormula(s)
	if strings.ContainsAny(s, "\",;\n") || strings.HasPrefix(s, " ") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// noFormula keeps a spreadsheet from reading text as a formula: the text, or a part of it. One that splits lines at semicolons
// takes a quote within a line for a letter, so an apostrophe stands before each part, and before the whole.
func noFormula(s string) string {
	var b strings.Builder
	begins, found := true, false
	for _, r := range s {
		switch {
		case r == ';' || r == '\n':
			begins = true
		case begins && strings.ContainsRune("=+-@＝＋－＠", r):
			found, begins = true, false
			b.WriteByte('\'')
		case r != ' ' && r != '"':
			begins = false
		}
		b.WriteRune(r)
	}
	if text := b.String(); found && !strings.HasPrefix(text, "'") {
		return "'" + text
	}
	return b.String()
}
