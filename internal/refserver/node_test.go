package refserver_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// awkward holds values that JSON encoders write differently.
const awkward = "A & B <c> \"d\" \u2028 é 😀 \\ \x7f \t"

// startNode runs the receiver written in JavaScript and returns its URL.
func startNode(t *testing.T, secret string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("starting Node takes a while")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH: install Node 20 to check deliveries against JavaScript")
	}
	cmd := exec.Command(node, "testdata/receiver.mjs")
	cmd.Env = append(os.Environ(), "SECRET="+secret)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}

func TestDelivery_verifiedByJavaScript(t *testing.T) {
	t.Parallel()
	srv := servicetest.Start(t, nil)
	url := startNode(t, srv.WebhookSecret)
	form := srv.AddForm(refserver.Form{Title: awkward, Fields: []refserver.Field{{Question: awkward}, {Question: "Plain?"}}})
	template := srv.AddTemplate(refserver.Template{Name: awkward, Roles: []refserver.Role{{Title: awkward}}})
	pdf := srv.AddDocument(refserver.Document{Name: awkward, Signers: []refserver.Signer{{Name: awkward, Email: "ann@example.com"}}})
	var hooks []string
	for _, family := range []refserver.EventFamily{refserver.FormResponse, refserver.SignatureCompleted, refserver.TemplateResponse} {
		for _, object := range []bool{false, true} {
			hooks = append(hooks, srv.AddWebhook(refserver.Webhook{URL: url, Event: family, Object: object}))
		}
	}

	_, err := srv.SubmitForm(form, refserver.Submission{RespondentEmail: "ann@example.com", Answers: map[string]string{awkward: awkward}})
	require.NoError(t, err)
	created := sendTemplate(t, srv, template, awkward, "ben@example.com")
	for _, signer := range []refserver.Actor{srv.Signer(pdf, "ann@example.com"), srv.Signer(created, "ben@example.com")} {
		t.Run(fmt.Sprint(signer), func(t *testing.T) {
			require.NoError(t, signer.View())
			require.NoError(t, signer.Sign(refserver.FieldValue{Kind: "contact_field", Page: 2, Label: awkward, Value: awkward}))
		})
	}
	for _, hook := range hooks {
		srv.TestWebhook(hook)
	}
	require.NoError(t, srv.Settle(t.Context()))

	deliveries := srv.Deliveries()
	require.Len(t, deliveries, 2*7+len(hooks))
	for _, d := range deliveries {
		require.Equal(t, refserver.DeliveryDelivered, d.Status, "%s\n%s", d, d.Body)
	}
}

func TestDelivery_otherSecretInJavaScript(t *testing.T) {
	t.Parallel()
	srv := servicetest.Start(t, nil)
	hook := srv.AddWebhook(refserver.Webhook{URL: startNode(t, "another secret"), Event: refserver.FormResponse})
	srv.TestWebhook(hook)
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, 401, srv.Deliveries()[0].Attempts[0].StatusCode)
}
