package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go"
)

// EndpointJSON is how --profile and --endpoint write a [signforms.Endpoint].
type EndpointJSON struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Inputs string `json:"inputs"` // query, body or both

	Names         map[string]string            `json:"names"`
	Values        map[string]map[string]string `json:"values"`
	TimeLayout    string                       `json:"timeLayout"`
	PagesFromZero bool                         `json:"pagesFromZero"`
}

// InputPlaces holds the words for where an endpoint reads its inputs.
var InputPlaces = map[string]signforms.Inputs{
	"query": signforms.InputsQuery, "body": signforms.InputsBody, "both": signforms.InputsQuery | signforms.InputsBody,
}

// Endpoint returns the endpoint that was written.
func (e EndpointJSON) Endpoint() (signforms.Endpoint, error) {
	place, known := InputPlaces[e.Inputs]
	if !known && e.Inputs != "" {
		return signforms.Endpoint{}, fmt.Errorf("inputs: %q is not one of query, body, both", e.Inputs)
	}
	return signforms.Endpoint{Method: e.Method, Path: e.Path, Inputs: place,
		Names: e.Names, Values: e.Values, TimeLayout: e.TimeLayout, PagesFromZero: e.PagesFromZero}, nil
}

// DecodeJSON decodes the JSON of a flag into v. It refuses unknown names.
func DecodeJSON(text string, v any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
