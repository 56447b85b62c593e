package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/webhook"
	"github.com/signforms/signforms-go/webhook/webhooktest"
)

func TestRouter(t *testing.T) {
	const secret = "whsec_of_the_test"
	verifier, err := webhook.NewVerifier([]string{secret}, &webhook.VerifierOptions{})
	require.NoError(t, err)
	server := httptest.NewServer(newRouter(verifier))
	defer server.Close()
	for _, c := range []struct {
		path, secret string
		status       int
	}{
		{path: "/webhook", secret: secret, status: http.StatusOK},
		{path: "/webhook", secret: "a guess", status: http.StatusUnauthorized},
		{path: "/own", secret: secret, status: http.StatusOK},
		{path: "/own", secret: "a guess", status: http.StatusUnauthorized},
	} {
		request := webhooktest.NewRequest(server.URL+c.path, c.secret, time.Now(), webhooktest.Sample(webhook.TypeTemplateSigned))
		response, err := server.Client().Do(request)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, c.status, response.StatusCode, "%s signed with %q", c.path, c.secret)
	}
}

func TestWithoutArguments(t *testing.T) {
	require.NoError(t, runDemo(t.Context()))
}
