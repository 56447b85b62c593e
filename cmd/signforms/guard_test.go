package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestServe_withoutToken sends requests as proxies, other names and other machines do. Console and control API answer
// only those that come from this machine, by a loopback name, through no proxy that can be told.
func TestServe_withoutToken(t *testing.T) {
	const onLoopback = "GET /_/api/v1/credentials HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	plain := serveInProcess(t, "--memory")
	named := serveInProcess(t, "--memory", "--allow-host", "sandbox.example.com")
	for _, c := range []struct {
		name, request string
		to            *served
		status        int
	}{
		{name: "local", request: onLoopback, status: 200},
		{name: "localhost", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: LOCALHOST:1\r\n", status: 200},
		{name: "IPv6", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: [::1]:4874\r\n", status: 200},
		{name: "loopback name allowed", request: onLoopback, to: serveInProcess(t, "--memory", "--allow-host", "127.0.0.2"), status: 200},

		{name: "allowed name", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: sandbox.example.com\r\n", to: named, status: 403},
		{name: "allowed name, console", request: "GET /_/ HTTP/1.1\r\nHost: sandbox.example.com\r\n", to: named, status: 403},
		{name: "allowed name, reset", request: "POST /_/api/v1/reset HTTP/1.1\r\nHost: sandbox.example.com\r\nContent-Length: 0\r\n", to: named, status: 403},
		{name: "allowed name, workspace", request: "GET /_/w/first/api/v1/credentials HTTP/1.1\r\nHost: sandbox.example.com\r\n", to: named, status: 403},
		{name: "another name is allowed", request: onLoopback, to: named, status: 403},
		{name: "allowed name, signing page", request: "GET /sign/x HTTP/1.1\r\nHost: sandbox.example.com\r\n", to: named, status: 404},
		{name: "public URL", request: onLoopback, to: serveInProcess(t, "--memory", "--public-url", "http://localtest.me"), status: 403},
		{name: "name that resolves to loopback", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: localtest.me\r\n", status: 421},
		{name: "subdomain of localhost", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: evil.localhost\r\n", status: 421},
		{name: "compatible IPv6", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: [::7f00:1]\r\n", status: 421},
		{name: "decimal IPv4", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost: 2130706433\r\n", status: 421},
		{name: "no name", request: "GET /_/api/v1/credentials HTTP/1.1\r\nHost:\r\n", status: 421},
		{name: "two names", request: onLoopback + "Host: evil.example\r\n", status: 400},
		{name: "absolute form", request: "GET http://127.0.0.1/_/api/v1/credentials HTTP/1.1\r\nHost: evil.example\r\n", status: 403},
		{name: "absolute form, other name", request: "GET http://evil.example/_/api/v1/credentials HTTP/1.1\r\nHost: 127.0.0.1\r\n", status: 421},
		{name: "absolute form without a host", request: "GET http:/_/api/v1/credentials HTTP/1.1\r\nHost: 127.0.0.1\r\n", status: 403},
		{name: "nginx, proxy_pass alone", request: "GET /_/api/v1/credentials HTTP/1.0\r\nHost: 127.0.0.1:4874\r\nConnection: close\r\n", status: 403},
		{name: "encoded path", request: strings.Replace(onLoopback, "/_/", "/%5f/", 1) + "Via: 1.1 proxy\r\n", status: 403},
		{name: "Forwarded", request: onLoopback + "Forwarded: for=192.0.2.1\r\n", status: 403},
		{name: "X-Forwarded-For", request: onLoopback + "x-forwarded-for: 192.0.2.1\r\n", status: 403},
		{name: "X-Forwarded-Proto without a value", request: onLoopback + "X-Forwarded-Proto:\r\n", status: 403},
		{name: "Via", request: onLoopback + "Via: 1.1 varnish\r\n", status: 403},
		{name: "X-Real-IP", request: onLoopback + "X-Real-IP: 192.0.2.1\r\n", status: 403},
		{name: "Envoy", request: onLoopback + "x-envoy-expected-rq-timeout-ms: 15000\r\n", status: 403},
		{name: "cloudflared", request: onLoopback + "Cf-Ray: 1\r\n", status: 403},
		{name: "True-Client-IP", request: onLoopback + "True-Client-IP: 192.0.2.1\r\n", status: 403},
		{name: "X-Client-IP", request: onLoopback + "X-Client-IP: 192.0.2.1\r\n", status: 403},
		{name: "X-Cluster-Client-IP", request: onLoopback + "X-Cluster-Client-IP: 192.0.2.1\r\n", status: 403},
		{name: "CDN-Loop", request: onLoopback + "Cdn-Loop: cdn\r\n", status: 403},
		{name: "Fastly", request: onLoopback + "Fastly-FF: 1\r\n", status: 403},
		{name: "Azure Front Door", request: onLoopback + "X-Azure-SocketIP: 192.0.2.1\r\n", status: 403},
		{name: "a local program's headers", request: onLoopback + "X-Request-Id: 1\r\nTraceparent: 00-1-1-00\r\nX-Api-Key: 1\r\n", status: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := c.to
			if to == nil {
				to = plain
			}
			status, body := raw(t, to, c.request+"\r\n")
			require.Equal(t, c.status, status, body)
			if status != 200 {
				require.NotContains(t, body, to.APIKey)
			}
			if status == 403 || status == 421 {
				require.Contains(t, body, "--token")
			}
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{Protocols: new(http.Protocols)}}
		client.Transport.(*http.Transport).Protocols.SetUnencryptedHTTP2(true)
		_, err := client.Get(plain.Listening + "/_/api/v1/credentials")
		require.Error(t, err, "the sandbox speaks HTTP/1.1 alone")
	})
	t.Run("with a token", func(t *testing.T) {
		to := serveInProcess(t, "--memory", "--allow-host", "sandbox.example.com", "--token", "open sesame")
		request := "GET /_/api/v1/credentials HTTP/1.1\r\nHost: sandbox.example.com\r\nX-Forwarded-For: 192.0.2.1\r\n"
		status, _ := raw(t, to, request+"Authorization: Bearer open sesame\r\n\r\n")
		require.Equal(t, 200, status)
		status, body := raw(t, to, request+"\r\n")
		require.Equal(t, 401, status)
		require.NotContains(t, body, to.APIKey)
	})
}

// raw sends a request as it is and returns status and body of the response.
func raw(t *testing.T, to *served, request string) (status int, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(to.Listening, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	_, err = io.WriteString(conn, request)
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}
