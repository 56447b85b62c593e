package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
)

// came describes a response: its status and type, the number and the place of its records, and the
// values of some of their fields. It also returns the beginning of the body, with all identifying
// values replaced.
func (r *run) came(x *exchange, of shown) (text, body string) {
	if x.status == 0 {
		return "no answer", ""
	}
	text = strings.TrimSpace(fmt.Sprintf("%d %s", x.status, http.StatusText(x.status)))
	switch {
	case x.cut:
		return fmt.Sprintf("%s, cut off after %d bytes", text, len(x.body)), ""
	case len(x.body) == mostBody:
		return fmt.Sprintf("%s, read only to %d MiB", text, mostBody>>20), ""
	case len(x.body) == 0:
		return text + ", no body", ""
	}
	plain := bytes.TrimPrefix(x.body, []byte("\ufeff")) // some services write a byte order mark first
	redacted, err := r.redact.JSON(plain)
	if err != nil {
		return fmt.Sprintf("%s, %d bytes of %s that are not JSON", text, len(x.body), mediaType(x.contentType)), ""
	}
	whole, raw := decoded(redacted), decoded(plain)
	name, records := list(whole, func(key string) string { return key })
	_, rawRecords := list(raw, r.redact.FieldName)
	switch {
	case x.status/100 != 2:
		records = nil
	case records == nil:
		text += ", no list of records"
	default:
		text += fmt.Sprintf(", %s %s", count(len(records), "record"), name)
	}
	if len(records) > 0 {
		if of.shapes {
			records = rawRecords
		}
		for _, field := range of.fields {
			text += "; " + values(field, records, of.shapes)
		}
	}
	if scalars := scalars(whole, ""); len(scalars) > 0 && (records == nil || of.outside) {
		if more := len(scalars) - mostScalars; more > 0 {
			scalars = append(scalars[:mostScalars], fmt.Sprintf("and %d more", more))
		}
		text += "; beside: " + strings.Join(scalars, ", ")
	}
	return text, indented(whole)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func decoded(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil { // cannot happen: the body was decoded before
		return nil
	}
	return value
}

// lists are the names of the service's lists. An object in place of a list counts as a list with
// one element, as in the SDK.
var lists = []string{"documents", "respondents", "responses"}

// list returns the first list of a response and its path, with redacted names of fields. The list
// is nil if the response has none.
func list(value any, redacted func(key string) string) (name string, records []any) {
	switch v := value.(type) {
	case []any:
		return "in the answer itself", append([]any{}, v...)
	case map[string]any:
		keys := slices.SortedFunc(maps.Keys(v), func(a, b string) int { return cmp.Compare(redacted(a), redacted(b)) })
		for _, key := range keys {
			if l, ok := v[key].([]any); ok {
				return "in " + key, append([]any{}, l...)
			}
			if one, ok := v[key].(map[string]any); ok && slices.Contains(lists, key) {
				return "in " + key + ", which is an object", []any{one}
			}
		}
		for _, key := range keys {
			if inner, ok := v[key].(map[string]any); ok {
				if name, l := list(inner, redacted); l != nil {
					return name + " of " + key, l
				}
			}
		}
	}
	return "", nil
}

// mostValues is how many values of a field are printed at most.
const mostValues = 5

// values returns the values of a field in the order of the records. Equal adjacent values are
// printed once, with their number. It also prints how many records lack the field, and the last
// value. With shapes, it prints the forms of the values.
func values(field string, records []any, shapes bool) string {
	var texts []string
	var times []int // how often each text occurs in a row
	lacking := 0
	for _, record := range records {
		object, _ := record.(map[string]any)
		value, there := object[field]
		if !there {
			lacking++
			continue
		}
		text := fmt.Sprint(value)
		switch v := value.(type) {
		case nil:
			text = "null"
		case []any, map[string]any:
			text = "an object or a list"
		case bool:
			if shapes {
				text = "a boolean"
			}
		case json.Number:
			if shapes {
				text = "the number " + redact.Shape(text)
			}
		case string:
			if v == "" {
				text = "an empty text"
			} else if shapes {
				text = redact.Shape(text)
			}
		}
		if n := len(texts); n == 0 || texts[n-1] != text {
			texts, times = append(texts, text), append(times, 0)
		}
		times[len(times)-1]++
	}
	for i, n := range times {
		if n > 1 {
			texts[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	if n := len(texts); n > mostValues {
		last := texts[n-1]
		texts = append(texts[:mostValues-1:mostValues-1], fmt.Sprintf("… %s, %d changes in all", last, n-1))
	}
	if lacking > 0 {
		texts = append(texts, "none in "+count(lacking, "record"))
	}
	return field + " " + strings.Join(texts, ", ")
}

// mostScalars is how many values next to a list are printed at most.
const mostScalars = 100

// scalars returns the values next to the list, such as pagination.totalPages 3.
func scalars(value any, prefix string) (all []string) {
	object, _ := value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch v := object[key].(type) {
		case map[string]any:
			all = append(all, scalars(v, prefix+key+".")...)
		case []any:
		case nil:
			all = append(all, prefix+key+" null")
		default:
			all = append(all, fmt.Sprintf("%s%s %v", prefix, key, v))
		}
	}
	return all
}

// mostIndented is how many bytes of a body a report contains at most.
const mostIndented = 2000

// indented returns a response as indented JSON, with its lists cut to two values.
func indented(value any) string {
	text, _ := json.MarshalIndent(shortened(value), "", "  ") // cannot fail for a decoded value
	if len(text) > mostIndented {
		return strings.ToValidUTF8(string(text[:mostIndented]), "") + " …"
	}
	return string(text)
}

func shortened(value any) any {
	switch v := value.(type) {
	case []any:
		short := []any{}
		for _, one := range v[:min(len(v), 2)] {
			short = append(short, shortened(one))
		}
		if more := len(v) - len(short); more > 0 {
			short = append(short, fmt.Sprintf("(and %d more)", more))
		}
		return short
	case map[string]any:
		short := map[string]any{}
		for key, one := range v {
			short[key] = shortened(one)
		}
		return short
	}
	return value
}
