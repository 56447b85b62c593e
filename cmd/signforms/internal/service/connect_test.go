package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// Endpoints are written as in Go, in small letters.
func TestEndpointsAsJSON(t *testing.T) {
	endpoints, err := parseEndpoints([]string{
		`list documents={"method":"POST","inputs":"body","ignoreTotals":true}`,
		`send={"path":"/send"}`,
	})
	require.NoError(t, err)
	require.Equal(t, map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {Method: "POST", Inputs: signforms.InputsBody, IgnoreTotals: true},
		signforms.OpSend:          {Path: "/send"},
	}, endpoints)
	_, err = parseEndpoints([]string{`send={"name":{}}`})
	require.ErrorContains(t, err, `--endpoint "send": unknown field "name"`)
}
