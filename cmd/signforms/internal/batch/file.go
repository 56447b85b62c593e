package batch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// File is a CSV file of receivers. All of its lines are checked before anything is sent.
type File struct {
	Name  string // for people
	Lines []Line
}

// Target identifies what is sent.
type Target struct {
	BaseURL string
	Kind    string // template or form
	ID      string
	PDF     []byte // in place of the template's own
}

// hash returns a hash of something that is sent, or of somebody who gets it. The workspace is not in it: a run that names none may
// mean the one that another names.
func (t Target) hash(of ...string) string {
	return journal.Key(append([]string{Service(t.BaseURL), t.Kind, strings.ToLower(t.ID)}, of...)...)
}

// PDFSum returns the SHA-256 of the PDF in hex.
func (t Target) PDFSum() string {
	sum := sha256.Sum256(t.PDF)
	return hex.EncodeToString(sum[:])
}

// Check refuses the file if check has something against one of its lines.
func (f *File) Check(check func(Mailing) error) error {
	var wrong []string
	for _, l := range f.Lines {
		if err := check(l.Mailing); err != nil {
			wrong = append(wrong, fmt.Sprintf("line %d: %s", l.line, err))
		}
	}
	return f.refuse(wrong, "")
}

// CheckRoles refuses roles other than these.
func (f *File) CheckRoles(titles []string) error {
	wrong := map[string][]string{}
	for _, l := range f.Lines {
		for _, r := range l.Receivers {
			if !slices.Contains(titles, r.RoleTitle) {
				wrong[r.RoleTitle] = append(wrong[r.RoleTitle], fmt.Sprintf("line %d", l.line))
			}
		}
	}
	var texts []string
	for _, role := range slices.Sorted(maps.Keys(wrong)) {
		texts = append(texts, fmt.Sprintf("%q is not a role of the template: %s", role, Named(wrong[role])))
	}
	return f.refuse(texts, fmt.Sprintf("\nIts roles are %s.", cli.Plain(strings.Join(titles, ", "))))
}

// maxWrongLines bounds how many wrong lines are named.
const maxWrongLines = 10

// refuse returns an error that names what is wrong with the file, if something is, and what to do about it.
func (f *File) refuse(wrong []string, advice string) error {
	if len(wrong) == 0 {
		return nil
	}
	if len(wrong) > maxWrongLines {
		wrong = append(wrong[:maxWrongLines:maxWrongLines], fmt.Sprintf("and %d more", len(wrong)-maxWrongLines))
	}
	return cli.UsageError("%s: nothing was sent:\n  %s%s", f.Name, strings.Join(wrong, "\n  "), advice)
}

// Items makes an item from each line. It refuses two equal lines, which the journal could not tell apart, and without
// --repeat-addresses two lines for the same person who is no counterpart: both are most likely a mistake.
func (f *File) Items(t Target, repeat bool) (items []*Item, err error) {
	first, firstFor := map[string]int{}, map[string]int{}
	var repeated []string
	pdf, counterparts := t.PDFSum(), counterparts(f.Lines)
	for _, l := range f.Lines {
		text, err := content(l.Mailing)
		if err != nil {
			return nil, err
		}
		it := &Item{Label: fmt.Sprintf("line %d", l.line), Record: Record{To: Recipients(l.Mailing)}}
		it.Key = t.hash(pdf, text)
		if earlier := first[it.Key]; earlier > 0 {
			return nil, cli.UsageError("%s: lines %d and %d are the same: remove one", f.Name, earlier, l.line)
		}
		for _, a := range it.addresses() {
			it.who = append(it.who, t.hash(a))
			if counterparts[a] {
				continue
			}
			it.own = append(it.own, t.hash(a))
			if earlier := firstFor[a]; earlier == 0 {
				firstFor[a] = l.line
			} else if earlier != l.line && !repeat {
				repeated = append(repeated, fmt.Sprintf("lines %d and %d: %s", earlier, l.line, a))
			}
		}
		first[it.Key] = l.line
		items = append(items, it)
	}
	return items, f.refuse(repeated, "\nThese have the same addresses: remove one of each, or say --repeat-addresses to send to both.")
}

// counterparts returns the addresses that are in every line in the same role, such as that of the seller to many buyers. There are
// none where some line would be for nobody else: then what is in every line is more likely repeated by mistake.
func counterparts(lines []Line) map[string]bool {
	common := map[string]bool{}
	for _, r := range lines[0].Receivers {
		lacks := func(l Line) bool {
			return !slices.ContainsFunc(l.Receivers, func(o signforms.Receiver) bool {
				return o.RoleTitle == r.RoleTitle && address(o.Email) == address(r.Email)
			})
		}
		if !slices.ContainsFunc(lines, lacks) {
			common[address(r.Email)] = true
		}
	}
	for _, l := range lines {
		if !slices.ContainsFunc(l.Receivers, func(r signforms.Receiver) bool { return !common[address(r.Email)] }) {
			return nil
		}
	}
	return common
}

// content returns what is sent to a line, whatever the order of the columns.
func content(m Mailing) (string, error) {
	m.Receivers, m.Variables = slices.Clone(m.Receivers), slices.Clone(m.Variables)
	for i := range m.Receivers {
		m.Receivers[i].Email = address(m.Receivers[i].Email)
	}
	slices.SortFunc(m.Receivers, func(a, b signforms.Receiver) int {
		return cmp.Or(cmp.Compare(a.RoleTitle, b.RoleTitle), cmp.Compare(a.Email, b.Email), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(m.Variables, func(a, b signforms.CustomVariable) int { return cmp.Compare(a.Name, b.Name) })
	text, err := json.Marshal(m)
	return string(text), err
}
