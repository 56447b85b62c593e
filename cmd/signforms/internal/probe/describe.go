package probe

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// This file says what may leave the machine: only what is on a list of values known to be harmless. Everything else is described.

// foreign is a text of the service.
type foreign string

// word is a status or a code. Other texts may identify somebody.
var word = regexp.MustCompile(`^\pL[\pL_. -]{0,34}\d{0,5}$`)

// clean returns the text for a terminal.
func (f foreign) clean() string {
	if text := string(f); f == "" || word.MatchString(text) {
		return ifThen(f == "", "none", text)
	}
	return Describe(string(f))
}

// harmless are the names and values of the wire format, and those that probe tries itself.
var harmless = slices.Concat(documentFields, templateFields, listFields, knownStatuses, knownCodes, []string{
	"name", "signType", "isSigningOrderData", "finishedPdfUrl", "respondentsOfDoc", "templateRespondents", "respondentDocumentId", "roleTitle", "roleColour",
	"email", "signerId", "signerIp", "hasDeclined", "signingOrderNo", "sentUrl", "viewedAt", "signedAt", "currentPage", "totalPages",
	"totalDocuments", "totalResponses", "hasNextPage", "hasPreviousPage", "respondents", "responses", "templateId", "ownerId", "pdfLink", "history",
	"responseId", "formResponseId", "formId", "submittedAt", "respondentEmail", "answers", "id", "question", "answer", "documentType",
	"dateFrom", "dateTo", "archive", "sortOrder", "page", "limit", "query", "filter", "sortBy", "remindersSent", "data", "success", "error",
	"statusCode", "code", "title", "detail", "type", "timestamp", "path", "results", "items", "total", "VIEWED", "PDF", "PDF_TEMPLATE", "FORM_TEMPLATE",
	"asc", "desc", "ascending", "descending", "ASC", "DESC", "true", "false", "nothing", notAnID, noSuchStatus, frozen,
	"sort", "order", "sortDirection", "pageSize", "perPage", "per_page", "page_size", "size", "take", "pageNumber", "pageNo", "page_number",
	"pageIndex", "p", "document_id", "docId", "from", "to", "startDate", "endDate", "fromDate", "toDate", "createdFrom", "createdTo",
	time.RFC3339, time.DateOnly, "unix", "unixmilli", "GET", "POST", "PUT", "PATCH", "DELETE"})

var (
	smallNumber = regexp.MustCompile(`^-?\d{1,4}$`)
	shapes      = []struct {
		name string
		form *regexp.Regexp
	}{
		{"UUID", regexp.MustCompile(`(?i)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)},
		{"ObjectId", regexp.MustCompile(`(?i)^[0-9a-f]{24}$`)},
		{"time", regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)?$`)},
		{"date", regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)},
		{"number", regexp.MustCompile(`^-?[\d.]+$`)},
		{"URL", regexp.MustCompile(`(?i)^[a-z]+://`)},
		{"mail address", regexp.MustCompile(`^[^\s@]+@[^\s@]+$`)},
	}
)

// Describe returns a text if it is harmless, and else its kind and length.
func Describe(text string) string {
	if text == "" || slices.Contains(harmless, text) {
		return text
	}
	for _, s := range shapes {
		if s.form.MatchString(text) {
			return fmt.Sprintf("(%s of %d)", s.name, len(text))
		}
	}
	return fmt.Sprintf("(text of %d)", len(text))
}

// DescribeInput is [Describe] for an input that probe sent: small numbers are its own.
func DescribeInput(text string) string {
	if smallNumber.MatchString(text) || text == "1000000" {
		return text
	}
	return Describe(text)
}

// DescribeJSON returns a JSON text with its values described and unknown keys replaced, or the size of anything else. Lists are cut to
// their first two values.
func DescribeJSON(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return fmt.Sprintf("(%d bytes that are not JSON, or not all of it)", len(text))
	}
	out, _ := json.MarshalIndent(described(value), "", "  ") // cannot fail for what was decoded
	return string(out)
}

func described(value any) any {
	switch v := value.(type) {
	case string:
		return Describe(v)
	case json.Number:
		return Describe(v.String())
	case []any:
		n := len(v)
		out := []any{}
		for _, e := range v[:min(n, 2)] {
			out = append(out, described(e))
		}
		if n > 2 {
			out = append(out, fmt.Sprintf("(and %d more)", n-2))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		others := 0
		for _, key := range slices.Sorted(maps.Keys(v)) {
			name := key
			if !slices.Contains(harmless, key) {
				others++
				name = fmt.Sprintf("(key %d)", others)
			}
			out[name] = described(v[key])
		}
		return out
	}
	return value
}
