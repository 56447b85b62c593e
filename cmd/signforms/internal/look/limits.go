package look

import (
	"fmt"

	"github.com/signforms/signforms-go/signformstest"
)

// limit returns the maxlength of an input for a "name", "reason", "text" or "url". Templates call it. Browsers count some characters
// as two, so they never allow more than the service.
func limit(what string) (int, error) {
	switch what {
	case "name":
		return signformstest.MaxName, nil
	case "reason":
		return signformstest.MaxReason, nil
	case "text":
		return signformstest.MaxText, nil
	case "url":
		return signformstest.MaxURL, nil
	}
	return 0, fmt.Errorf("no limit for a %q", what)
}
