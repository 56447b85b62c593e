package serve

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

func TestKeepNamesItsLogs(t *testing.T) {
	k, err := parseKeep([]string{"requests=1", "deliveries=2", "messages=3", "audit=4"})
	require.NoError(t, err)
	require.Equal(t, refserver.Keep{Requests: 1, Deliveries: 2, Messages: 3, Audit: 4}, k)
	for setting, want := range map[string]string{
		"mail=1": `there is no log "mail"; there are audit, deliveries, messages, requests`, "audit": `--keep audit: "" is not a number, 1 or more`,
		"audit=0": `"0" is not`, "audit=-1": `"-1" is not`, "audit=many": `"many" is not`,
	} {
		text := refused(t, "--memory", "--addr", "127.0.0.1:0", "--keep", setting)
		require.Contains(t, text, want, setting)
	}
}
