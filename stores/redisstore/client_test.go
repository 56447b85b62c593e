package redisstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/stores/redisstore"
)

func TestNewClient(t *testing.T) {
	client, err := redisstore.NewClient("redis://ann:hunter2hunter2@localhost:6390/3")
	require.NoError(t, err)
	defer client.Close()
	o := client.Options()
	require.Equal(t, "localhost:6390", o.Addr)
	require.Equal(t, 3, o.DB)
	require.True(t, o.ContextTimeoutEnabled)
}

func TestNewClient_errorsHideTheURL(t *testing.T) {
	for _, url := range []string{"http://ann:hunter2hunter2@localhost", "redis://ann:hunter2hunter2@localhost:port", "hunter2hunter2"} {
		t.Run(url, func(t *testing.T) {
			_, err := redisstore.NewClient(url)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}
