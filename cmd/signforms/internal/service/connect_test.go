package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// Names, values, times and pages are written as in a profile.
func TestEndpointsAsJSON(t *testing.T) {
	endpoints, err := parseEndpoints([]string{
		`list documents={"method":"POST","inputs":"body","names":{"page":"p"},"values":{"archive":{"true":"1"}},"timeLayout":"unix","pagesFromZero":true,"ignoreTotals":true}`,
		`send={"names":{"receiversList":"people"}}`,
	})
	require.NoError(t, err)
	require.Equal(t, map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {Method: "POST", Inputs: signforms.InputsBody, Names: map[string]string{"page": "p"},
			Values: map[string]map[string]string{"archive": {"true": "1"}}, TimeLayout: signforms.UnixSeconds, PagesFromZero: true, IgnoreTotals: true},
		signforms.OpSend: {Names: map[string]string{"receiversList": "people"}},
	}, endpoints)
	_, err = parseEndpoints([]string{`send={"name":{}}`})
	require.ErrorContains(t, err, `--endpoint "send": unknown field "name"`)
	_, err = parseEndpoints([]string{`send={"inputs":"header"}`})
	require.ErrorContains(t, err, `--endpoint "send": inputs: "header" is not one of query, body, both`)
}
