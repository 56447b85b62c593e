// Package fieldname converts the Go names of fields in errors to the names that users of a command
// line, a page or the control API know.
package fieldname

import (
	"strconv"
	"strings"
)

// Words returns the words for a field: Receivers[0].Email becomes "email of receiver 1". names has
// words for whole paths and for single names in a path. A name followed by [] is for the elements
// of a list, which are counted from 1. A name that is not in names stays unchanged, and a name with
// empty words is left out.
func Words(path string, names map[string]string) string {
	if words, known := names[path]; known {
		return words
	}
	words := ""
	for step := range strings.SplitSeq(path, ".") {
		name, index, element := strings.Cut(strings.TrimSuffix(step, "]"), "[")
		word := name
		if element {
			word = strings.TrimSpace(named(name+"[]", names) + " " + ordinal(index))
		} else {
			word = named(name, names)
		}
		if words != "" && word != "" {
			word += " of "
		}
		words = word + words
	}
	return words
}

func named(name string, names map[string]string) string {
	if word, known := names[name]; known {
		return word
	}
	return strings.TrimSuffix(name, "[]")
}

func ordinal(index string) string {
	if n, err := strconv.Atoi(index); err == nil {
		return strconv.Itoa(n + 1)
	}
	return index
}

// Path returns the path with each name replaced, such as receivers[0].email. A name that is not in
// names stays unchanged.
func Path(path string, names map[string]string) string {
	steps := strings.Split(path, ".")
	for i, step := range steps {
		name, index, element := strings.Cut(step, "[")
		steps[i] = named(name, names)
		if element {
			steps[i] += "[" + index
		}
	}
	return strings.Join(steps, ".")
}
