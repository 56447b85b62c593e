package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go"
)

// EndpointJSON is how --profile, --endpoint and settings write a [signforms.Endpoint].
type EndpointJSON struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Inputs string `json:"inputs,omitempty"` // query, body or both

	Names         map[string]string            `json:"names,omitempty"`
	Values        map[string]map[string]string `json:"values,omitempty"`
	TimeLayout    string                       `json:"timeLayout,omitempty"`
	PagesFromZero bool                         `json:"pagesFromZero,omitempty"`
	IgnoreTotals  bool                         `json:"ignoreTotals,omitempty"`
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
		Names: e.Names, Values: e.Values, TimeLayout: e.TimeLayout, PagesFromZero: e.PagesFromZero, IgnoreTotals: e.IgnoreTotals}, nil
}

// Endpoints returns the endpoints that were written.
func Endpoints(given map[signforms.Operation]EndpointJSON) (map[signforms.Operation]signforms.Endpoint, error) {
	endpoints := map[signforms.Operation]signforms.Endpoint{}
	for op, e := range given {
		out, err := e.Endpoint()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		endpoints[op] = out
	}
	return endpoints, nil
}

// WriteEndpoints is the reverse of [Endpoints].
func WriteEndpoints(endpoints map[signforms.Operation]signforms.Endpoint) map[signforms.Operation]EndpointJSON {
	out := map[signforms.Operation]EndpointJSON{}
	for op, e := range endpoints {
		place := ""
		for word, inputs := range InputPlaces {
			if inputs == e.Inputs {
				place = word
			}
		}
		out[op] = EndpointJSON{e.Method, e.Path, place, e.Names, e.Values, e.TimeLayout, e.PagesFromZero, e.IgnoreTotals}
	}
	return out
}

// DecodeJSON decodes the JSON of a flag into v. It refuses unknown names.
func DecodeJSON(text string, v any) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}
