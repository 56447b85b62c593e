package serve

import (
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/refserver"
)

// parseKeep reads the values of --keep. Each value is a log and the number of its newest entries to
// keep, such as requests=1000.
func parseKeep(settings []string) (k refserver.Keep, err error) {
	logs := map[string]*int{"requests": &k.Requests, "deliveries": &k.Deliveries, "messages": &k.Messages, "audit": &k.Audit}
	for _, setting := range settings {
		name, text, _ := strings.Cut(setting, "=")
		if logs[name] == nil {
			return k, cli.UsageError("--keep: there is no log %q; there are audit, deliveries, messages, requests, as in requests=1000", name)
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return k, cli.UsageError("--keep %s: %q is not a number, 1 or more", name, text)
		}
		*logs[name] = n
	}
	return k, nil
}
