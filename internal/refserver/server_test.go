package refserver_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestDelivery_everyEventIsSigned(t *testing.T) {
	srv := servicetest.Start(t, nil)
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?", Required: true}, {Question: "More?"}}})
	pdf := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})

	forms, pdfs, templates := newReceiver(t), newReceiver(t), newReceiver(t)
	srv.AddWebhook(refserver.Webhook{URL: forms.URL, Event: refserver.FormResponse, Documents: []string{form}})
	srv.AddWebhook(refserver.Webhook{URL: pdfs.URL, Event: refserver.SignatureCompleted, Documents: []string{pdf}})
	srv.AddWebhook(refserver.Webhook{URL: templates.URL, Event: refserver.TemplateResponse})

	id, err := srv.SubmitForm(form, refserver.Submission{RespondentEmail: "ann@example.com", Answers: map[string]string{"Name?": "Ann"}})
	require.NoError(t, err)
	created := sendTemplate(t, srv, template, "Buyer", "ben@example.com")
	for _, signer := range []refserver.Actor{srv.Signer(pdf, "ann@example.com"), srv.Signer(created, "ben@example.com")} {
		require.NoError(t, signer.View())
		require.NoError(t, signer.View(), "looking twice is fine")
		require.NoError(t, signer.Sign(refserver.FieldValue{Kind: "contact_field", Page: 1, Label: "Buyer", Value: "x"}))
	}
	require.NoError(t, srv.Settle(t.Context()))

	require.Equal(t, []string{"new_form_response"}, forms.types(t))
	require.Contains(t, string(forms.all()[0].body), `"formResponseId":"`+id+`"`)
	require.Contains(t, string(forms.all()[0].body), `"response":[{"id":"q1","question":"Name?","answer":"Ann"},{"id":"q2","question":"More?","answer":""}]`)
	require.Equal(t, []string{"new_signature_pdf_individual_viewed", "new_signature_pdf_individual_signed", "new_signature_pdf_completed"}, pdfs.types(t))
	require.Equal(t, []string{"new_template_response_individual_viewed", "new_template_response_individual_signed", "new_template_response"}, templates.types(t))
	require.Contains(t, string(templates.all()[2].body), `"contact_field(page1)[Buyer]":"x"`)
	for _, r := range []*receiver{forms, pdfs, templates} {
		for _, d := range r.all() {
			require.True(t, d.genuine(srv.WebhookSecret), "signature of %s", d.body)
			require.Equal(t, "application/json", d.header.Get("Content-Type"))
			require.Regexp(t, `^\d{10}$`, d.header.Get("x-timestamp"))
		}
	}
}

func TestServer_refusedActsSayWhy(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", SigningOrder: true, Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}}})
	ann, ben := srv.Signer(doc, "ann@example.com"), srv.Signer(doc, "ben@example.com")

	err := ben.Sign()
	require.ErrorIs(t, err, refserver.ErrRefused)
	require.EqualError(t, err, "cannot sign: it is not this signer's turn, others have to sign first: ann@example.com")
	require.EqualError(t, srv.Signer(doc, "Ann@example.com").View(), "cannot view: no such signer among the document's 2: ann@example.com, ben@example.com")
	require.ErrorIs(t, srv.Pay(doc), refserver.ErrRefused)
	require.NoError(t, ann.Sign())
	require.ErrorContains(t, ann.Sign(), "already signed")
	require.NoError(t, ben.Decline("too dear"))
	require.ErrorContains(t, ben.Sign(), "DECLINED")
	require.ErrorContains(t, srv.Signer(doc, "nobody@example.com").Sign(), "DECLINED")

	err = srv.Signer("0b4aa1dd-0000-4000-8000-000000000000", "ann@example.com").Sign()
	require.EqualError(t, err, `no document with id "0b4aa1dd-0000-4000-8000-000000000000"`)
	require.NotErrorIs(t, err, refserver.ErrRefused)
}

