package batch

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

// mailing is one send, which the arguments describe or, with --csv, a line of the file.
type mailing struct {
	line      string // number of the line; without a file, the id of the template or form
	raw       []byte // the bytes of the line in the file
	receivers []signforms.Receiver
	variables []signforms.Variable
}

var bom = []byte("\ufeff")

// newReader reads CSV as spreadsheets write it, with or without a byte order mark.
func newReader(text []byte) *csv.Reader {
	text = bytes.TrimPrefix(text, bom)
	first, _, _ := bytes.Cut(text, []byte("\n"))
	in := csv.NewReader(bytes.NewReader(text))
	if i := bytes.IndexAny(first, ",;\t"); i >= 0 {
		in.Comma = rune(first[i])
	}
	return in
}

// readPeople reads a CSV file. It also returns the header unchanged.
func (c *sendCommand) readPeople(text []byte) (people []mailing, header []byte, err error) {
	if bytes.IndexByte(text, 0) >= 0 || bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, nil, errors.New("it is UTF-16, or has a NUL character: save it as UTF-8, in Excel as \"CSV UTF-8\"")
	}
	body := bytes.TrimPrefix(text, bom)
	in := newReader(body)
	names, err := in.Read()
	if err == nil && len(names) == 2 && strings.EqualFold(names[0], "sep=") && names[1] == "" { // a line for Excel
		in.FieldsPerRecord = 0
		names, err = in.Read()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("its first line must name the columns: %w", err)
	}
	columns, err := c.columns(names)
	if err != nil {
		return nil, nil, err
	}
	header = text[:len(text)-len(body)+int(in.InputOffset())]
	for {
		begins := in.InputOffset()
		cells, err := in.Read()
		switch {
		case err == io.EOF && len(people) == 0:
			return nil, nil, errors.New("it has no line below its header")
		case err == io.EOF:
			return people, header, nil
		case err != nil:
			return nil, nil, err
		case strings.TrimSpace(strings.Join(cells, "")) == "": // spreadsheets write such lines
			continue
		}
		line, _ := in.FieldPos(0)
		m := mailing{line: strconv.Itoa(line), raw: body[begins:in.InputOffset()]}
		m.read(cells, columns)
		people = append(people, m)
	}
}

// columnName matches the name of a column. For a receiver, it finds the role, and name or email.
// For a variable, it finds neither.
var columnName = regexp.MustCompile(`^(?:(?:(.+)\.)?((?i:name|email))|\[.+\])$`)

// columns returns the matches of columnName in each cell of the header.
func (c *sendCommand) columns(header []string) (columns [][]string, err error) {
	for _, cell := range header {
		found := columnName.FindStringSubmatch(strings.TrimSpace(cell))
		if found == nil || found[2] != "" && (found[1] == "") != c.form {
			return nil, fmt.Errorf("column %q: the columns are ROLE.name and ROLE.email, such as Buyer.name, for a form "+
				"name and email, and [variable]", cell)
		}
		same := func(other []string) bool { return strings.EqualFold(other[0], found[0]) }
		if slices.ContainsFunc(columns, same) {
			return nil, fmt.Errorf("column %q is there twice", cell)
		}
		columns = append(columns, found)
	}
	return columns, nil
}

func (m *mailing) read(cells []string, columns [][]string) {
	for i, column := range columns {
		name, role, field := column[0], column[1], strings.ToLower(column[2])
		if field == "" {
			m.variables = append(m.variables, signforms.Variable{Name: name, Value: cells[i]})
			continue
		}
		at := slices.IndexFunc(m.receivers, func(r signforms.Receiver) bool { return r.RoleTitle == role })
		if at < 0 {
			at = len(m.receivers)
			m.receivers = append(m.receivers, signforms.Receiver{RoleTitle: role})
		}
		if cell := strings.TrimSpace(cells[i]); field == "name" {
			m.receivers[at].Name = cell
		} else {
			m.receivers[at].Email = cell
		}
	}
	empty := func(r signforms.Receiver) bool { return r.Name+r.Email == "" }
	m.receivers = slices.DeleteFunc(m.receivers, empty) // a line need not fill every role
}

var plainAddress = regexp.MustCompile("^[\\w!#$%&'*+/=?^`{|}~-]+(\\.[\\w!#$%&'*+/=?^`{|}~-]+)*@[\\w-]+(\\.[\\w-]+)*$")

// wrongLines returns an error for each invalid line, as far as this is known without sending it.
func (c *sendCommand) wrongLines(people []mailing) (wrong []error) {
	strange := func(r signforms.Receiver) bool { return !plainAddress.MatchString(r.Email) } // the address may belong to another line
	for _, p := range people {
		err := c.template(p).Validate()
		if c.form {
			err = c.toForm(p).Validate()
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %s: %s", p.line, service.WrongInputs(err)))
		} else if slices.ContainsFunc(p.receivers, strange) {
			wrong = append(wrong, fmt.Errorf("line %s: an email is no plain address such as ann@example.com", p.line))
		}
	}
	if !c.repeat {
		wrong = append(wrong, repeated(people)...)
	}
	return wrong
}

// repeated returns an error for each line with an address of an earlier line. A person who has the
// same role in every line, and no other role, is not counted if the line has other people. An
// example is the seller to many buyers.
func repeated(people []mailing) (wrong []error) {
	type who struct{ role, address string }
	of := func(r signforms.Receiver) who { return who{r.RoleTitle, strings.ToLower(r.Email)} }
	times, all, earlier := map[who]int{}, map[string]int{}, map[string]string{}
	for _, p := range people {
		for _, r := range p.receivers {
			times[of(r)]++
			all[of(r).address]++
		}
	}
	for _, p := range people {
		common := func(r signforms.Receiver) bool {
			return times[of(r)] == len(people) && all[of(r).address] == len(people)
		}
		own := slices.DeleteFunc(slices.Clone(p.receivers), common)
		if len(own) == 0 {
			own = p.receivers
		}
		for _, r := range own {
			address := of(r).address
			if line := earlier[address]; line != "" {
				wrong = append(wrong, fmt.Errorf("lines %s and %s have the same address: remove one, or say "+
					"--repeat-addresses to send to both", line, p.line))
			}
			earlier[address] = p.line
		}
	}
	return wrong
}
