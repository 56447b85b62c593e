package signforms

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// This file writes inputs as an Endpoint says: names, literals, times and page numbers.

// Words for Endpoint.TimeLayout that package time has no layout for.
const (
	UnixSeconds      = "unix"
	UnixMilliseconds = "unixmilli"
)

const dataURL = "data:application/pdf;base64,"

// literals lists the values of the inputs that have a fixed set of them. Of pdfData it is what the text begins with.
var literals = map[string][]string{
	"documentType": {string(TypePDF), string(TypePDFTemplate)},
	"signingType":  {string(TypePDFTemplate), string(typeForm)},
	"status":       statusTexts(),
	"archive":      {"true", "false"},
	"sortOrder":    {string(OldestFirst), string(NewestFirst)},
	"pdfData":      {dataURL},
}

func statusTexts() (texts []string) {
	for _, s := range DocumentStatuses() {
		texts = append(texts, string(s))
	}
	return texts
}

// respelled reports whether any input is written in another way than by default.
func (e *Endpoint) respelled() bool {
	return len(e.Names) > 0 || len(e.Values) > 0 || e.TimeLayout != "" || e.PagesFromZero
}

// named returns what the service calls an input, at its own level.
func (e *Endpoint) named(input string) string {
	return cmp.Or(e.Names[input], input[strings.LastIndexByte(input, '.')+1:])
}

// literal returns how the service writes the text of an input.
func (e *Endpoint) literal(input, text string) string {
	if input == "pdfData" {
		if prefix, ok := e.Values[input][dataURL]; ok {
			return prefix + strings.TrimPrefix(text, dataURL)
		}
	}
	return cmp.Or(e.Values[input][text], text)
}

// written returns the inputs as the service writes them, still by the names used here.
func (e *Endpoint) written(in inputs) inputs {
	in = slices.Clone(in)
	for i := range in {
		input := &in[i]
		switch {
		case e.Values[input.name] != nil:
			input.text = e.literal(input.name, input.text)
			input.quoted = input.quoted || !isScalar(input.text)
		case input.name == "page" && e.PagesFromZero:
			page, _ := strconv.Atoi(input.text)
			input.text = strconv.Itoa(page - 1)
		case e.TimeLayout != "" && (input.name == "dateFrom" || input.name == "dateTo"):
			t, _ := time.Parse(wireTime, input.text)
			input.text = e.timeText(t, input.name == "dateTo")
			input.quoted = e.TimeLayout != UnixSeconds && e.TimeLayout != UnixMilliseconds
		}
	}
	return in
}

// isScalar reports whether a text is a number or a boolean in JSON.
func isScalar(text string) bool {
	return json.Valid([]byte(text)) && !strings.ContainsAny(text[:1], `"[{n`)
}

// rename gives the inputs the service's names.
func (e *Endpoint) rename(in inputs) {
	for i := range in {
		in[i].name = e.named(in[i].name)
	}
}

// body returns the JSON of a nested body with the service's names and literals.
func (e *Endpoint) body(b any) ([]byte, error) {
	encoded, err := json.Marshal(b)
	if err != nil || !e.respelled() {
		return encoded, err
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return nil, err
	}
	return json.Marshal(e.nested("", decoded))
}

// nested returns a decoded value with the service's names and literals. input is its name here, with those around it.
func (e *Endpoint) nested(input string, value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = e.nested(input, v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			name = strings.TrimPrefix(input+"."+name, ".")
			out[e.named(name)] = e.nested(name, field)
		}
		return out
	case string:
		return e.literal(input, v)
	}
	return value
}

// timeText writes a time. An upper end is rounded up to what the layout can say, except to another day.
func (e *Endpoint) timeText(t time.Time, upper bool) string {
	unit := layoutUnit(e.TimeLayout)
	if cut := t.Truncate(unit); upper && unit < 24*time.Hour && cut.Before(t) {
		t = cut.Add(unit)
	}
	return formatTime(e.TimeLayout, t)
}