func TestServer_idOfAnotherKindOfRecord(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	require.EqualError(t, srv.Signer(template, "ann@example.com").Sign(), `no document with id "`+template+
		`": it is a template's, and sending it makes documents: name one by its createdDocumentId`)
	require.EqualError(t, srv.Pay(form), `no document with id "`+form+`": it is the id of a form`)
	_, err := srv.SubmitForm(doc, refserver.Submission{})
	require.EqualError(t, err, `no form with id "`+doc+`": it is the id of a PDF document`)
	_, err = srv.SubmitForm(template, refserver.Submission{})
	require.EqualError(t, err, `no form with id "`+template+`": it is the id of a template`)

	other := srv.AddForm(refserver.Form{Title: "Other", Fields: []refserver.Field{{Question: "Name?"}}})
	response, err := srv.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	status, answer := call(t, srv, "GET", "/get-form-responses?formId="+other+"&responseId="+response, "")
	require.Equal(t, 404, status)
	require.Equal(t, "No such response: it is of another form", answer["message"])
}

func TestServer_actsChangeTheStatus(t *testing.T) {
	srv := servicetest.Start(t, nil)
	add := func() string {
		return srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	}
	status := func(id string) any {
		_, answer := call(t, srv, "GET", "/get-documents?documentId="+id, "")
		return answer["documents"].([]any)[0].(map[string]any)["status"]
	}
	paid, expired, deleted, archived := add(), add(), add(), add()
	require.Equal(t, "PENDING", status(paid))
	require.NoError(t, srv.Signer(paid, "ann@example.com").Sign())
	require.Equal(t, "SIGNED", status(paid))
	require.NoError(t, srv.Pay(paid))
	require.Equal(t, "PAID", status(paid))
	require.NoError(t, srv.Expire(expired))
	require.Equal(t, "EXPIRED", status(expired))
	require.NoError(t, srv.Delete(deleted))
	require.Equal(t, "DELETED", status(deleted))
	require.NoError(t, srv.Archive(archived))
	_, answer := call(t, srv, "GET", "/get-documents?archive=true", "")
	require.Len(t, answer["documents"], 1)
	require.Equal(t, archived, answer["documents"].([]any)[0].(map[string]any)["documentId"])
}

func TestAudit_explainsTheStatus(t *testing.T) {
	srv := servicetest.Start(t, &refserver.Options{Start: start})
	doc := srv.AddDocument(refserver.Document{
		Name: "Lease", ExpiresFor: time.Hour, Signers: []refserver.Signer{{Email: "ann@example.com"}, {Email: "ben@example.com"}},
	})
	srv.Advance(time.Minute)
	require.NoError(t, srv.Signer(doc, "ben@example.com").Sign())
	require.Error(t, srv.Pay(doc), "refused, which leaves no trace")
	status, _ := call(t, srv, "POST", "/send-reminder?documentType=PDF&documentId="+doc, "")
	require.Equal(t, 200, status)
	srv.Advance(24 * time.Hour)
	require.Equal(t, []refserver.AuditEntry{
		{ID: 1, RecordID: doc, At: start, Action: "create", Actor: "author", To: "DRAFT"},
		{ID: 2, RecordID: doc, At: start, Action: "send", Actor: "author", From: "DRAFT", To: "PENDING"},
		{ID: 3, RecordID: doc, At: start.Add(time.Minute), Action: "sign", Actor: "ben@example.com", From: "PENDING", To: "PENDING", Origin: refserver.Origin{IP: "192.0.2.1"}},
		{ID: 4, RecordID: doc, At: start.Add(time.Minute), Action: "remind", Actor: "author", From: "PENDING", To: "PENDING", Note: "1 reminded"},
		{ID: 5, RecordID: doc, At: start.Add(time.Hour), Action: "expire", Actor: "service", From: "PENDING", To: "EXPIRED"},
	}, srv.Audit(doc))
	for _, row := range []struct {
		i    int
		want string
	}{
		{i: 0, want: "2026-11-20T12:00:00Z create: DRAFT"}, {i: 2, want: "2026-11-20T12:01:00Z sign: PENDING"},
		{i: 4, want: "2026-11-20T13:00:00Z expire: PENDING to EXPIRED"},
	} {
		t.Run(fmt.Sprint(row.i), func(t *testing.T) {
			require.Equal(t, row.want, srv.Audit(doc)[row.i].String())
		})
	}

	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	response, err := srv.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	require.Equal(t, []refserver.AuditEntry{
		{ID: 6, RecordID: form, At: start.Add(24*time.Hour + time.Minute), Action: "submit", Actor: "respondent", Note: response, Origin: refserver.Origin{IP: "192.0.2.1"}},
	}, srv.Audit(form))
	require.Equal(t, "2026-11-21T12:01:00Z submit", srv.Audit(form)[0].String())
	require.Empty(t, srv.Audit("x"))
}

