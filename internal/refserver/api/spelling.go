package api

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// How inputs are spelled: by default as published, or as a Route says.

var position = regexp.MustCompile(`\[\d+\]`)

// called returns the service's name of an input, without what is around it. at is its documented name with that, such as
// receiversList[0].name.
func (rt *Route) called(at string) string {
	if len(rt.Names) > 0 {
		at = position.ReplaceAllString(at, "")
	}
	return cmp.Or(rt.Names[at], at[strings.LastIndexByte(at, '.')+1:])
}

func (in *input) called(at string) string { return in.route.called(at) }

// spelled returns at with the service's names, for messages.
func (in *input) spelled(at string) string {
	if len(in.route.Names) == 0 {
		return at
	}
	var around, spelled []string
	for part := range strings.SplitSeq(at, ".") {
		around = append(around, part)
		spelled = append(spelled, in.called(strings.Join(around, "."))+position.FindString(part))
	}
	return strings.Join(spelled, ".")
}

// literals returns how the service writes the values of an input.
func (in *input) literals(name string, values []string) []string {
	spelled := slices.Clone(values)
	for i, v := range values {
		if s, ok := in.route.Literals[name][v]; ok {
			spelled[i] = s
		}
	}
	return spelled
}

// The interface description uses these spellings beside the published ones.
var (
	otherLiterals = map[string]map[string]string{
		"sortOrder": {"ascending": "asc", "descending": "desc"},
		"status":    {"voided": "VOID"},
	}
	otherNames = map[string]string{"receivers": "receiversList"}
)

// literal returns which of the values of an input a text is.
func (in *input) literal(name, text string, values []string) (string, bool) {
	if i := slices.Index(in.literals(name, values), text); i >= 0 {
		return values[i], true
	}
	other := otherLiterals[name][text]
	if in.route.Literals[name] != nil || !slices.Contains(values, other) {
		return "", false
	}
	in.notes = append(in.notes, "took "+name+" "+text+" for "+other)
	return other, true
}

// takeOtherNames gives the fields of the body that have another name of the description the published one.
func (in *input) takeOtherNames() {
	for other, name := range otherNames {
		raw, given := in.body[other]
		_, both := in.body[name]
		if given && !both && in.route.Names[name] == "" && slices.Contains(in.route.known, name) {
			in.body[name] = raw
			delete(in.body, other)
			in.notes = append(in.notes, "took "+other+" for "+name)
		}
	}
}
