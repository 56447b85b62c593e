package redact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
	"github.com/signforms/signforms-go/webhook"
)

func TestJSON(t *testing.T) {
	got, err := redact.New().JSON([]byte(`[{"webhookEvent":"new_template_response","documentName":"Lease of Ann","authorEmail":"ann@example.org",
		"documentId":"0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11","status":"SIGNED","isSigningOrder":true,"signedAt":"2026-11-21T10:00:00.000Z",
		"signers":[{"name":"Ann","email":"ann@example.org","signerIp":"203.0.113.7","signingOrderNo":2,"hasDeclined":null,"roleTitle":""}],
		"documentUrl":"https://files.example.org/a?token=1","contact_field(page1)[Ann]":"Lease of Ann","id":"66f0aa11bb22cc33dd44ee55"}]`))
	require.NoError(t, err)
	require.Equal(t, `[{"webhookEvent":"new_template_response","documentName":"text 1","authorEmail":"person1@example.com",`+
		`"documentId":"00000000-0000-4000-8000-000000000001","status":"SIGNED","isSigningOrder":true,"signedAt":"2026-11-21T10:00:00.000Z",`+
		`"signers":[{"name":"text 2","email":"person1@example.com","signerIp":"192.0.2.1","signingOrderNo":2,"hasDeclined":null,"roleTitle":""}],`+
		`"documentUrl":"https://example.com/1","contact_field(page1)[text 2]":"text 1","id":"000000000000000000000001"}]`, string(got))
}

// What looks like the service's own may still be somebody's words: a date of birth, a short number, a tick, a name as a key.
func TestNothingOfAnybodyStays(t *testing.T) {
	got, err := redact.New().JSON([]byte(`{"webhookEvent":"ann","status":"at Ann's","signingOrderNo":19840203,"signedAt":"Ann","code":"Ann-7",
		"Ann":"Ann","ann(page1)[Ann]":"Ann","response":[{"question":"Ann","answer":"1984-02-03T00:00:00Z"},{"answer":70123},{"answer":true},
		{"answer":["Ann",{"ann":12.5}]}]}`))
	require.NoError(t, err)
	require.NotRegexp(t, `(?i)ann|1984|70123|12\.5|true`, string(got))
}

func TestNotJSON(t *testing.T) {
	for _, text := range []string{"", "{", "[1", `{"a"}`, "1 2", "name=Ann"} {
		got, err := redact.New().JSON([]byte(text))
		require.Error(t, err, text)
		require.Nil(t, got)
	}
}

// Every redacted sample of an event decodes to the same type as before, and holds none of its strings.
func TestSamplesStayEvents(t *testing.T) {
	files, err := filepath.Glob("../../../../testdata/events/new_*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := redact.New().JSON(text)
		require.NoError(t, err, file)
		before, err := webhook.Parse(text)
		require.NoError(t, err)
		after, err := webhook.Parse(got)
		require.NoError(t, err)
		require.Len(t, after, len(before))
		for i := range before {
			require.Equal(t, before[i].EventType(), after[i].EventType(), file)
		}
		require.NotContains(t, strings.ReplaceAll(string(got), "@example.com", ""), "@")
	}
}
