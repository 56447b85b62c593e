package openapicheck_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/openapicheck"
)

// Load has validated the inline examples; here they are held against the files whose name they carry.
func TestInlineExamplesAreTestdata(t *testing.T) {
	all := requests(t)
	compared := 0
	for key, op := range load(t, openapicheck.Open).Operations() {
		if op.RequestBody == nil {
			continue
		}
		for name, example := range op.RequestBody.Value.Content["application/json"].Examples {
			l, ok := all[name]
			require.True(t, ok, "example %s of %s has no file in testdata/requests", name, key)
			require.Equal(t, key, l.Method+" "+l.Path, name)
			value, err := json.Marshal(example.Value.Value)
			require.NoError(t, err)
			require.JSONEq(t, string(l.Body), string(value), name)
			compared++
		}
	}
	require.Equal(t, 6, compared)
}

func TestExternalExamplesExist(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile(description)
	require.NoError(t, err)
	found := 0
	for _, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, answer := range op.Responses.Map() {
				for want, content := range answer.Value.Content {
					for name, example := range content.Examples {
						require.NotEmpty(t, example.Value.ExternalValue, name)
						file := filepath.Join(filepath.Dir(description), example.Value.ExternalValue)
						_, err := os.Stat(file)
						require.NoError(t, err)
						require.Equal(t, want, mediaType(t, file), file)
						found++
					}
				}
			}
		}
	}
	require.Positive(t, found)
}
