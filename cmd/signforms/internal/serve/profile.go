package serve

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/refserver"
)

// parseProfile reads the values of --profile. Each is a name with a value, such as page-size=25. A
// name without a value sets a boolean to true.
func parseProfile(settings []string) (p refserver.Profile, err error) {
	fields := reflect.ValueOf(&p).Elem()
	for _, setting := range settings {
		name, text, given := strings.Cut(setting, "=")
		field := fields.FieldByNameFunc(func(field string) bool { return kebab(field) == name })
		if !field.IsValid() {
			return p, cli.UsageError("--profile: there is no reading %q; there are %s", name, strings.Join(profileNames(), ", "))
		}
		if !given && field.Kind() == reflect.Bool {
			text = "true"
		}
		if err := setReading(field, text); err != nil {
			return p, cli.UsageError("--profile %s: %w", name, err)
		}
	}
	return p, nil
}

// clientEndpoints returns the endpoints for a client of a service with the profile. The client
// returns the best errors for invalid endpoints.
func clientEndpoints(p refserver.Profile) (endpoints map[signforms.Operation]signforms.Endpoint, err error) {
	text, err := json.Marshal(p.Endpoints) // both types have the same JSON
	if err == nil {
		err = json.Unmarshal(text, &endpoints)
	}
	if err == nil {
		_, err = signforms.New("http://service.test", "key", &signforms.Options{Endpoints: endpoints})
	}
	if e, ok := errors.AsType[*signforms.Error](err); ok && len(e.Fields) > 0 {
		return nil, cli.UsageError("--profile %s: %s", strings.Replace(e.Fields[0].Field, "Options.Endpoints", "endpoints", 1), e.Fields[0].Problem)
	}
	return endpoints, err
}

func profileNames() (names []string) {
	for field := range reflect.TypeFor[refserver.Profile]().Fields() {
		names = append(names, kebab(field.Name))
	}
	slices.Sort(names)
	return names
}

// asWords changes the spelling of initialisms, so that kebab does not split them.
var asWords = strings.NewReplacer("IDs", "Ids", "ID", "Id", "PDF", "Pdf")

// kebab writes PageSize as page-size.
func kebab(name string) string {
	var b strings.Builder
	name = asWords.Replace(name)
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// setReading sets a field of the profile from text. Words and numbers are written literally, and
// other values as JSON.
func setReading(field reflect.Value, text string) error {
	if word, ok := field.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return word.UnmarshalText([]byte(text))
	}
	switch field.Kind() {
	case reflect.Bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		field.SetBool(on)
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		field.SetInt(int64(n))
	case reflect.String:
		field.SetString(text)
	default:
		return cli.DecodeJSON(text, field.Addr().Interface())
	}
	return nil
}
