package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

func TestWaitForAStatus(t *testing.T) {
	s := newService(t, &signformstest.Options{})
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		says   string
	}{
		{"OLD", cli.ExitOK, "SIGNED\n", ""},
		{"OLD --for paid,signed", cli.ExitOK, "SIGNED\n", ""},
		{"SENT --for pending", cli.ExitOK, "PENDING\n", ""},
		{"OLD --for void --timeout 5s", cli.ExitPartial, "SIGNED\n", "signforms: the document is SIGNED, which no longer changes\n"},
		{"LEASE --timeout 1s", cli.ExitFailure, "", "the document is PENDING\nsignforms: not SIGNED within 1s: the document is PENDING\n"},
		{"00000000-0000-4000-8000-000000000000", cli.ExitFailure, "", "signforms: get document: not found (200)"},
		{"nope", cli.ExitUsage, "", "the id must be a UUID"},
		{"OLD --for finished", cli.ExitUsage, "", "must be one of draft, pending, signed, paid"},
		{"OLD --timeout 0s", cli.ExitUsage, "", "--timeout must be more than 0"},
	} {
		stdout, stderr, code := s.run(t, "documents wait "+c.args)
		require.Equal(t, c.code, code, "%s: %s", c.args, stderr)
		require.Equal(t, c.stdout, stdout, c.args)
		require.Contains(t, stderr, c.says, c.args)
	}
	stdout, _, _ := s.run(t, "documents wait OLD --json")
	require.Regexp(t, `^{"documentId":"OLD",.*}\n$`, stdout)
	stdout, _, _ = s.run(t, "documents wait SENT --json --for pending")
	require.Regexp(t, `^{"respondentDocumentId":"SENT",.*}\n$`, stdout)
}
