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

// mailing is one send: the values of the flags, or of a line of a CSV file.
type mailing struct {
	receivers []signforms.Receiver
	mail      signforms.Mail
	variables []signforms.CustomVariable
}

// person is a line of a CSV file: what is sent, and to whom.
type person struct {
	mailing
	line int
	raw  []byte // as the file has it
}

// place says what a column of the file holds: a field of the receiver with a role, or a variable.
type place struct{ role, field, variable string }

// readPeople reads CSV with a header, which it also returns as it is. It adds to each line the mail and the variables
// of all, and the default role.
func readPeople(text []byte, form bool, all mailing, role string) (people []person, header []byte, err error) {
	body := bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return nil, nil, errors.New("it is not in UTF-8: save it as CSV UTF-8")
	}
	r := csv.NewReader(bytes.NewReader(body))
	r.Comma = separator(body)
	names, err := r.Read()
	if err == io.EOF {
		err = errors.New("it is empty: the first line names the columns, such as name,email,role")
	}
	if err != nil {
		return nil, nil, err
	}
	places, err := readHeader(names, form, role)
	if err != nil {
		return nil, nil, err
	}
	header = text[:len(text)-len(body)+int(r.InputOffset())]
	for {
		begins := r.InputOffset()
		cells, err := r.Read()
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
		line, _ := r.FieldPos(0)
		people = append(people, person{readLine(cells, places, all, role), line, body[begins:r.InputOffset()]})
	}
}

// separator returns what separates the cells of the first line.
func separator(text []byte) rune {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	for _, c := range ",;\t" {
		if bytes.ContainsRune(first, c) {
			return c
		}
	}
	return ','
}

func readHeader(header []string, form bool, role string) (places []place, err error) {
	hasRole := form || role != ""
	for _, cell := range header {
		name := strings.TrimSpace(cell)
		p := place{field: strings.ToLower(name)}
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			p = place{role: name[:dot], field: strings.ToLower(name[dot+1:])}
		}
		if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
			p = place{variable: name}
		}
		isRole := p.role != "" || p.field == "role"
		switch {
		case p.variable == "" &&
			(setReceiver(&signforms.Receiver{}, p.field, "") != nil || p.role != "" && p.field == "role"):
			err = fmt.Errorf("column %q is not one of name, email, role, colour, subject, message, [variable], or "+
				"ROLE.name and the like", cell)
		case form && (isRole || p.field == "colour"):
			err = fmt.Errorf("column %q: a form has no roles", cell)
		case slices.Contains(places, p):
			err = fmt.Errorf("column %q is there twice", cell)
		}
		if err != nil {
			return nil, err
		}
		hasRole = hasRole || isRole
		places = append(places, p)
	}
	if !hasRole {
		return nil, errors.New("it has no column role: add one, or say --role for all lines")
	}
	return places, nil
}

func readLine(cells []string, places []place, all mailing, role string) mailing {
	m := mailing{mail: all.mail, variables: slices.Clone(all.variables)}
	var roles []string
	receivers := map[string]*signforms.Receiver{}
	for i, p := range places {
		if p.variable != "" {
			m.variables = slices.DeleteFunc(m.variables, func(v signforms.CustomVariable) bool { return v.Name == p.variable })
			m.variables = append(m.variables, signforms.CustomVariable{Name: p.variable, Value: cells[i]})
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
			setReceiver(r, p.field, strings.TrimSpace(cells[i])) // the header was checked
		}
	}
	for _, name := range roles {
		if r := receivers[name]; len(roles) == 1 || r.Name != "" || r.Email != "" { // a line may leave a role out
			m.receivers = append(m.receivers, *r)
		}
	}
	return m
}

// setReceiver sets a field of a receiver by its name in flags and CSV headers.
func setReceiver(r *signforms.Receiver, name, value string) error {
	fields := map[string]*string{"name": &r.Name, "email": &r.Email, "role": &r.RoleTitle, "colour": &r.RoleColour,
		"subject": &r.Subject, "message": &r.Message}
	if fields[name] == nil {
		return fmt.Errorf("%q is not one of name, email, role, colour, subject and message", name)
	}
	*fields[name] = value
	return nil
}

// maxWrong bounds how many wrong lines are named.
const maxWrong = 10

// refuse returns an error that names what is wrong with a file, if something is.
func refuse(file string, wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	if more := len(wrong) - maxWrong; more > 0 {
		wrong = append(wrong[:maxWrong:maxWrong], fmt.Sprintf("and %d more", more))
	}
	return cli.UsageError("%s: nothing was sent:\n  %s", file, strings.Join(wrong, "\n  "))
}

func address(r signforms.Receiver) string { return strings.ToLower(strings.TrimSpace(r.Email)) }

// repeated names lines that have an address in common, except one that is in every line in the same role, such as
// that of the seller to many buyers. Where some line would be for nobody else, none is excepted.
func repeated(people []person) (wrong []string) {
	common := map[string]bool{}
	for _, r := range people[0].receivers {
		common[address(r)] = !slices.ContainsFunc(people, func(p person) bool {
			return !slices.ContainsFunc(p.receivers, func(o signforms.Receiver) bool {
				return o.RoleTitle == r.RoleTitle && address(o) == address(r)
			})
		})
	}
	if slices.ContainsFunc(people, func(p person) bool {
		return !slices.ContainsFunc(p.receivers, func(r signforms.Receiver) bool { return !common[address(r)] })
	}) {
		clear(common)
	}
	first := map[string]int{}
	for _, p := range people {
		for _, r := range p.receivers {
			earlier := first[address(r)]
			switch {
			case common[address(r)]:
			case earlier == 0:
				first[address(r)] = p.line
			case earlier != p.line:
				wrong = append(wrong, fmt.Sprintf("lines %d and %d have the same address: remove one, or say "+
					"--repeat-addresses to send to both", earlier, p.line))
			}
		}
	}
	return wrong
}
