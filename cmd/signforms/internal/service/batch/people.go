package batch

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go"
)

// mailing is one send: the values of the flags, or a line of a CSV file.
type mailing struct {
	line      string // its number; without a file, the id of the template or form
	raw       []byte // as the file has it
	receivers []signforms.Receiver
	variables []signforms.CustomVariable
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

// readPeople reads a CSV file. It also returns the header as it is.
func (c *sendCommand) readPeople(text []byte) (people []mailing, header []byte, err error) {
	body := bytes.TrimPrefix(text, bom)
	in := newReader(body)
	names, err := in.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("its first line must name the columns, such as name,email: %w", err)
	}
	places, err := c.readHeader(names)
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
		m.read(cells, places)
		people = append(people, m)
	}
}

// place says what a column of the file holds: the name or address of a role, or a variable.
type place struct{ role, field, variable string }

var columnName = regexp.MustCompile(`^(?:(?:(.+)\.)?((?i:name|email))|(\[.+\]))$`)

func (c *sendCommand) readHeader(header []string) (places []place, err error) {
	for _, cell := range header {
		found := columnName.FindStringSubmatch(strings.TrimSpace(cell))
		if found == nil || c.form && found[1] != "" {
			return nil, fmt.Errorf("column %q: columns are name and email, [variable] and, for a template, ROLE.name "+
				"and ROLE.email", cell)
		}
		p := place{found[1], strings.ToLower(found[2]), found[3]}
		if p.variable == "" {
			p.role = cmp.Or(p.role, c.role)
		}
		switch {
		case p.variable == "" && p.role == "" && !c.form:
			return nil, fmt.Errorf("column %q has no role: name it ROLE.%s, or say --role", cell, p.field)
		case slices.Contains(places, p):
			return nil, fmt.Errorf("column %q is there twice", cell)
		}
		places = append(places, p)
	}
	return places, nil
}

func (m *mailing) read(cells []string, places []place) {
	for i, p := range places {
		if p.variable != "" {
			m.variables = append(m.variables, signforms.CustomVariable{Name: p.variable, Value: cells[i]})
			continue
		}
		at := slices.IndexFunc(m.receivers, func(r signforms.Receiver) bool { return r.RoleTitle == p.role })
		if at < 0 {
			at = len(m.receivers)
			m.receivers = append(m.receivers, signforms.Receiver{RoleTitle: p.role})
		}
		setReceiver(&m.receivers[at], p.field, strings.TrimSpace(cells[i])) // the header was checked
	}
	empty := func(r signforms.Receiver) bool { return r.Name+r.Email == "" }
	m.receivers = slices.DeleteFunc(m.receivers, empty) // a line may leave a role out
}

// setReceiver sets a field of a receiver by its name in --to and in the header of a file.
func setReceiver(r *signforms.Receiver, name, value string) error {
	fields := map[string]*string{"name": &r.Name, "email": &r.Email, "role": &r.RoleTitle, "colour": &r.RoleColour,
		"subject": &r.Subject, "message": &r.Message}
	if fields[name] == nil {
		return fmt.Errorf("%q is not one of name, email, role, colour, subject and message", name)
	}
	*fields[name] = value
	return nil
}

var plainAddress = regexp.MustCompile("^[\\w!#$%&'*+/=?^`{|}~-]+(\\.[\\w!#$%&'*+/=?^`{|}~-]+)*@[\\w-]+(\\.[\\w-]+)*$")

func notPlain(r signforms.Receiver) bool { return !plainAddress.MatchString(r.Email) }

// repeated names the lines with an address of an earlier line. The address of somebody who is in every line in the same
// role, such as the seller to many buyers, may be repeated beside others of whom this is not so.
func repeated(people []mailing) (wrong []error) {
	type who struct{ role, address string }
	times, last := map[who]int{}, map[string]string{}
	of := func(r signforms.Receiver) who { return who{r.RoleTitle, strings.ToLower(strings.TrimSpace(r.Email))} }
	for _, p := range people {
		for _, r := range p.receivers {
			times[of(r)]++
		}
	}
	common := func(r signforms.Receiver) bool { return times[of(r)] == len(people) }
	for _, p := range people {
		own := slices.ContainsFunc(p.receivers, func(r signforms.Receiver) bool { return !common(r) })
		for _, r := range p.receivers {
			w := of(r)
			if earlier := last[w.address]; earlier != "" && earlier != p.line && !(own && common(r)) {
				wrong = append(wrong, fmt.Errorf("lines %s and %s have the same address: remove one, or say "+
					"--repeat-addresses to send to both", earlier, p.line))
			}
			last[w.address] = p.line
		}
	}
	return wrong
}
