package batch

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Mailing is one send: the values of the flags, or of a line of a CSV file.
type Mailing struct {
	Receivers []signforms.Receiver       `json:"receivers"`
	Mail      signforms.Mail             `json:"mail"`
	Variables []signforms.CustomVariable `json:"variables"`
}

// Line is a line of a CSV file: what is sent, and to whom.
type Line struct {
	Mailing
	line int
}

// place says what a column of the file holds: a field of the receiver with a role, or a variable.
type place struct {
	role     string // empty: the role of the line
	field    string
	variable string
}

// ReadFile reads CSV with a header. It adds to each line the mail and the variables of all, and the default role. The lines of a form
// have no roles. The name is for people.
func ReadFile(name string, text []byte, form bool, all Mailing, role string) (*File, error) {
	lines, err := readLines(text, form, all, role)
	if err != nil {
		return nil, cli.UsageError("%s: %w", name, err)
	}
	return &File{name, lines}, nil
}

func readLines(text []byte, form bool, all Mailing, role string) ([]Line, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("is not in UTF-8: save it as CSV UTF-8")
	}
	if bytes.IndexByte(text, '\n') < 0 {
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	comma, text := separator(text)
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = comma
	header, err := r.Read()
	if err == io.EOF {
		return nil, errors.New("is empty: the first line names the columns, such as name,email,role")
	}
	if err != nil {
		return nil, err
	}
	places, err := readHeader(header, form)
	if err != nil {
		return nil, err
	}
	var lines []Line
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(strings.Join(cells, "")) == "" { // spreadsheets write such lines
			continue
		}
		line, _ := r.FieldPos(0)
		lines = append(lines, Line{readLine(cells, places, all, role), line})
	}
	if len(lines) == 0 {
		return nil, errors.New("has no line below its header")
	}
	if !form && role == "" && !slices.ContainsFunc(places, func(p place) bool { return p.role != "" || p.field == "role" }) {
		return nil, errors.New("has no column role: add one, or say --role for all lines")
	}
	return lines, nil
}

// separator returns what separates the cells. It removes a first line such as sep=; by which a file says so to a spreadsheet, but not
// the end of that line.
func separator(text []byte) (rune, []byte) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if said, ok := bytes.CutPrefix(bytes.TrimRight(first, "\r"), []byte("sep=")); ok && len(said) == 1 && strings.Contains(",;\t", string(said)) {
		return rune(said[0]), text[len("sep=;"):]
	}
	for _, c := range ",;\t" {
		if bytes.ContainsRune(first, c) {
			return c, text
		}
	}
	return ',', text
}

func readHeader(header []string, form bool) ([]place, error) {
	var places []place
	for _, cell := range header {
		p, err := readColumn(strings.TrimSpace(cell))
		if err == nil && form && (p.role != "" || p.field == "role" || p.field == "colour") {
			err = fmt.Errorf("column %q: a form has no roles", cell)
		}
		if err == nil && slices.Contains(places, p) {
			err = fmt.Errorf("column %q is there twice", cell)
		}
		if err != nil {
			return nil, err
		}
		places = append(places, p)
	}
	return places, nil
}

func readColumn(name string) (place, error) {
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		return place{variable: name}, nil
	}
	p := place{field: strings.ToLower(name)}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		p = place{role: name[:dot], field: strings.ToLower(name[dot+1:])}
	}
	if p.field == "e-mail" {
		p.field = "email"
	}
	if err := SetReceiver(&signforms.Receiver{}, p.field, ""); err != nil || p.role != "" && p.field == "role" {
		return place{}, fmt.Errorf("column %q is not one of name, email, role, colour, subject, message, [variable], or ROLE.name and the like", name)
	}
	return p, nil
}

func readLine(cells []string, places []place, all Mailing, role string) Mailing {
	m := Mailing{Mail: all.Mail, Variables: slices.Clone(all.Variables)}
	var roles []string
	receivers := map[string]*signforms.Receiver{}
	for i, p := range places {
		if p.variable != "" {
			m.setVariable(p.variable, cells[i])
			continue
		}
		r := receivers[p.role]
		if r == nil {
			r = &signforms.Receiver{RoleTitle: p.role}
			if p.role == "" {
				r.RoleTitle = role
			}
			receivers[p.role] = r
			roles = append(roles, p.role)
		}
		if p.field != "role" || cells[i] != "" {
			SetReceiver(r, p.field, strings.TrimSpace(cells[i])) // the header was checked
		}
	}
	for _, name := range roles {
		if r := receivers[name]; len(roles) == 1 || r.Name != "" || r.Email != "" { // a line may leave a role out
			m.Receivers = append(m.Receivers, *r)
		}
	}
	return m
}

// setVariable sets a variable of the line. It overrides the value for all lines.
func (m *Mailing) setVariable(name, value string) {
	for i, v := range m.Variables {
		if v.Name == name {
			m.Variables[i].Value = value
			return
		}
	}
	m.Variables = append(m.Variables, signforms.CustomVariable{Name: name, Value: value})
}

// SetReceiver sets a field of a receiver by its name in flags and CSV headers.
func SetReceiver(r *signforms.Receiver, name, value string) error {
	switch name {
	case "name":
		r.Name = value
	case "email":
		r.Email = value
	case "role":
		r.RoleTitle = value
	case "colour":
		r.RoleColour = value
	case "subject":
		r.Subject = value
	case "message":
		r.Message = value
	default:
		return fmt.Errorf("%q is not one of name, email, role, colour, subject and message", name)
	}
	return nil
}