func TestSubmitForm_refusesWrongAnswers(t *testing.T) {
	srv := servicetest.Start(t, nil)
	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?", Required: true}}})
	_, err := srv.SubmitForm(form, refserver.Submission{})
	require.EqualError(t, err, `answers: the question "Name?" (field q1) needs an answer`)
	_, err = srv.SubmitForm(form, refserver.Submission{Answers: map[string]string{"Name?": "Ann", "Wen?": "now", "Naem?": "Ann"}})
	require.EqualError(t, err, `answers: the form does not ask "Naem?"; it asks "Name?"`)
}

func TestAdvance_documentsExpireInOrder(t *testing.T) {
	srv := servicetest.Start(t, nil)
	signer := []refserver.Signer{{Email: "ann@example.com"}}
	late := srv.AddDocument(refserver.Document{Name: "Late", Signers: signer, ExpiresFor: 48 * time.Hour})
	early := srv.AddDocument(refserver.Document{Name: "Early", Signers: signer, ExpiresFor: 24 * time.Hour})
	added := srv.Now()
	srv.Advance(25 * time.Hour)
	require.ErrorContains(t, srv.Signer(early, "ann@example.com").Sign(), "EXPIRED")
	require.NoError(t, srv.Signer(late, "ann@example.com").View())
	srv.Advance(25 * time.Hour)
	require.ErrorContains(t, srv.Signer(late, "ann@example.com").Sign(), "EXPIRED")

	var expired []string
	for _, m := range srv.Messages() {
		if m.Kind == "notice" {
			expired = append(expired, m.Subject)
			require.Less(t, m.At.Sub(added), 48*time.Hour+time.Second)
		}
	}
	require.Equal(t, []string{"Expired: Early", "Expired: Late"}, expired)
}

// get opens a page and returns its status and its text.
func get(t *testing.T, srv *servicetest.Server, url string) (int, string) {
	t.Helper()
	resp, err := srv.HTTPClient().Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

func TestSigningLink_opens(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease & more", Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}})
	r := newReceiver(t)
	srv.AddWebhook(refserver.Webhook{URL: r.URL, Event: refserver.SignatureCompleted})
	m := srv.Messages()[0]
	require.Equal(t, "invitation", m.Kind)
	require.Equal(t, doc, m.DocumentID)
	require.Equal(t, "ann@example.com", m.To)

	status, text := get(t, srv, string(m.Link))
	require.Equal(t, 200, status)
	require.Contains(t, text, "<h1>Lease &amp; more</h1>\n<p>For the signature of Ann.</p>")
	require.NoError(t, srv.Settle(t.Context()))
	require.Equal(t, []string{"new_signature_pdf_individual_viewed"}, r.types(t))
	require.Contains(t, string(r.all()[0].body), `"signerIp":"127.0.0.1"`)

	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	status, text = get(t, srv, string(m.Link))
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "SIGNED")
	status, _ = get(t, srv, srv.URL+"/sign/0123")
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, srv.Requests(), "links are secrets: pages are not logged")
}

