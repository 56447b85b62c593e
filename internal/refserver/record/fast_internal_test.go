package record

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// readAs is what read and json.Unmarshal each make of the bytes.
type readAs func(data []byte) (fast any, ok bool, want any, err error)

func as[T any](data []byte) (any, bool, any, error) {
	var fast, want filled[T]
	ok := read(data, &fast)
	err := json.Unmarshal(data, &want)
	return fast, ok, want, err
}

// shapes are what records are read as, by kind.
var shapes = map[string]readAs{
	"service": as[store.Service], "workspace": as[store.Workspace], "api_key": as[store.Key], "template": as[signing.Template], "form": as[signing.Form],
	"form_link": as[store.FormLink], "document": as[signing.Document], "response": as[signing.FormResponse], "webhook": as[store.Webhook],
	"delivery": as[store.Delivery], "audit": as[[]*signing.AuditEntry], "message": as[[]*signing.Message], "reminder_limit": as[store.Limit],
}

// golden are the records of testdata, as they are written.
func golden(t testing.TB) map[string][]byte {
	text, err := os.ReadFile("testdata/v1.json")
	require.NoError(t, err)
	var records map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &records))
	compact := map[string][]byte{}
	for kind, data := range records {
		compact[kind], err = json.Marshal(data)
		require.NoError(t, err)
	}
	return compact
}

// TestEveryRecordIsReadFast: none that is written is left to encoding/json.
func TestEveryRecordIsReadFast(t *testing.T) {
	records := golden(t)
	require.Len(t, records, len(shapes))
	for kind, data := range records {
		fast, ok, want, err := shapes[kind](data)
		require.NoError(t, err)
		require.True(t, ok, kind)
		require.Equal(t, want, fast)
	}
}

// What read does not know is left to encoding/json; what it knows means the same.
func TestWhatIsReadFastMeansTheSame(t *testing.T) {
	for _, data := range []string{
		`{"v":1,"at":7,"d":{"ID":"","Title":"a\"\u00e9\n\ud83d\ude00é"}}`, `{"v":1,"at":-7,"d":{"Fields":[{"Required":false,"Choices":[]}]}}`,
		`{"v":1, "at":7,"d":{}}`, `{"v":1,"at":7,"d":{}} `, `{"at":7,"v":1,"d":{}}`, `{"v":1,"v":2,"d":{}}`, `{"V":1,"d":{}}`, `{"v":1,"d":{"x":1}}`,
		`{"v":1,"d":null}`, `{"v":01,"d":{}}`, `{"v":1.0,"d":{}}`, `{"v":1e0,"d":{}}`, `{"v":,"d":{}}`, `{"v":9999999999999999999,"d":{}}`, `{"v":-0,"d":{}}`,
		"{\"v\":1,\"d\":{\"Title\":\"\xff\"}}", "{\"v\":1,\"d\":{\"Title\":\"\t\"}}", `{"v":1,"d":{"Title":"\x"}}`, `{"v":1,"d":{"Title":"\`, `{"v":1,"d":{"Title":"`,
		`{"v":1,"d":{"CreatedAt":"2026-11-20T12:00:00+01:00"}}`, `{"v":1,"d":{"CreatedAt":"today"}}`, `{"v":1,"d":{"CreatedAt":7}}`, `{"v":1,"d":{"Fields":[,]}}`,
		`{"v":1,"d":{"Fields":[{},]}}`, `{"v":1,"d":{"Fields":[{}`, `{"v":1,"d":{"Fields":{}}}`, `{"v":1,"d":{"Fields":[{"Required":tru}]}}`, `{"v":1`, `{`, ``, `[]`, `{"v":1}x`,
		`{"v":1,"d":{"Title":"a"},"d":{"WorkspaceID":"w"}}`,
	} {
		requireSame(t, "form", []byte(data))
	}
	for _, data := range []string{
		`{"v":1,"d":{"Body":"YQ="}}`, `{"v":1,"d":{"Body":"YQ\n=="}}`, `{"v":1,"d":{"Body":null}}`, `{"v":1,"d":{"Attempts":[{"ResponseHeader":{"A":[],"B":["1","2"]}}]}}`,
		`{"v":1,"d":{"Attempts":[{"ResponseHeader":{"A":["1"],"A":["2"]}}]}}`, `{"v":1,"d":{"Attempts":[{"ResponseHeader":{"A":null}}]}}`,
		`{"v":1,"d":{"Events":[{"Document":{"Fields":[{"X":0.5,"Y":1e-7,"Width":-0}]}}]}}`, `{"v":1,"d":{"Events":[{"Document":{"Fields":[{"X":.5}]}}]}}`,
		`{"v":1,"d":{"Events":[{"Document":null}]}}`,
	} {
		requireSame(t, "delivery", []byte(data))
	}
}

func requireSame(t *testing.T, kind string, data []byte) {
	t.Helper()
	if fast, ok, want, err := shapes[kind](data); ok {
		require.NoError(t, err, "%s", data)
		require.Equal(t, want, fast, "%s", data)
	}
}

func FuzzWhatIsReadFastMeansTheSame(f *testing.F) {
	for kind, data := range golden(f) {
		f.Add(kind, data)
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		if shapes[kind] != nil {
			requireSame(t, kind, data)
		}
	})
}
