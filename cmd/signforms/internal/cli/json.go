package cli

import (
	"encoding/json"
	"strings"
)

// DecodeJSON decodes the JSON of a flag into v. It refuses unknown names.
func DecodeJSON(text string, v any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
