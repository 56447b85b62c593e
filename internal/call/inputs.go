package call

import (
	"fmt"
	"net/url"
	"time"
)

// Inputs are the flat inputs of an operation by their names: strings, integers and booleans.
type Inputs map[string]any

// wireTime is RFC 3339 in UTC with milliseconds, as in answers. The format of inputs is not documented by the service.
const wireTime = "2006-01-02T15:04:05.000Z"

// Set adds a string, an integer, a *bool or a time, unless it is zero or nil.
func (in Inputs) Set(name string, value any) {
	switch v := value.(type) {
	case *bool:
		if v != nil {
			in[name] = *v
		}
	case time.Time:
		if !v.IsZero() {
			in[name] = v.UTC().Format(wireTime)
		}
	default:
		if v != "" && v != 0 {
			in[name] = v
		}
	}
}

// Text returns the text of an input; "" if there is none.
func (in Inputs) Text(name string) string {
	if in[name] == nil {
		return ""
	}
	return fmt.Sprint(in[name])
}

// Query returns the inputs as a query, in the order of their names.
func (in Inputs) Query() string {
	query := make(url.Values, len(in))
	for name := range in {
		query[name] = []string{in.Text(name)}
	}
	return query.Encode()
}
