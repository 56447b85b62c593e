package batch

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpellingsOfOneService(t *testing.T) {
	for _, url := range []string{"https://api.example.com/v1", "https://api.example.com/v1/", "https://API.Example.com:443/v1", "http://api.example.com./v1//",
		"http://api.example.com:80/./v1", "https://user@api.example.com/v1"} {
		require.Equal(t, "api.example.com/v1", Service(url), url)
	}
	for _, url := range []string{"http://127.0.0.1:8080", "http://localhost:8080/", "http://LOCALHOST:8080", "http://127.0.0.2:8080", "http://[::1]:8080", "http://a.localhost:8080"} {
		require.Equal(t, "localhost:8080", Service(url), url)
	}
	for url, want := range map[string]string{
		"https://api.example.com/V1":      "api.example.com/V1",
		"https://api.example.com:8443/v1": "api.example.com:8443/v1",
		"https://notlocalhost":            "notlocalhost",
	} {
		require.Equal(t, want, Service(url), url)
	}
}
