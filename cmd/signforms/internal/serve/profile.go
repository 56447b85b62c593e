package serve

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

// readings holds the words for enumerations that are numbers in Go. The index of a word is its number.
var readings = map[reflect.Type][]string{
	reflect.TypeFor[signformstest.TimestampFormat](): {"unix-seconds", "unix-milliseconds", "rfc3339"},
	reflect.TypeFor[signformstest.UnknownStatus]():   {"refused", "ignored", "empty"},
	reflect.TypeFor[signformstest.DateFormat]():      {"date-or-time", "time-only", "date-only"},
	reflect.TypeFor[signformstest.DateEnd]():         {"included", "excluded", "at-day-start", "at-day-end"},
	reflect.TypeFor[signformstest.NoneForm]():        {"empty", "missing", "null"},
	reflect.TypeFor[signformstest.ErrorLayout]():     {"message", "error", "data-message", "data-error", "text"},
}

// parseProfile reads the values of --profile. Each is a name with a value, as in page-size=25. A name alone switches a setting on.
func parseProfile(settings []string) (p signformstest.Profile, err error) {
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

func profileNames() (names []string) {
	for field := range reflect.TypeFor[signformstest.Profile]().Fields() {
		names = append(names, kebab(field.Name))
	}
	slices.Sort(names)
	return names
}

// asWords writes initialisms as words, so that kebab does not split them.
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

// setReading sets a field of the profile from text. Words and numbers are written as they are, other values as JSON.
func setReading(field reflect.Value, text string) error {
	if words := readings[field.Type()]; words != nil {
		return setWord(field, words, text)
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
		return setJSON(field, text)
	}
	return nil
}

func setWord(field reflect.Value, words []string, text string) error {
	n := slices.Index(words, text)
	if n < 0 {
		return fmt.Errorf("%q is not one of %s", text, strings.Join(words, ", "))
	}
	field.Set(reflect.ValueOf(n).Convert(field.Type()))
	return nil
}

func setJSON(field reflect.Value, text string) error {
	endpoints, special := field.Addr().Interface().(*map[signforms.Operation]signforms.Endpoint)
	if !special {
		return cli.DecodeJSON(text, field.Addr().Interface())
	}
	var given map[signforms.Operation]cli.EndpointJSON
	if err := cli.DecodeJSON(text, &given); err != nil {
		return err
	}
	read, err := cli.Endpoints(given)
	*endpoints = read
	return err
}
