package api

// ErrorLayout is the layout of the body of an error response. The service does not document it.
type ErrorLayout int

// The layouts of errors.
const (
	LayoutMessage     ErrorLayout = iota // {"message","code"}
	LayoutError                          // {"error"}
	LayoutDataMessage                    // {"data":{"message","code"}}
	LayoutDataError                      // {"data":{"error"}}
)

// print returns the body of an error response.
func (l ErrorLayout) print(f *failure) []byte {
	message := errorBody{Message: f.message, Code: f.code}
	bare := map[string]string{"error": f.message}
	var v any
	switch l {
	case LayoutError:
		v = bare
	case LayoutDataMessage:
		v = map[string]errorBody{"data": message}
	case LayoutDataError:
		v = map[string]any{"data": bare}
	default:
		v = message
	}
	body, err := marshal(v)
	if err != nil {
		panic(err) // cannot fail: f has only strings
	}
	return body
}
