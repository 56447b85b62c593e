package service

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
)

// maxBodyInReport bounds each body in a report, in bytes.
const maxBodyInReport = 2000

// probeReport returns a page with all requests and answers, in which everything is described that is not known to be harmless.
func probeReport(rep *probe.Report, stopped error) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What probe saw\n\nBy signforms-go %s. What is not of the wire format is described, as in (text of 12).\n\n", signforms.Version())
	if stopped != nil || rep.Early {
		fmt.Fprintf(&b, "**Partial: the run ended early, after %d requests.** %s\n\n", len(rep.Asked), shareable(stopped))
	}
	b.WriteString("| Fact | Grade | Outcome | Seen |\n|---|---|---|---|\n")
	for _, res := range rep.Results {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", res.Text, res.Grade, res.Outcome, strings.ReplaceAll(res.Shared, "|", "\\|"))
	}
	if text := probeLiterals(rep, probe.Describe); text != "" {
		fmt.Fprintf(&b, "\n```go\n%s\n```\n", text)
	}
	b.WriteString("\n## Requests\n")
	for _, a := range rep.Asked {
		writeAsked(&b, a)
	}
	return b.Bytes()
}

// shareable returns why a run ended without the texts of others.
func shareable(err error) string {
	if errors.Is(err, probe.ErrFront) {
		return "Something in front of the service answers."
	}
	return ""
}

// knownHeaders are the headers whose names may be shown. The values may not, but of Content-Type.
var knownHeaders = []string{"Allow", "Cache-Control", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Etag", "Location", "Retry-After",
	"Server", "Set-Cookie", "Transfer-Encoding", "Vary", "Via", "X-Powered-By", "X-Request-Id", "X-Amzn-Errortype", "X-Amzn-Requestid", "Cf-Ray", "Cf-Mitigated"}

func writeAsked(b *bytes.Buffer, a probe.Asked) {
	what := string(a.Operation)
	if a.Operation == signforms.OpRequest {
		what = "(a path that does not exist)"
	}
	var inputs []string
	for _, name := range slices.Sorted(maps.Keys(a.Query)) {
		inputs = append(inputs, probe.Describe(name)+"="+probe.DescribeInput(strings.Join(a.Query[name], ",")))
	}
	fmt.Fprintf(b, "\n%s %s %s\n", a.Method, what, strings.Join(inputs, " "))
	if len(a.Sent) > 0 {
		fmt.Fprintf(b, "with %s\n", probe.DescribeJSON(a.Sent))
	}
	var headers []string
	for _, name := range slices.Sorted(maps.Keys(a.Header)) {
		if slices.Contains(knownHeaders, name) {
			headers = append(headers, name)
		}
	}
	if others := len(a.Header) - len(headers); others > 0 {
		headers = append(headers, fmt.Sprintf("%d others", others))
	}
	fmt.Fprintf(b, "→ %d %s, headers: %s\n", a.Status, http.StatusText(a.Status), strings.Join(headers, ", "))
	if text := probe.DescribeJSON(a.Body); len(text) > maxBodyInReport {
		fmt.Fprintf(b, "\n```json\n%s …\n```\n", strings.ToValidUTF8(text[:maxBodyInReport], ""))
	} else if text != "" {
		fmt.Fprintf(b, "\n```json\n%s\n```\n", text)
	}
}

// probeLiterals returns the settings that fit the service, as Go source. show returns how a text of the user or the service is written.
func probeLiterals(rep *probe.Report, show func(string) string) string {
	var parts []string
	if text := probe.EndpointsLiteral(rep.Endpoints, show); text != "" {
		if text = "signforms.Options{Endpoints: " + text + "}"; unproven(rep) != "" {
			text = "// " + unproven(rep) + "\n" + text
		}
		parts = append(parts, text)
	}
	if text := probe.ProfileLiteral(rep.Profile, show); text != "" && rep.ProfileTried == nil {
		parts = append(parts, "signformstest.Options{Profile: "+text+"}")
	} else if text != "" {
		parts = append(parts, "// The signformstest.Profile that was found is not like this service: "+rep.ProfileTried.Error())
	}
	return strings.Join(parts, "\n\n")
}

// probeGo returns a Go file with the options of a client. Its package is that of the other files in the folder, or else account.
func probeGo(rep *probe.Report, conn connection, path string) ([]byte, error) {
	name := "account"
	siblings, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.go")) // the pattern is well formed, or there are none
	for _, sibling := range siblings {
		file, err := parser.ParseFile(token.NewFileSet(), sibling, nil, parser.PackageClauseOnly)
		if err == nil && !strings.HasSuffix(sibling, "_test.go") && filepath.Base(sibling) != filepath.Base(path) {
			name = file.Name.Name
			break
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `// Written by signforms probe.

package %s

import "github.com/signforms/signforms-go"

// AccountBaseURL is the address of the service.
const AccountBaseURL = %q

// AccountOptions returns the options of a client of the account that was probed.
func AccountOptions() *signforms.Options {
	return &signforms.Options{
`, name, conn.baseURL)
	if conn.workspace != "" {
		fmt.Fprintf(&b, "WorkspaceID: %q,\n", conn.workspace)
	}
	if text := probe.EndpointsLiteral(rep.Endpoints, probe.Verbatim); text != "" {
		fmt.Fprintf(&b, "Endpoints: %s,\n", text)
	}
	b.WriteString("}\n}\n")
	return format.Source(b.Bytes())
}
