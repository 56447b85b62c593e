package refserver_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func sendOffer(t *testing.T, srv *servicetest.Server) (templateID string, sent *signforms.TemplateSendResult) {
	t.Helper()
	templateID = srv.AddTemplate(refserver.Template{
		Name: "Offer", SigningOrder: true, Roles: []refserver.Role{{Title: "Seller"}, {Title: "Buyer"}},
		Fields: []refserver.TemplateField{{Name: "Place", Role: "Seller", Kind: refserver.TextField, Page: 1, Width: 0.5, Height: 0.1}},
	})
	sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers: []signforms.Receiver{
			{Name: "Sam", Email: "sam@example.com", RoleTitle: "Seller"}, {Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"},
		},
	})
	require.NoError(t, err)
	return templateID, sent
}

func TestFindDocument_state(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	templateID, sent := sendOffer(t, srv)
	require.NoError(t, srv.Signer(sent.DocumentID, "sam@example.com").From(refserver.Origin{IP: "192.0.2.9"}).
		Sign(refserver.FieldValue{Name: "Place", Value: "Rome"}))

	d, ok := srv.FindDocument(sent.DocumentID)
	require.True(t, ok)
	require.Equal(t, refserver.KindTemplate, d.Type)
	require.Equal(t, templateID, d.TemplateID)
	require.Equal(t, "Rome", d.Values[0].Value)
	require.Equal(t, d.Signers[0].ID, d.Values[0].SignerID)
	sam, ann := d.Signers[0], d.Signers[1]
	require.Equal(t, refserver.SignerStatus("SIGNED"), sam.Status)
	require.Equal(t, "192.0.2.9", sam.IP)
	require.False(t, sam.InTurn)
	require.True(t, ann.InTurn)
	require.Equal(t, srv.Now(), sam.SignedAt)

	_, ok = srv.FindDocument("66f000000000000000000000")
	require.False(t, ok)
}

func TestFindDocuments_newestFirst(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})
	for _, name := range []string{"First", "Second", "Third"} {
		srv.AddDocument(refserver.Document{Name: name, Signers: []refserver.Signer{{Email: "ann@example.com"}}})
		srv.Advance(time.Hour)
	}
	_, sent := sendOffer(t, srv)
	names := func(f refserver.DocumentFilter) (names []string, total int) {
		page, total := srv.FindDocuments(f)
		for _, d := range page {
			names = append(names, d.Name)
		}
		return names, total
	}
	for _, c := range []struct {
		name   string
		filter refserver.DocumentFilter
		want   []string
		total  int
	}{
		{name: "all", want: []string{"Third", "Second", "First"}, total: 3},
		{name: "a page", filter: refserver.DocumentFilter{Offset: 1, Limit: 1}, want: []string{"Second"}, total: 3},
		{name: "by name", filter: refserver.DocumentFilter{Query: "ir"}, want: []string{"Third", "First"}, total: 2},
		{name: "by address", filter: refserver.DocumentFilter{Email: "ANN@"}, want: []string{"Third", "Second", "First"}, total: 3},
		{name: "a page by address", filter: refserver.DocumentFilter{Email: "ann@", Query: "ir", Offset: 1, Limit: 5}, want: []string{"First"}, total: 2},
		{name: "behind the last by address", filter: refserver.DocumentFilter{Email: "ann@", Offset: 9}, total: 3},
		{name: "nobody's address", filter: refserver.DocumentFilter{Email: "nobody@"}},
		{name: "none signed", filter: refserver.DocumentFilter{Status: refserver.StatusSigned}},
		{name: "from templates", filter: refserver.DocumentFilter{FromTemplates: true}, want: []string{"Offer"}, total: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, total := names(c.filter)
			require.Equal(t, c.want, got)
			require.Equal(t, c.total, total)
		})
	}
	require.NoError(t, srv.Signer(sent.DocumentID, "sam@example.com").Decline("too dear"))
	got, _ := names(refserver.DocumentFilter{FromTemplates: true, Status: refserver.StatusDeclined})
	require.Equal(t, []string{"Offer"}, got)
}

func TestFindLink_target(t *testing.T) {
	srv := servicetest.Start(t, nil)
	_, sent := sendOffer(t, srv)
	formID := srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "How?", Required: true}}})
	_, err := srv.Client().Forms.Send(t.Context(), signforms.FormSendParams{
		FormID: formID, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}},
	})
	require.NoError(t, err)

	d, signerID, ok := srv.SigningLink(path.Base(string(sent.Signers[0].SentURL)))
	require.True(t, ok)
	require.Equal(t, sent.DocumentID, d.ID)
	require.Equal(t, sent.Signers[0].ID, signerID)
	_, _, ok = srv.SigningLink("")
	require.False(t, ok)

	messages := srv.Messages()
	f, email, ok := srv.FormLink(path.Base(string(messages[len(messages)-1].Link)))
	require.True(t, ok)
	require.Equal(t, "ann@example.com", email)
	require.Equal(t, []refserver.Field{{Question: "How?", Kind: refserver.TextQuestion, Required: true}}, f.Fields)
	_, _, ok = srv.FormLink("")
	require.False(t, ok, "messages without a link are not found by an empty one")
}

func TestServer_listsRecords(t *testing.T) {
	srv := servicetest.Start(t, nil)
	templateID, _ := sendOffer(t, srv)
	formID := srv.AddForm(refserver.Form{Title: "Survey", Fields: []refserver.Field{{Question: "How?"}}})
	responseID, err := srv.SubmitForm(formID, refserver.Submission{Answers: map[string]string{"How?": "well"}})
	require.NoError(t, err)
	hook := srv.AddWebhook(refserver.Webhook{URL: "http://127.0.0.1:1/", Event: refserver.FormResponse})
	require.NoError(t, srv.DisableWebhook(hook))

	require.Len(t, srv.Templates(), 1)
	template, ok := srv.FindTemplate(templateID)
	require.True(t, ok)
	require.Equal(t, srv.Templates()[0], template)
	require.Equal(t, 1, template.Documents)
	require.Equal(t, "Place", template.Fields[0].Name)

	form, ok := srv.FindForm(formID)
	require.True(t, ok)
	require.Equal(t, []refserver.FormState{form}, srv.Forms())
	require.Equal(t, 1, form.Responses)
	response, ok := srv.FindResponse(responseID)
	require.True(t, ok)
	require.Equal(t, []refserver.ResponseState{response}, srv.Responses(formID))
	require.Equal(t, []refserver.Answer{{Question: "How?", Answer: "well"}}, response.Answers)

	require.Len(t, srv.Webhooks(), 1)
	require.True(t, srv.Webhooks()[0].Disabled)
}

// A record without fields has an empty list, which is [] in JSON: pages go through it.
func TestFields_emptyList(t *testing.T) {
	srv := servicetest.Start(t, nil)
	template, _ := srv.FindTemplate(srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}}))
	document, _ := srv.FindDocument(srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann}))
	require.NotNil(t, template.Fields)
	require.NotNil(t, document.Fields)
}
