package look

import (
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver"
)

// limit returns the maxlength of an input for a "name", "reason", "text" or "url". Templates call it. Browsers count
// some characters as two, so they never allow more than the service.
func limit(what string) (int, error) {
	switch what {
	case "name":
		return refserver.MaxName, nil
	case "reason":
		return refserver.MaxReason, nil
	case "text":
		return refserver.MaxText, nil
	case "url":
		return refserver.MaxURL, nil
	}
	return 0, fmt.Errorf("no limit for a %q", what)
}
