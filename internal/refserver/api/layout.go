package api

// ErrorLayout is how the body of an error answer is laid out; it is not documented by the service.
type ErrorLayout int

// The layouts of errors.
const (
	LayoutMessage     ErrorLayout = iota // {"message","code"}
	LayoutError                          // {"error"}
	LayoutDataMessage                    // {"data":{"message","code"}}
	LayoutDataError                      // {"data":{"error"}}
)

// print returns the body of an error answer.
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
		panic(err) // strings always encode
	}
	return body
}
