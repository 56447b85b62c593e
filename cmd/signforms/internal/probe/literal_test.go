package probe_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/probe"
	"github.com/signforms/signforms-go/signformstest"
)

func TestLiterals(t *testing.T) {
	endpoints := map[signforms.Operation]signforms.Endpoint{
		signforms.OpListDocuments: {Method: "POST", Path: "/d", Names: map[string]string{"page": "p", "limit": "n"},
			Values: map[string]map[string]string{"sortOrder": {"desc": "down", "asc": "up"}}, TimeLayout: signforms.UnixSeconds, PagesFromZero: true, IgnoreTotals: true},
		signforms.OpVoidDocument: {Inputs: signforms.InputsQuery | signforms.InputsBody},
	}
	const text = `map[signforms.Operation]signforms.Endpoint{
	signforms.OpListDocuments: {Method: "POST", Path: "/d", Names: map[string]string{"limit": "n", "page": "p"}, ` +
		`Values: map[string]map[string]string{"sortOrder": {"asc": "up", "desc": "down"}}, TimeLayout: "unix", PagesFromZero: true, IgnoreTotals: true},
	signforms.OpVoidDocument: {Inputs: signforms.InputsQuery | signforms.InputsBody}, // not tried on a document
}`
	require.Equal(t, text, probe.EndpointsLiteral(endpoints, probe.Verbatim))
	profile := signformstest.Profile{KeyStatus: 401, InProgress: "AWAITING", DateTo: signformstest.EndAtDayEnd, Endpoints: endpoints}
	literal := probe.ProfileLiteral(profile, probe.Verbatim)
	for _, field := range []string{"\tKeyStatus: 401,\n", "\tInProgress: \"AWAITING\",\n", "\tDateTo: signformstest.EndAtDayEnd,\n", "\tEndpoints: " + text + ",\n"} {
		require.Contains(t, literal, field)
	}
	require.Contains(t, probe.ProfileLiteral(profile, probe.Describe), `InProgress: "(text of 8)"`)
}

// A stranger has the shape of its text, and is another.
func TestStranger(t *testing.T) {
	for text, shape := range map[string]string{
		"6aed43dc1c2facc50623d8d3":             `^[1-9a-f]{24}$`,
		"FF488918-9CA8-4B95-B3CD-32A312C7B837": `^FF488918-9CA8-4B95-B3CD-[1-9A-F]{12}$`,
		"sk_test_4f9a1c77d2e8ZZ":               `^sk_test_[1-9][a-z][1-9][a-z][1-9][a-z][1-9]{2}[a-z][1-9][a-z][1-9][A-Z]{2}$`,
		"1041052230":                           `^[1-9]{10}$`,
	} {
		got := probe.Stranger(text)
		require.Regexp(t, shape, got)
		require.NotEqual(t, text, got)
	}
}

// A profile with which a fact holds that an answer contradicted is not printed.
func TestProfileBesideAContradictedFact(t *testing.T) {
	f := &imitation{n: 66}
	hiding(func(q url.Values) bool { return !q.Has("documentId") })(f) // after the list was cut into pages
	rep, err := probed(t, f, false)
	require.NoError(t, err)
	require.True(t, rep.Profile.HideArchived, show(rep))
	require.EqualError(t, rep.ProfileTried, "it cannot be set so that this is the same: limit=100 gave 100 documents, or all that were seen, and 101 was refused with 400")
}
