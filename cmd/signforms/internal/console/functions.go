package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// functions are the functions that templates can call.
var functions = template.FuncMap{
	"base":      func() string { return Prefix }, // New replaces this function
	"at":        at,
	"precisely": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 UTC") },
	"body":      body,
	"header":    header,
	"class":     class,
	"join":      strings.Join,
	"name":      name,
	"escaped":   escaped,
	"events":    events,
	"word":      statusWord,
	"title":     func(v any) string { return fmt.Sprint(v) },
	"first":     first,
	"lower":     func(v any) string { return strings.ToLower(fmt.Sprint(v)) },
	"add":       func(a, b int) int { return a + b },
	"dict":      dict,
	"sections":  func() []string { return sections },
	"kinds":     fieldKinds,
	"megabytes": func() int { return pdf.MaxSize / 1_000_000 },
	"url":       func(l refserver.Link) string { return string(l) }, // a template prints a link as "[redacted]"
}

// sections are the entries of the menu. In lower case, an entry is the path of its page, except for
// the first entry, and the name of its icon.
var sections = []string{"Overview", "Documents", "Templates", "Forms", "Webhooks", "Deliveries", "Requests", "Messages", "Clock", "Faults", "Settings"}

// fieldKinds returns the kinds of fields of a template.
func fieldKinds() []refserver.FieldKind {
	return []refserver.FieldKind{
		refserver.SignatureField, refserver.InitialsField, refserver.TextField, refserver.DateField, refserver.CheckboxField,
	}
}

// dict makes a map from alternating names and values, for a template that needs more than one value.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// at formats a time. It formats the zero time as a dash.
func at(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// name shows a text that a person chose. The writing direction of the text does not affect the text
// around it.
func name(text string) template.HTML {
	return template.HTML("<bdi>" + template.HTMLEscapeString(escaped(text)) + "</bdi>")
}

// first shows the first word of a name, at most 30 characters.
func first(text string) template.HTML {
	words := append(strings.Fields(text), "this signer")
	short := []rune(words[0])
	return name(string(short[:min(len(short), 30)]))
}

// escaped replaces each character that can hide the spelling of a text with its Go escape. Tabs and
// line breaks stay.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		if hides(r) && r != '\t' && r != '\r' && r != '\n' {
			quoted := strconv.QuoteRuneToASCII(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// hides reports whether a character can hide the spelling of a text: a control character, or a
// character that changes the writing direction.
func hides(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// events shows names of events, in which lines break only after underscores. names is one name or a
// list of names.
func events(names any) template.HTML {
	text, isList := names.([]string)
	if !isList {
		text = []string{fmt.Sprint(names)}
	}
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(strings.Join(text, ", ")), "_", "_<wbr>"))
}

// statusWord returns the word of the pages for a status.
func statusWord(status any) string {
	if status == refserver.DeliveryDead {
		return "given up"
	}
	return fmt.Sprint(status)
}

// shownBody is how many bytes of a body a page shows.
const shownBody = 16 << 10

// body formats a body. It indents JSON. For bytes that are not text, it shows only the size.
func body(data []byte) string {
	if len(data) == 0 {
		return "(empty)"
	}
	if !utf8.Valid(data) {
		return fmt.Sprintf("(%d bytes that are not text)", len(data))
	}
	var indented bytes.Buffer
	if json.Indent(&indented, data, "", "  ") == nil {
		data = indented.Bytes()
	}
	if len(data) > shownBody {
		return strings.ToValidUTF8(string(data[:shownBody]), "") + fmt.Sprintf("\n… and %d bytes more", len(data)-shownBody)
	}
	return string(data)
}

// header formats header fields, sorted by name.
func header(h http.Header) string {
	var lines []string
	for name, values := range h {
		for _, value := range values {
			lines = append(lines, name+": "+strings.ToValidUTF8(value, "\ufffd"))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// class returns the CSS class for the colour of a status. The record may be of any kind.
func class(status any) string {
	switch strings.ToLower(fmt.Sprint(status)) {
	case "signed", "paid", "delivered", "enabled", "made":
		return "good"
	case "declined", "void", "deleted", "dead", "failed", "expired":
		return "bad"
	case "pending", "sending", "viewed":
		return "warn"
	}
	if code, err := strconv.Atoi(fmt.Sprint(status)); err == nil {
		switch {
		case code >= 200 && code < 300:
			return "good"
		case code == 0 || code >= 400:
			return "bad"
		}
	}
	return "soft"
}
