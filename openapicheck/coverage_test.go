package openapicheck_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

// notSent matches the described fields that the reference service does not send.
var notSent = regexp.MustCompile(strings.Join([]string{
	`^GET /get-documents \.documents\[\]\.(name|signType|isSigningOrderData|respondentsOfDoc)`, // other spellings
	`^GET /get-template-respondent \.respondents\.`,                                            // one as an object
	`^GET /get-(template-respondent|form-responses) \.message$`,
	`^GET /get-documents \.documents\[\]\.signers\[\]\.(roleTitle|signerId)$`, // those of templates
	`\.(templateRespondents|respondents)\[\]\.signers\[\]\.signerIp$`,         // those of PDF documents
	`^POST /pdf-template-lambda \.error$`,
}, "|"))

// requireCovered checks that every input, and every field of a successful answer, that is described was seen.
func requireCovered(t *testing.T, exchanges []openapicheck.Exchange) {
	t.Helper()
	sent, received := map[string]bool{}, map[string]bool{}
	for _, exchange := range exchanges {
		key := exchange.Method + " " + exchange.URL.Path + " "
		for name := range exchange.URL.Query() {
			sent[key+"?"+name] = true
		}
		seen(t, sent, key, exchange.Sent)
		if exchange.Status == http.StatusOK {
			seen(t, received, key, exchange.Received)
		}
	}
	for key, op := range load(t, openapicheck.Open).Operations() {
		for _, input := range inputs(op) {
			require.True(t, sent[key+" "+input], "the client never sent %s %s", key, input)
		}
		for _, path := range paths(op.Responses.Status(http.StatusOK).Value.Content["application/json"].Schema.Value, "") {
			field := key + " " + path
			require.True(t, received[field] || notSent.MatchString(field), "the service never sent %s", field)
		}
	}
}

// inputs returns the query parameters of an operation, each behind a question mark, and the paths of its body.
func inputs(op *openapi3.Operation) []string {
	var all []string
	for _, p := range op.Parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			all = append(all, "?"+p.Value.Name)
		}
	}
	if op.RequestBody != nil {
		all = append(all, paths(op.RequestBody.Value.Content["application/json"].Schema.Value, "")...)
	}
	return all
}

// seen adds the path of every property in body, such as .signers[].email.
func seen(t *testing.T, into map[string]bool, path string, body []byte) {
	t.Helper()
	if len(body) == 0 {
		return
	}
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	var walk func(string, any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, child := range value {
				into[path+"."+name] = true
				walk(path+"."+name, child)
			}
		case []any:
			for _, child := range value {
				into[path+"[]"] = true
				walk(path+"[]", child)
			}
		}
	}
	walk(path, value)
}

// paths returns the path of every property that a schema lists, in all its variants.
func paths(schema *openapi3.Schema, path string) []string {
	var all []string
	for name, property := range schema.Properties {
		all = append(all, path+"."+name)
		all = append(all, paths(property.Value, path+"."+name)...)
	}
	if schema.Items != nil {
		all = append(all, paths(schema.Items.Value, path+"[]")...)
	}
	for _, variant := range slices.Concat(schema.OneOf, schema.AnyOf, schema.AllOf) {
		all = append(all, paths(variant.Value, path)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
