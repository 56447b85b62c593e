package serve

import (
	"encoding"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/internal/refserver/api"
)

// --profile can set every field of refserver.Profile to something other than its zero value.
func TestEveryReadingCanBeSet(t *testing.T) {
	for field := range reflect.TypeFor[refserver.Profile]().Fields() {
		name := kebab(field.Name)
		setting := name + "=2"
		switch {
		case field.Type.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
			second := reflect.New(field.Type).Elem()
			second.SetInt(1)
			word, err := second.Interface().(encoding.TextMarshaler).MarshalText()
			require.NoError(t, err)
			setting = name + "=" + string(word)
		case field.Type.Kind() == reflect.Bool:
			setting = name
		case name == "extra":
			setting = `extra={"a":1}`
		case name == "endpoints":
			setting = `endpoints={"void document":{"method":"POST","path":"/void","inputs":"body"}}`
		}
		p, err := parseProfile([]string{setting})
		require.NoError(t, err, setting)
		require.False(t, reflect.ValueOf(p).FieldByName(field.Name).IsZero(), setting)
	}
}

func TestProfile(t *testing.T) {
	p, err := parseProfile([]string{
		"page-size=25", "count-page", "no-pagination=false", "in-progress=IN_PROGRESS", "timestamps=rfc3339",
		`endpoints={"void document":{"method":"DELETE","path":"/documents/{documentId}","inputs":"query"}}`,
	})
	require.NoError(t, err)
	require.Equal(t, refserver.Profile{
		PageSize: 25, CountPage: true, InProgress: "IN_PROGRESS", Timestamps: refserver.RFC3339,
		Endpoints: map[refserver.Operation]refserver.Route{
			refserver.VoidDocument: {Method: "DELETE", Path: "/documents/{documentId}", Inputs: api.InQuery},
		},
	}, p)
}

func TestEndpointsAsJSON(t *testing.T) {
	p, err := parseProfile([]string{`endpoints={"list documents":{"method":"POST","inputs":"body"}}`})
	require.NoError(t, err)
	endpoints, err := clientEndpoints(p)
	require.NoError(t, err)
	require.Equal(t, map[signforms.Operation]signforms.Endpoint{signforms.OpListDocuments: {Method: "POST", Inputs: signforms.InputsBody}}, endpoints)
}

func TestWrongProfileSaysWhatThereIs(t *testing.T) {
	for setting, want := range map[string]string{
		"colour":                              `there is no reading "colour"; there are count-page, endpoints`,
		"page-size=many":                      `--profile page-size: "many" is not a number`,
		"page-size":                           `--profile page-size: "" is not a number`,
		"count-page=maybe":                    `"maybe" is neither true nor false`,
		"timestamps=julian":                   `"julian" is not one of unix-seconds, unix-milliseconds, rfc3339`,
		`endpoints={"x":{"inputs":"header"}}`: `inputs: "header" is not one of query, body, both`,
		`endpoints={"x":{"place":"header"}}`:  `unknown field "place"`,
	} {
		text := refused(t, "--memory", "--addr", "127.0.0.1:0", "--profile", setting)
		require.Contains(t, text, want, setting)
	}
}

// refused runs serve with a mistake in its flags and returns the error, whose exit code is that of a mistake.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	cmd := Command("")
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.Execute()
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err), "%v", err)
	return err.Error()
}
