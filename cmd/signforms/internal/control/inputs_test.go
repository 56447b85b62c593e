package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestInputsThatAreRefused holds the message of each: the first asks for nothing, so it must not pass for what was left out.
func TestInputsThatAreRefused(t *testing.T) {
	api := control.New(control.Config{Server: refserver.NewServer(t, nil)})
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/workspaces", `{"name":""}`, http.StatusUnprocessableEntity, "name: is empty"},
		{"POST", "/workspaces", `{"lifetime":"0s"}`, http.StatusUnprocessableEntity, "lifetime: must be at least 1s"},
		{"POST", "/templates", `{"key":"` + strings.Repeat("x", 1001) + `","name":"Lease","roles":[{"title":"Buyer"}]}`, http.StatusUnprocessableEntity, "key: has 1001 characters"},
		{"POST", "/forms", `{"key":"` + strings.Repeat("x", 1001) + `","title":"Lease","fields":[{"question":"Why?"}]}`, http.StatusUnprocessableEntity, "key: has 1001 characters"},
		{"POST", "/documents", `{"key":"` + strings.Repeat("x", 1001) + `","name":"Lease","signers":[{"email":"ann@example.com"}]}`, http.StatusUnprocessableEntity, "key: has 1001 characters"},
		{"POST", "/documents", `{"name":"Lease"}`, http.StatusUnprocessableEntity, "signer"},
		{"POST", "/documents", `{"name":"Lease","draft":true,"key":null,"signers":null,"signingOrder":null,"pdf":null,"fields":null,"expiresFor":null}`, http.StatusCreated, "id"},
		{"GET", "/messages?about=x", "", http.StatusBadRequest, `there is no parameter \"about\"; there are count, documentId, kind, limit, offset, since, to, wait"`},
		{"GET", "/templates?wait=1s", "", http.StatusBadRequest, `there is no parameter \"wait\"; there are limit, name, offset"`},
	} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequest(c.method, wire.Prefix+c.path, strings.NewReader(c.body)))
		require.Equal(t, c.status, answer.Code, "%s: %s", c.path, answer.Body)
		require.Contains(t, answer.Body.String(), c.says, c.path)
	}
}
