// Package redact replaces values in JSON and texts that could identify people or things, so that
// the result can be stored or shown to others. Equal values get the same replacement, so that the
// result shows which values are equal.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Replacer replaces values by invented values. Make a Replacer with [New]. A Replacer is not safe
// for concurrent use.
type Replacer struct {
	// Marks changes the replacement of numbers and booleans. By default they become 1 and false.
	// With Marks they become texts that name their type, and equal numbers become equal texts.
	Marks bool

	made  map[string]string // replacements by value
	count map[string]int    // how many replacements were made, by kind of value
}

// New returns a Replacer without replacements.
func New() *Replacer { return &Replacer{made: map[string]string{}, count: map[string]int{}} }

// constants are the texts that the service itself puts into these fields. Any other text in them is replaced.
var constants = map[string][]string{
	"webhookEvent": {
		"new_form_response", "new_signature_pdf_individual_viewed", "new_signature_pdf_individual_signed", "new_signature_pdf_completed",
		"new_template_response_individual_viewed", "new_template_response_individual_signed", "new_template_response",
	},
	"status": {
		"DRAFT", "PENDING", "VIEWED", "SIGNED", "PAID", "DECLINED", "EXPIRED", "DELETED", "VOID", "COMPLETED",
	},
	"code": {
		"invalid_input", "forbidden", "not_found", "invalid_status", "rate_limited", "method_not_allowed", "too_large",
		"unsupported_media_type",
	},
	"documentType": documentTypes,
	"signingType":  documentTypes,
	"signType":     documentTypes,
}

var documentTypes = []string{"PDF", "PDF_TEMPLATE", "FORM_TEMPLATE"}

// These fields of the wire format keep their values: the times of the service, and values that are
// not text and identify nobody.
var (
	times = []string{"viewedAt", "signedAt", "createdAt", "updatedAt", "submittedAt"}
	plain = []string{
		"isSigningOrder", "isSigningOrderData", "hasDeclined", "signingOrderNo", "isArchived", "isAllSigned", "statusCode",
		"success", "currentPage", "totalPages", "totalDocuments", "totalResponses", "hasNextPage", "hasPreviousPage",
		"documentsCount", "formCount", "totalRespondants", "totalSignedRespondants", "remindersSent",
		"total", "count", "totalCount", "totalItems", "totalElements", "page", "pages", "pageCount", "pageSize", "perPage", "limit",
		"offset", "size", "hasMore", "hasNext", "hasPrevious",
	}
)

// names are the other fields of the wire format. Any other key may contain words of a person.
var names = []string{
	"formId", "formResponseId", "formTitle", "finishedPdfUrl", "documentUrl", "respondentEmail", "response", "id", "question", "answer",
	"documentName", "documentId", "authorEmail", "signers", "viewedBy", "signedBy",
	"signerIp", "roleTitle", "roleColour", "email", "name", "signerId", "message", "error", "data", "documents", "pagination", "roles",
	"templateRespondents", "respondentsOfDoc", "respondents", "respondentDocumentId", "templateId", "ownerId", "pdfLink", "history",
	"responses", "responseId", "answers", "sentUrl", "items", "results", "records", "meta", "paging", "links", "next", "previous", "title",
	"detail", "type", "errors",
}

// JSON returns the body of a delivery or a response with its values replaced. The names of the
// fields of the wire format, the service's constants and times, and null stay. The order of fields
// does not change.
func (r *Replacer) JSON(text []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out bytes.Buffer
	if err := r.value(dec, &out, ""); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is something after the JSON value")
	}
	return out.Bytes(), nil
}

func (r *Replacer) value(dec *json.Decoder, out *bytes.Buffer, field string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		return r.list(dec, out, field, v)
	case string:
		if !slices.Contains(constants[field], v) && !(slices.Contains(times, field) && isTime(v)) {
			v = r.Text(v)
		}
		return write(out, v)
	case json.Number:
		if !slices.Contains(plain, field) || len(v) > maxDigits {
			return write(out, r.number(string(v)))
		}
		return write(out, v)
	case bool:
		if slices.Contains(plain, field) {
			return write(out, v)
		}
		if r.Marks {
			return write(out, "(boolean)")
		}
		return write(out, false)
	}
	return write(out, token)
}

func (r *Replacer) number(text string) any {
	if r.Marks {
		return r.make("\x00"+text, "number", func(n int) string { return fmt.Sprintf("(number %d)", n) })
	}
	return 1
}

