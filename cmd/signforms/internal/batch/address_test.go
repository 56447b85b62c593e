package batch

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpellingsOfOneService(t *testing.T) {
	for _, url := range []string{"https://api.example.com/v1", "https://api.example.com/v1/", "https://API.Example.com:443/v1", "http://api.example.com./v1//",
		"http://api.example.com:80/./v1", "https://user@api.example.com/v1", "https://api.example.com:0443/%76%31"} {
		require.Equal(t, "api.example.com/v1", Service(url), url)
	}
	for _, url := range []string{"http://127.0.0.1:8080", "http://localhost:8080/", "http://LOCALHOST:8080", "http://127.0.0.2:8080", "http://[::1]:8080", "http://a.localhost:8080", "http://localhost:08080"} {
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

func TestSpellingsOfOneMailbox(t *testing.T) {
	for _, same := range [][]string{
		{"é@x.org", "e\u0301@x.org", "É@x.org", "E\u0301@X.ORG"},
		{"a@münchen.de", "a@xn--mnchen-3ya.de", "A@MÜNCHEN.de", "a@mu\u0308nchen.de", "a@XN--MNCHEN-3YA.DE"},
		{"ας@x.org", "ΑΣ@x.org", "ασ@x.org"},
		{"a@x.org", "a@x。org", "a@X.Org", "Ann <a@x.org>", "\"a\"@x.org"},
		{"a@my_host.example.org", "a@My_Host.example.org"},
		{"a@[127.0.0.1]", "A@[127.0.0.1]"},
	} {
		for _, text := range same {
			require.Equal(t, address(same[0]), address(text), text)
			if !strings.Contains(text, "<") {
				require.NoError(t, CheckAddress(text))
			}
		}
	}
	for a, b := range map[string]string{"a@x.org": "b@x.org", "a+b@x.org": "a@x.org", "a.b@x.org": "ab@x.org", "e@x.org": "é@x.org", "a@straße.de": "a@strasse.de", "a": "b"} {
		require.NotEqual(t, address(a), address(b))
	}
}
