package api

import (
	"slices"
	"strings"
)

// The interface description uses these spellings in addition to the published ones.
var (
	otherLiterals = map[string]map[string]string{
		"sortOrder": {"ascending": "asc", "descending": "desc"},
		"status":    {"voided": "VOID"},
	}
	otherNames = map[string]string{"receivers": "receiversList"}
)

// literal returns the value of values that text means.
func (in *input) literal(name, text string, values []string) (string, bool) {
	if slices.Contains(values, text) {
		return text, true
	}
	other := otherLiterals[name][text]
	if !slices.Contains(values, other) {
		return "", false
	}
	in.notes = append(in.notes, "took "+name+" "+text+" for "+other)
	return other, true
}

// takeOtherNames renames fields of the body: a field with another name in the description gets the
// published name.
func (in *input) takeOtherNames() {
	for other, name := range otherNames {
		raw, given := in.body[other]
		_, both := in.body[name]
		if given && !both && slices.Contains(in.route.known, name) {
			in.body[name] = raw
			delete(in.body, other)
			in.notes = append(in.notes, "took "+other+" for "+name)
		}
	}
}

// field returns the name of an input without its path, where at is a path such as
// receiversList[0].name.
func field(at string) string { return at[strings.LastIndexByte(at, '.')+1:] }
