package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHostCheck(t *testing.T) {
	c := newHostCheck("https://Sandbox.example.com:8443", []string{"qa.internal"})
	for host, want := range map[string]bool{
		"localhost": true, "localhost:4874": true, "LOCALHOST:1": true, "127.0.0.1": true, "127.0.0.1:4874": true, "127.3.2.1:4874": true,
		"[::1]:4874": true, "[::1]": true, "sandbox.example.com": true, "sandbox.example.com:8443": true, "QA.internal:80": true,
		"127.evil.com": false, "127.0.0.1.evil.com": false, "localhost.evil.com": false, "evil.com": false, "": false, "127.1": false,
		"sandbox.example.com.evil.com": false, "192.168.0.10:4874": false, "[::ffff:127.0.0.1]": true, "0.0.0.0:4874": false, "0x7f.1": false,
	} {
		require.Equal(t, want, c.allows(host), host)
	}
	require.False(t, newHostCheck("", nil).allows(""))
}

func TestNamesThatNoHostHeaderEquals(t *testing.T) {
	for name, right := range map[string]bool{
		"qa.internal": true, "10.0.0.1": true, "::1": true, "[fd00::1]": true,
		"*": false, "*.example.com": false, "http://qa.internal": false, "qa.internal:80": false, "": false, "a b": false,
	} {
		require.Equal(t, right, CheckHosts([]string{name}) == nil, name)
	}
	require.True(t, newHostCheck("", []string{"[fd00::1]"}).allows("[fd00::1]:4874"))
}

func TestNamedForOthers(t *testing.T) {
	for publicURL, want := range map[string]bool{
		"": false, "http://localhost:8080": false, "http://127.0.0.1": false, "http://[::1]:1": false,
		"https://sandbox.example.com": true, "http://sandbox:4874": true, "http://10.0.0.1": true,
	} {
		require.Equal(t, want, namedForOthers(publicURL), publicURL)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for addr, want := range map[string]bool{
		"127.0.0.1:4874": true, "[::1]:4874": true, "localhost:0": true, "127.9.9.9:1": true,
		"0.0.0.0:4874": false, ":4874": false, "[::]:4874": false, "192.168.1.2:80": false, "example.com:80": false, "4874": false,
	} {
		require.Equal(t, want, loopbackOnly(addr), addr)
	}
}
