package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

// Each value in the samples of all events is replaced by each odd one. The event keeps its type and everything else that
// it says. When the value could not be read, the event says which.
func TestParseOddValueCostsNothingElse(t *testing.T) {
	odd := []string{`null`, `7`, `1.5`, `-1`, `1e300`, `true`, `false`, `""`, `"odd"`, strings.Repeat("9", 400), `[]`, `[1,null,"a"]`, `[[]]`, `{}`, `{"a":[]}`}
	unread := 0
	for _, sample := range samples(t) {
		original := parseOne(t, string(sample))
		for _, path := range pathsOf(decoded(t, sample)) {
			rest := held(t, original, path)
			for _, value := range odd {
				t.Run(value, func(t *testing.T) {
					e := parseOne(t, replaced(t, sample, path, value))
					if path[0] == "webhookEvent" && strings.Trim(value, `"`) != value && value != `""` {
						require.IsType(t, &webhook.UnknownEvent{}, e, "another type")
						return
					}
					require.IsType(t, original, e, "%s = %s", path, value)
					require.Equal(t, rest, held(t, e, path), "%s = %s", path, value)
					for _, f := range e.FieldErrors() {
						unread++
						require.True(t, strings.HasPrefix(f.Field, dotted(path)), "%s = %s: %v", path, value, f)
					}
				})
			}
		}
	}
	require.Greater(t, unread, 500)
}

// samples returns one event of each type, as an object.
func samples(t *testing.T) (all []json.RawMessage) {
	for _, eventType := range everyType {
		var one []json.RawMessage
		require.NoError(t, json.Unmarshal(webhooktest.Sample(eventType), &one))
		all = append(all, one...)
	}
	return all
}

func decoded(t *testing.T, text []byte) (value any) {
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}

// pathsOf returns the path of every value in an object, of lists and objects too. A step is a key or an index.
func pathsOf(value any) (paths [][]any) {
	inner := func(step, value any) {
		paths = append(paths, []any{step})
		for _, path := range pathsOf(value) {
			paths = append(paths, append([]any{step}, path...))
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			inner(key, v[key])
		}
	case []any:
		for i := range v {
			inner(i, v[i])
		}
	}
	return paths
}

func dotted(path []any) string {
	text := ""
	for _, step := range path {
		if i, ok := step.(int); ok {
			text += fmt.Sprintf("[%d]", i)
		} else {
			text += "." + step.(string)
		}
	}
	return text[1:]
}

// replaced returns object with value at path.
func replaced(t *testing.T, object []byte, path []any, value string) string {
	root := decoded(t, object)
	set(root, path, json.RawMessage(value))
	text, err := json.Marshal(root)
	require.NoError(t, err)
	return string(text)
}

// set sets what is at path, or deletes it for a nil leaf.
func set(value any, path []any, leaf any) {
	for _, step := range path[:len(path)-1] {
		if i, ok := step.(int); ok {
			value = value.([]any)[i]
		} else {
			value = value.(map[string]any)[step.(string)]
		}
	}
	switch last := path[len(path)-1].(type) {
	case int:
		value.([]any)[last] = leaf
	case string:
		if value.(map[string]any)[last] = leaf; leaf == nil {
			delete(value.(map[string]any), last)
		}
	}
}

// held returns what an event holds, apart from the value at path.
func held(t *testing.T, e webhook.Event, path []any) any {
	root := decoded(t, webhooktest.Payload(e)).([]any)[0]
	if _, ok := root.(map[string]any)[path[0].(string)]; ok { // not a key that this package does not know
		set(root, path, nil)
	}
	return root
}

func TestParse_signerIDs(t *testing.T) {
	const signers = `"signers":[{"signerId":"a"},{},{"signerId":7},{"signerId":[]},{"signerId":"b"}]`
	for _, row := range []struct {
		body string
		want []string
	}{
		{body: `{"webhookEvent":"new_template_response_individual_viewed",` + signers + `,"viewedBy":{"signerId":"b"}}`, want: []string{"a", "7", "b"}},
		{body: `{"webhookEvent":"new_template_response_individual_signed",` + signers + `,"signedBy":{"signerId":"c"}}`, want: []string{"a", "7", "b", "c"}},
		{body: `{"webhookEvent":"new_template_response",` + signers + `,"signedBy":{"signerId":"c"}}`, want: []string{"a", "7", "b"}},
		{body: `{"webhookEvent":"new_signature_pdf_individual_viewed","viewedBy":{"signerId":"c"}}`, want: []string{"c"}},
		{body: `{"webhookEvent":"new_signature_pdf_individual_signed","signers":{},"signedBy":{"signerId":"c"}}`, want: []string{"c"}},
		{body: `{"webhookEvent":"new_signature_pdf_completed",` + signers + `}`, want: []string{"a", "7", "b"}},
		{body: `{"webhookEvent":"new_signature_pdf_completed","signers":[{"name":"n"}]}`, want: nil},
		{body: `{"webhookEvent":"new_form_response",` + signers + `}`, want: nil},
		{body: `{"webhookEvent":"new",` + signers + `,"viewedBy":{"signerId":"c"},"signedBy":{"signerId":"d"}}`, want: []string{"a", "7", "b", "c", "d"}},
		{body: `{"webhookEvent":7,` + signers + `}`, want: []string{"a", "7", "b"}},
		{body: `{"webhookEvent":"new"}`, want: nil},
	} {
		t.Run(row.body, func(t *testing.T) {
			require.Equal(t, row.want, parseOne(t, row.body).SignerIDs())
		})
	}
}
