package refserver_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// offer adds a template with a PDF and three fields, and sends it to Ann.
func offer(t *testing.T, srv *servicetest.Server) (template string, sent *signforms.TemplateSendResult) {
	t.Helper()
	place := refserver.TemplateField{Role: "Buyer", Page: 1, X: 0.1, Y: 0.8, Width: 0.3, Height: 0.05}
	fields := []refserver.TemplateField{place, place, place}
	fields[0].Name, fields[0].Kind, fields[0].Required = "Signature", refserver.SignatureField, true
	fields[1].Name, fields[1].Kind, fields[1].Required = "Company <b>", refserver.TextField, true
	fields[2].Name, fields[2].Kind = "Newsletter", refserver.CheckboxField
	template = srv.AddTemplate(refserver.Template{
		Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: []byte("%PDF-1.4 offer"), Fields: fields,
	})
	sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	return template, sent
}

func TestSign_fillsInTheFields(t *testing.T) {
	srv := servicetest.Start(t, nil)
	r := newReceiver(t)
	srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: refserver.TemplateResponse})
	template, sent := offer(t, srv)
	for _, id := range []string{template, sent.DocumentID} {
		t.Run(id, func(t *testing.T) {
			_, body := get(t, srv, srv.URL+"/documents/"+id+".pdf")
			require.Equal(t, "%PDF-1.4 offer", body)
		})
	}
	ann := srv.Signer(sent.DocumentID, "ann@example.com").From(refserver.Origin{IP: "203.0.113.7", UserAgent: "browser"})
	require.EqualError(t, ann.Sign(), `fields: "Signature" must be filled in`)
	require.EqualError(t, ann.Sign(refserver.FieldValue{Name: "Fax"}),
		`fields: "Fax" is not a field of the document; this signer fills in "Signature", "Company <b>", "Newsletter"`)
	require.NoError(t, ann.Sign(refserver.FieldValue{Name: "Signature", Value: "Ann"}, refserver.FieldValue{Name: "Company <b>", Value: "A & B"}))
	require.NoError(t, srv.Settle(t.Context()))
	last := r.all()[len(r.all())-1]
	require.Contains(t, string(last.body), `"text(page1)[Company <b>]":"A & B"}]`)
	require.NotContains(t, string(last.body), "signature(page1)")
	trail := srv.Audit(sent.DocumentID)
	require.Equal(t, "203.0.113.7 browser", trail[len(trail)-1].IP+" "+trail[len(trail)-1].UserAgent)
	require.Empty(t, trail[0].IP, "the author's acts are the API's")
}

func TestSign_linkAsksForTheFields(t *testing.T) {
	srv := servicetest.Start(t, nil)
	_, sent := offer(t, srv)
	link := string(sent.Signers[0].SentURL)
	status, page := get(t, srv, link)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, `<label>Company &lt;b&gt; <input name="Company &lt;b&gt;" required></label>`)
	require.Contains(t, page, `<input name="Newsletter" type=checkbox value=true>`)
	post := func(form url.Values) (int, string) {
		t.Helper()
		resp, err := srv.HTTPClient().PostForm(link, form)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	status, page = post(url.Values{"Signature": {"Ann"}})
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, page, "fields: &#34;Company &lt;b&gt;&#34; must be filled in")
	status, page = post(url.Values{"Signature": {"Ann"}, "Company <b>": {"A & B"}, "Newsletter": {"true"}})
	require.Equal(t, http.StatusOK, status, page)
	trail := srv.Audit(sent.DocumentID)
	require.EqualValues(t, "complete", trail[len(trail)-1].Action)
	require.Equal(t, "127.0.0.1", trail[len(trail)-1].IP)
	require.True(t, strings.HasPrefix(trail[len(trail)-1].UserAgent, "Go-http-client"))
}

func TestForm_kindsOfQuestions(t *testing.T) {
	srv := servicetest.Start(t, nil)
	form := srv.AddForm(refserver.Form{Title: "Order", Fields: []refserver.Field{
		{Question: "Size", Kind: refserver.ChoiceQuestion, Choices: []string{"S", "L"}, Required: true},
	}})
	_, err := srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{"Size": "M"}})
	require.EqualError(t, err, `answers: the question "Size" (field q1) is answered by one of "S", "L"`)
	_, err = srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{"Size": "L"}})
	require.NoError(t, err)
	trail := srv.Audit(form)
	require.Equal(t, "192.0.2.1", trail[len(trail)-1].IP)
}

func TestAddDocument_fieldsOfItsSigners(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{
		Name: "Lease", PDF: []byte("%PDF-1.4 lease"), Signers: []refserver.Signer{{Email: "ann@example.com"}},
		Fields: []refserver.TemplateField{{Name: "Day", Role: "ann@example.com", Kind: refserver.DateField, Required: true, Page: 1, Width: 1, Height: 1}},
	})
	_, body := get(t, srv, srv.URL+"/documents/"+doc+".pdf")
	require.Equal(t, "%PDF-1.4 lease", body)
	ann := srv.Signer(doc, "ann@example.com")
	require.EqualError(t, ann.Sign(refserver.FieldValue{Name: "Day", Value: "today"}), `fields: "Day" must be a date as in 2006-01-02`)
	require.NoError(t, ann.Sign(refserver.FieldValue{Name: "Day", Value: "2026-11-21"}))
}