// list writes the rest of an object or array.
func (r *Replacer) list(dec *json.Decoder, out *bytes.Buffer, field string, open json.Delim) error {
	out.WriteByte(byte(open))
	for first := true; dec.More(); first = false {
		if !first {
			out.WriteByte(',')
		}
		if open == '{' {
			token, err := dec.Token()
			if err != nil {
				return err
			}
			field, _ = token.(string)
			if err := write(out, r.FieldName(field)); err != nil {
				return err
			}
			out.WriteByte(':')
		}
		if err := r.value(dec, out, field); err != nil {
			return err
		}
	}
	token, err := dec.Token()
	if err == nil {
		fmt.Fprint(out, token)
	}
	return err
}

func write(out *bytes.Buffer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // removes the line end
	return nil
}

// dynamicName is the name of a filled-in field: its kind, page and label.
var dynamicName = regexp.MustCompile(`^(contact_field|text|date|name)(\(page\d{1,4}\)\[)(.*)\]$`)

// FieldName keeps the names of the wire format. It replaces the label in the name of a filled-in field, which may
// name a person.
func (r *Replacer) FieldName(name string) string {
	if m := dynamicName.FindStringSubmatch(name); m != nil {
		return m[1] + m[2] + r.Text(m[3]) + "]"
	}
	if constants[name] != nil || slices.Contains(slices.Concat(times, plain, names), name) {
		return name
	}
	return r.make(name, "field", func(n int) string { return fmt.Sprintf("field %d", n) })
}

var (
	uuidText     = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	objectIDText = regexp.MustCompile(`(?i)\b[0-9a-f]{24}\b`)
	mailText     = regexp.MustCompile(`[^\s@"<>(),:;]+@[^\s@"'<>(),:;]+`)
	urlText      = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>]*[^\s"'<>.,;:!?)]`)
	ipText       = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}\b`)
)

// kinds are the kinds of values that are recognised by their form.
var kinds = []struct {
	name  string
	form  *regexp.Regexp
	stand func(n int) string
}{
	{"url", urlText, func(n int) string { return fmt.Sprintf("https://example.com/%d", n) }},
	{"mail", mailText, func(n int) string { return fmt.Sprintf("person%d@example.com", n) }},
	{"uuid", uuidText, func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }},
	{"id", objectIDText, func(n int) string { return fmt.Sprintf("%024d", n) }},
	{"ip", ipText, func(n int) string { return fmt.Sprintf("192.0.2.%d", n%256) }},
}

// maxDigits is the largest number of digits of a number that is kept. A count has fewer digits than
// a date of birth or a telephone number.
const maxDigits = 6

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339, s)
	return err == nil
}

// Text replaces a whole string, unless it is empty.
func (r *Replacer) Text(s string) string {
	if s == "" {
		return s
	}
	for _, k := range kinds {
		if at := k.form.FindStringIndex(s); at != nil && at[0] == 0 && at[1] == len(s) {
			return r.make(s, k.name, k.stand)
		}
	}
	return r.make(s, "text", func(n int) string { return fmt.Sprintf("text %d", n) })
}

func (r *Replacer) make(value, kind string, stand func(n int) string) string {
	if made, ok := r.made[value]; ok {
		return made
	}
	r.count[kind]++
	made := stand(r.count[kind])
	r.made[value] = made
	return made
}

// Shape returns the form of a time or an id, in which each digit is a 9, such as
// 9999-99-99T99:99:99Z. For a text with other letters, it returns the length.
func Shape(s string) string {
	letter := func(c rune) bool {
		return c != 'T' && c != 'Z' && (unicode.IsLetter(c) || c > unicode.MaxASCII || c < ' ')
	}
	switch {
	case len(s) == len(uuidText.FindString(s)):
		return "a UUID"
	case len(s) == len(objectIDText.FindString(s)):
		return "24 hexadecimal digits"
	case len(s) > maxShape || strings.ContainsFunc(s, letter):
		return fmt.Sprintf("a text of %d characters", utf8.RuneCountInString(s))
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsDigit(c) {
			return '9'
		}
		return c
	}, s)
}

// maxShape is the length in bytes of the longest text that has a shape.
const maxShape = 40

// IDs replaces the ids in a path.
func (r *Replacer) IDs(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if uuidText.MatchString(part) || objectIDText.MatchString(part) {
			parts[i] = r.Text(part)
		}
	}
	return strings.Join(parts, "/")
}