func formatTime(layout string, t time.Time) string {
	switch layout {
	case UnixSeconds:
		return strconv.FormatInt(t.Unix(), 10)
	case UnixMilliseconds:
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	return t.UTC().Format(layout)
}

// layoutUnit returns the smallest time that a layout can tell apart, from a millisecond to a day, and 0 if it loses more than
// the end of a time.
func layoutUnit(layout string) time.Duration {
	switch layout {
	case UnixSeconds:
		return time.Second
	case UnixMilliseconds:
		return time.Millisecond
	}
	moment := time.Date(2029, time.November, 22, 13, 14, 15, 678_000_000, time.UTC)
	back, err := time.Parse(layout, moment.Format(layout))
	for _, unit := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		if err == nil && back.Equal(moment.Truncate(unit)) {
			return unit
		}
	}
	return 0
}

// spellingProblems says what is wrong with how e writes inputs. o is the operation with e in place.
func (o *operation) spellingProblems(op Operation, e Endpoint) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	inputs := slices.Concat(o.inputs, o.others)
	for _, input := range slices.Sorted(maps.Keys(e.Names)) {
		name := e.Names[input]
		switch {
		case !slices.Contains(inputs, input):
			say("Names holds %q, which is not an input; it may hold %s", input, strings.Join(inputs, ", "))
		case name == "" || strings.ContainsFunc(name, unwritable):
			say("Names[%q] is %q: a name must not be empty, nor hold blanks or what cannot be printed", input, name)
		case op == OpSend && strings.Contains(name, "."):
			say("Names[%q] is %q: write its last name only, as the fields around it are named by their own entries", input, name)
		}
	}
	for _, input := range slices.Sorted(maps.Keys(e.Values)) {
		if !slices.Contains(inputs, input) || literals[input] == nil {
			with := slices.DeleteFunc(slices.Clone(inputs), func(name string) bool { return literals[name] == nil })
			say("Values holds %q, which has no literals here; it may hold %s", input, cmp.Or(strings.Join(with, ", "), "nothing"))
			continue
		}
		problems = append(problems, e.valueProblems(input)...)
	}
	if e.TimeLayout != "" && !slices.Contains(inputs, "dateFrom") {
		say("TimeLayout: this operation has no times: leave it empty")
	} else if strings.ContainsFunc(e.TimeLayout, func(r rune) bool { return r != ' ' && unwritable(r) }) {
		say("TimeLayout %q holds what cannot be printed", e.TimeLayout)
	} else if e.TimeLayout != "" && layoutUnit(e.TimeLayout) == 0 {
		say("TimeLayout %q cannot be read back as a day or a time: use a layout of package time, %q or %q", e.TimeLayout, UnixSeconds, UnixMilliseconds)
	}
	if e.PagesFromZero && !slices.Contains(inputs, "page") {
		say("PagesFromZero: this operation has no pages: leave it false")
	}
	return append(problems, e.doubleNames(inputs)...)
}

func unwritable(r rune) bool {
	return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar
}

// valueProblems says what is wrong with the literals of an input.
func (e *Endpoint) valueProblems(input string) (problems []string) {
	for _, ours := range slices.Sorted(maps.Keys(e.Values[input])) {
		theirs := e.Values[input][ours]
		switch {
		case !slices.Contains(literals[input], ours):
			problems = append(problems, fmt.Sprintf("Values[%q] holds %q, which is not a literal of this SDK; it may hold %s",
				input, ours, strings.Join(literals[input], ", ")))
		case theirs == "" && input != "pdfData" || strings.ContainsFunc(theirs, unwritable):
			problems = append(problems, fmt.Sprintf("Values[%q][%q] is %q: a literal must not be empty, nor hold blanks or what cannot be printed",
				input, ours, theirs))
		}
	}
	seen := map[string]string{}
	for _, ours := range literals[input] {
		theirs := e.literal(input, ours)
		if first, ok := seen[theirs]; ok {
			problems = append(problems, fmt.Sprintf("Values[%q]: %s and %s would both be written %q", input, first, ours, theirs))
		}
		seen[theirs] = ours
	}
	return problems
}

// doubleNames says which inputs would get one name at one level.
func (e *Endpoint) doubleNames(inputs []string) (problems []string) {
	seen := map[string]string{}
	for _, input := range inputs {
		level := input[:strings.LastIndexByte(input, '.')+1]
		name := e.named(input)
		if first, ok := seen[level+name]; ok {
			problems = append(problems, fmt.Sprintf("Names: %s and %s would both be called %q", first, input, name))
		}
		seen[level+name] = input
	}
	return problems
}
