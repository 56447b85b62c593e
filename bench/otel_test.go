package bench_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/otel"
	"github.com/stretchr/testify/require"
)

// answering is a transport without a network, so that what a call costs is the client's.
type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// The difference between the two is what telemetry costs a call while nothing records it.
func BenchmarkTelemetry(b *testing.B) {
	const answer = `{"message":"ok","documents":[],"documentsCount":0,"pagination":{"currentPage":1,"totalPages":0,"totalDocuments":0}}`
	telemetry, err := otel.New(nil)
	require.NoError(b, err)
	plain := &signforms.Options{HTTPClient: &http.Client{Transport: answering(answer)}}
	for _, c := range []struct {
		name    string
		options *signforms.Options
	}{
		{name: "without", options: plain},
		{name: "with", options: telemetry.Client(plain)},
	} {
		client, err := signforms.New("https://service.example", "0123456789", c.options)
		require.NoError(b, err)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Documents.List(b.Context(), signforms.DocumentListParams{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
