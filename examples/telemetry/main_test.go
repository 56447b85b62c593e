package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpansArePrinted(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	for _, span := range []string{`"Name":"signforms.send"`, `"Name":"POST"`, `"Name":"signforms.delivery"`, `"Name":"process new_template_response"`} {
		require.Contains(t, out.String(), span)
	}
	require.Regexp(t, `"Name":"process new_template_response".*"Links":\[\{"SpanContext":\{"TraceID":"[0-9a-f]{32}"`, out.String())
	for _, personal := range []string{"ann@example.com", "Ann", "Offer"} {
		require.NotContains(t, out.String(), personal)
	}
}
