package console_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/browsertest"
	"github.com/signforms/signforms-go/signformstest"
)

// A form is sent to several people, and what was entered stays when it is refused.
func TestSendingAForm(t *testing.T) {
	service := newConsole(t)
	_, _, formID, _ := populate(t, service)
	service.ClearFaults() // one of them is for sends
	p := browsertest.Open(t, browsertest.Screen{Width: 360})
	p.Go(service.URL + "/_/forms/" + formID)
	p.Type("#receivers", "Ann Buyer <ann@example.com>\nBob")
	p.Click("[action$='/send'] button")
	p.WaitText(`"Bob" is not a receiver`)
	p.WaitError("422")
	require.Equal(t, "Ann Buyer <ann@example.com>\nBob", browsertest.Eval[string](p, "document.querySelector('#receivers').value"))
	p.Set("#receivers", "Ann Buyer <ann@example.com>\nBob Low <bob@example.com>")
	p.Shot("form-refused")
	p.Click("[action$='/send'] button")
	p.WaitText("It was sent.")
	p.RequireAccessible()
	sent := map[string]bool{}
	for _, m := range service.Messages() {
		if m.DocumentID == formID {
			sent[m.To] = true
		}
	}
	require.Equal(t, map[string]bool{"ann@example.com": true, "bob@example.com": true}, sent)
}

// The variables of a template that are filled in go to the API, and stay with the rest when they are refused.
func TestVariablesOfATemplateAreFilled(t *testing.T) {
	service := newConsole(t)
	id := service.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}, Variables: []string{"[fee]", "[term]"}})
	resp, err := service.HTTPClient().PostForm(service.URL+"/_/templates/"+id+"/send", url.Values{"name0": {"Ann"}, "email0": {"ann"}, "variable0": {"10 €"}})
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	page, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Regexp(t, `(?s)name="name0"[^>]*value="Ann".*name="email0"[^>]*value="ann".*name="variable0"[^>]*value="10 €"`, string(page))

	p := browsertest.Open(t, browsertest.Screen{Width: 1280})
	p.Go(service.URL + "/_/templates/" + id)
	p.Type("[name=name0]", "Ann")
	p.Type("[name=email0]", "ann@example.com")
	p.Type("#variable1", "two years")
	p.Shot("variables")
	p.RequireAccessible()
	p.Click("form button.main")
	p.WaitText("It was sent.")
	requests := service.Requests()
	last := requests[len(requests)-1]
	require.Equal(t, signforms.OpSend, last.Operation)
	require.Contains(t, string(last.Body), `"customVariables":[{"varName":"[term]","varValue":"two years"}]`)
}