func TestSigningLink_signs(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{
		Name: "Lease", SigningOrder: true, Signers: []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}, {Email: "ben@example.com"}},
	})
	link := string(srv.Messages()[0].Link)
	_, text := get(t, srv, link)
	require.Contains(t, text, "<button>Sign</button>")
	for _, want := range []struct {
		method string
		status int
		text   string
	}{
		{method: "DELETE", status: http.StatusMethodNotAllowed, text: "This page allows GET, HEAD, POST."},
		{method: "POST", status: http.StatusOK, text: "Signed by Ann."},
		{method: "POST", status: http.StatusConflict, text: "already signed"},
	} {
		req, err := http.NewRequest(want.method, link, nil)
		require.NoError(t, err)
		resp, err := srv.HTTPClient().Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, want.status, resp.StatusCode)
		require.Contains(t, string(body), want.text)
	}
	require.Equal(t, "ben@example.com", srv.Messages()[1].To, "it is his turn now")
	trail := srv.Audit(doc)
	require.EqualValues(t, "sign", trail[len(trail)-1].Action)
}

func TestFormLink_opens(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	_, pdf := get(t, srv, srv.URL+"/documents/"+doc+".pdf")
	require.Regexp(t, `^%PDF-1\.4\n(?s:.*)%%EOF\n$`, pdf)
	template := srv.AddTemplate(refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}})
	status, _ := get(t, srv, srv.URL+"/documents/"+template+".pdf")
	require.Equal(t, 200, status)
	status, _ = get(t, srv, srv.URL+"/documents/x.pdf")
	require.Equal(t, 404, status)
	status, _ = get(t, srv, srv.URL+"/finished/"+doc+".pdf")
	require.Equal(t, 404, status, "nobody has signed yet")
	require.NoError(t, srv.Signer(doc, "ann@example.com").Sign())
	status, finished := get(t, srv, srv.URL+"/finished/"+doc+".pdf")
	require.Equal(t, 200, status)
	require.Equal(t, pdf, finished)

	form := srv.AddForm(refserver.Form{Title: "Intake", Fields: []refserver.Field{{Question: "Name?"}}})
	_, err := srv.Client().Forms.Send(t.Context(), signforms.FormSendParams{FormID: form, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
	require.NoError(t, err)
	mail := srv.Messages()
	_, text := get(t, srv, string(mail[len(mail)-1].Link))
	require.Contains(t, text, "Name?")
	response, err := srv.SubmitForm(form, refserver.Submission{})
	require.NoError(t, err)
	status, _ = get(t, srv, srv.URL+"/finished/"+response+".pdf")
	require.Equal(t, 200, status)
}

func TestRequestLog_beforeTheResponse(t *testing.T) {
	srv := servicetest.Start(t, nil)
	for range 100 {
		srv.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	}
	for n := range 30 {
		_, text, err := list(srv, "?limit=100")
		require.NoError(t, err)
		require.Greater(t, len(text), 30_000, "more than net/http keeps back by itself")
		require.Len(t, srv.Requests(), n+1)
	}
}

// TestAdvance_endOfTheClock: an advance that the clock cannot take is refused whole, and the time never goes back.
func TestAdvance_endOfTheClock(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for _, begin := range []time.Time{{}, start, time.Unix(0, 0)} {
		t.Run(fmt.Sprint(begin), func(t *testing.T) {
			srv := servicetest.Start(t, &refserver.Options{Start: begin})
			before := srv.Now()
			for moved := 0; ; moved++ {
				err := srv.Server.Advance(t.Context(), century)
				if err != nil {
					require.ErrorIs(t, err, refserver.ErrInvalid)
					require.ErrorContains(t, err, "would move the clock past 2262-04-11")
					require.Positive(t, moved)
					break
				}
				require.GreaterOrEqual(t, srv.Now().Sub(before), century)
				before = srv.Now()
			}
			err := srv.Server.Advance(t.Context(), math.MaxInt64)
			require.ErrorIs(t, err, refserver.ErrInvalid)
			require.Less(t, srv.Now().Sub(before), century, "the clock stays where it is")
			require.NoError(t, srv.Server.Advance(t.Context(), time.Hour))
		})
	}
}
