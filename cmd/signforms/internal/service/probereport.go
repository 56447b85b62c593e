package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
)

// maxBodyInReport bounds each body in a report, in bytes.
const maxBodyInReport = 2000

// probeReport returns a page with all requests and answers. Values that could identify people or things are replaced.
func probeReport(rep *probe.Report, conn connection) []byte {
	r := redact.New()
	if u, err := url.Parse(conn.baseURL); err == nil {
		r.Hide(u.Host, "host")
	}
	r.Hide(conn.apiKey, "key")
	r.Hide(conn.workspace, "workspace")
	for _, a := range rep.Asked { // collects all values first, so that they are also found in texts
		if a.Status/100 == 2 {
			r.JSON(a.Body) // a body that is not JSON holds no values
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What probe saw\n\nBy signforms-go %s. Names, ids, addresses, links and keys are replaced.\n\n", signforms.Version())
	b.WriteString("| Fact | Grade | Outcome | Seen |\n|---|---|---|---|\n")
	for _, res := range rep.Results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", res.Text, res.Grade, res.Outcome, strings.ReplaceAll(r.Text(res.Seen), "|", "\\|"))
	}
	if text := probeLiterals(rep); text != "" {
		fmt.Fprintf(&b, "\n```go\n%s\n```\n", text)
	}
	b.WriteString("\n## Requests\n")
	for _, a := range rep.Asked {
		writeAsked(&b, r, a)
	}
	return b.Bytes()
}

func writeAsked(b *bytes.Buffer, r *redact.Replacer, a probe.Asked) {
	query, _ := url.QueryUnescape(a.Query.Encode()) // cannot fail: Encode escaped it
	if query != "" {
		query = "?" + query
	}
	fmt.Fprintf(b, "\n%s %s%s\n", a.Method, a.Path, r.Text(query))
	if len(a.Sent) > 0 {
		fmt.Fprintf(b, "with %s\n", redactedBody(r, 0, a.Sent))
	}
	fmt.Fprintf(b, "→ %d, headers: %s\n", a.Status, strings.Join(slices.Sorted(maps.Keys(a.Header)), ", "))
	if text := redactedBody(r, a.Status, a.Body); text != "" {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", text)
	}
}

// redactedBody returns a body with its values replaced, or the size of a body that is not JSON.
func redactedBody(r *redact.Replacer, status int, body []byte) string {
	replace := r.JSON
	if status >= 400 {
		replace = r.Error
	}
	text, err := replace(body)
	switch {
	case len(body) == 0:
		return ""
	case err != nil:
		return fmt.Sprintf("(%d bytes that are not JSON, or not all of it)", len(body))
	case len(text) > maxBodyInReport:
		return strings.ToValidUTF8(string(text[:maxBodyInReport]), "") + " …"
	}
	var indented bytes.Buffer
	if json.Indent(&indented, text, "", "  ") != nil {
		return string(text)
	}
	return indented.String()
}

// probeLiterals returns the settings that fit the service, as Go source.
func probeLiterals(rep *probe.Report) string {
	var parts []string
	if text := probe.EndpointsLiteral(rep.Endpoints); text != "" {
		parts = append(parts, "signforms.Options{Endpoints: "+text+"}")
	}
	if text := probe.ProfileLiteral(rep.Profile); text != "" {
		parts = append(parts, "signformstest.Options{Profile: "+text+"}")
	}
	return strings.Join(parts, "\n\n")
}
