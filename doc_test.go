package signforms_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

// repeatedAfter reads the retry table of the package documentation: for each operation, after what it is repeated.
func repeatedAfter(t *testing.T) map[signforms.Operation][]string {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^//\t(safe|idempotent|not repeatable) {2,}(.*?) {2,}(.*)$`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, rows, 3)
	table := map[signforms.Operation][]string{}
	for _, row := range rows {
		for op := range strings.SplitSeq(row[2], ", ") {
			require.NotContains(t, table, signforms.Operation(op), "an operation in two rows")
			table[signforms.Operation(op)] = strings.Split(row[3], ", ")
		}
	}
	return table
}

// causes says which failures the words of the table stand for; each other failure is its status, or never repeated after.
var causes = map[string][]string{
	"connection errors": {"reset after the first byte", "reset within the head", "reset after reading", "reset within the answer's head",
		"answer is not HTTP", "truncated 200"},
	"attempt time-outs":   {"no answer", "half an answer"},
	"nothing was written": {"no such host", "dial refused", "dialling takes too long", "no TLS", "TLS cut off", "TLS takes too long"},
}

// TestTheRetryTableIsTrue reads the table in the package documentation, and runs each operation against each failure.
func TestTheRetryTableIsTrue(t *testing.T) {
	table := repeatedAfter(t)
	require.Len(t, table, 6, "every operation is in the table: %v", slices.Collect(maps.Keys(table)))
	certificates := httptest.NewTLSServer(nil)
	certificates.Close()
	all := failures(certificates)
	for _, call := range everyCall {
		words := table[call.op]
		require.NotEmpty(t, words, call.op)
		var failing []string // that the table says it is repeated after
		for _, word := range words {
			if names, ok := causes[word]; ok {
				failing = append(failing, names...)
			} else {
				require.Regexp(t, `^\d{3}$`, word, "the test knows no such cause")
				require.True(t, slices.ContainsFunc(all, func(f failure) bool { return f.name == word }), "nothing tests %s", word)
				failing = append(failing, word)
			}
			if word == "connection errors" {
				failing = append(failing, causes["nothing was written"]...)
			}
		}
		for _, f := range all {
			t.Run(fmt.Sprint(f.name, "/", call.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, change := f.service()
					c := s.client(t, map[string]string{"": "http", "https": "https"}[f.scheme], change, func(_ *http.Transport, o *signforms.Options) {
						o.ReminderMaxWait = -1
					})
					attempts := asError(t, call.do(t.Context(), c)).Attempts
					require.Equal(t, slices.Contains(failing, f.name), attempts > 1, "the table says %v", words)
				})
			})
		}
	}
	for word, names := range causes {
		for _, name := range names {
			require.True(t, slices.ContainsFunc(all, func(f failure) bool { return f.name == name }), "%s stands for %q, which nothing tests", word, name)
		}
	}
}
