package clienttest_test

import (
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

func gather[T any](t *testing.T, seq iter.Seq2[*T, error]) (all []T) {
	t.Helper()
	for v, err := range seq {
		require.NoError(t, err)
		all = append(all, *v)
	}
	return all
}

func TestService_listsDocuments(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{Seed: 1, StartTime: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)})
	c, ctx := clienttest.ClientOf(t, srv), t.Context()
	var ids []string // oldest first, a day apart
	for i := range 12 {
		ids = append(ids, clienttest.AddLease(srv, fmt.Sprintf("Lease %02d", i)))
		srv.Advance(24 * time.Hour)
	}
	require.NoError(t, srv.Archive(ids[3]))
	require.NoError(t, srv.Expire(ids[5]))

	list := func(p signforms.DocumentListParams) []string {
		t.Helper()
		page, err := c.Documents.List(ctx, p)
		require.NoError(t, err)
		var got []string
		for _, d := range page.Items {
			got = append(got, d.ID)
		}
		return got
	}
	require.Equal(t, ids[:10], list(signforms.DocumentListParams{SortOrder: signforms.OldestFirst}), "ten to a page")
	require.Equal(t, []string{ids[11], ids[10], ids[9]}, list(signforms.DocumentListParams{Limit: 3}), "newest first")
	require.Equal(t, []string{ids[8], ids[7], ids[6]}, list(signforms.DocumentListParams{Limit: 3, Page: 2}))
	require.Equal(t, []string{ids[3]}, list(signforms.DocumentListParams{Archived: new(true)}))
	require.Len(t, list(signforms.DocumentListParams{Archived: new(false), Limit: 100}), 11)
	require.Equal(t, []string{ids[5]}, list(signforms.DocumentListParams{Status: signforms.StatusExpired}))
	require.Equal(t, []string{ids[7]}, list(signforms.DocumentListParams{Query: "lease 07"}))
	require.Equal(t, []string{ids[4]}, list(signforms.DocumentListParams{DocumentID: ids[4]}))
	first, err := c.Documents.Get(ctx, ids[2])
	require.NoError(t, err)
	last, err := c.Documents.Get(ctx, ids[4])
	require.NoError(t, err)
	require.Equal(t, []string{ids[4], ids[3], ids[2]}, list(signforms.DocumentListParams{DateFrom: first.CreatedAt, DateTo: last.CreatedAt}),
		"both ends are inclusive")

	all := gather(t, c.Documents.All(ctx, signforms.DocumentListParams{Limit: 5}))
	require.Len(t, all, 12)
	require.Equal(t, ids[11], all[0].ID)
	require.Equal(t, ids[0], all[11].ID)
}

func TestService_signsATemplate(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c, ctx := clienttest.ClientOf(t, srv), t.Context()
	template := clienttest.AddOffer(srv)

	listed, err := c.Templates.List(ctx, signforms.TemplateListParams{Query: "offer"})
	require.NoError(t, err)
	require.Equal(t, template, listed.Items[0].ID)
	got, err := c.Templates.Get(ctx, template)
	require.NoError(t, err)
	require.Equal(t, []signforms.Role{{Title: "Buyer", Color: "#1F6FEB"}, {Title: clienttest.OddRole}}, got.Roles)
	require.Empty(t, got.Respondents)

	sent, err := c.Templates.Send(ctx, clienttest.OfferParams(template))
	require.NoError(t, err)
	require.Equal(t, template, sent.TemplateID)
	require.Equal(t, signforms.StatusPending, sent.Status)
	require.Len(t, sent.Signers, 2)
	require.Equal(t, clienttest.OddName, sent.Signers[0].Name)
	opened, err := http.Get(string(sent.Signers[0].SentURL))
	require.NoError(t, err)
	require.NoError(t, opened.Body.Close())
	require.Equal(t, 200, opened.StatusCode, "the link opens")
	invitation := srv.Messages()[0]
	require.Equal(t, []string{"ann@example.com", "For you", "Sign, please."}, []string{invitation.To, invitation.Subject, invitation.Body})

	reminded, err := c.Documents.Remind(ctx, sent.Ref())
	require.NoError(t, err)
	require.Equal(t, new(2), reminded.RemindersSent)
	require.NoError(t, srv.Signer(sent.DocumentID, "ann@example.com").Sign())
	require.NoError(t, srv.Signer(sent.DocumentID, "ben@example.com").Sign())

	r, err := c.Respondents.Get(ctx, sent.DocumentID)
	require.NoError(t, err)
	require.Equal(t, signforms.StatusSigned, r.Status)
	require.Equal(t, signforms.SignerSigned, r.Signers[1].Status)
	require.NotEmpty(t, r.FinishedPDFURL)
	require.Len(t, r.History, 3, "viewed once, signed twice")
	require.Equal(t, sent.Ref(), r.Ref())
	got, err = c.Templates.Get(ctx, template)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{got.TotalRespondents, got.TotalSignedRespondents})
	require.Equal(t, sent.Ref(), got.Respondents[0].Ref())
}

func TestService_sendsAForm(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c, ctx := clienttest.ClientOf(t, srv), t.Context()
	form := clienttest.AddIntake(srv)
	res, err := c.Forms.Send(ctx, signforms.FormSendParams{
		FormID: form, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}, Mail: signforms.Mail{Subject: "Hello", Message: "Fill in."},
	})
	require.NoError(t, err)
	require.Equal(t, "Form sent successfully", res.Message)
	require.Len(t, srv.Messages(), 1)
	require.Equal(t, "Hello", srv.Messages()[0].Subject)

	var ids []string // newest first
	for i := range 5 {
		id, err := srv.SubmitForm(form, signformstest.Submission{RespondentEmail: "ann@example.com", Answers: map[string]string{"Name?": fmt.Sprint("Ann ", i)}})
		require.NoError(t, err)
		ids = append([]string{id}, ids...)
		srv.Advance(time.Second)
	}
	page, err := c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: form, Page: 2, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, new(5), page.Total)
	require.Equal(t, 3, page.Next)
	require.WithinDuration(t, srv.Now(), page.Time, 2*time.Second)
	require.Equal(t, ids[2], page.Items[0].FormResponseID)
	require.Equal(t, []signforms.FormAnswer{{ID: "q1", Question: "Name?", Answer: "Ann 2"}, {ID: "q2", Question: "More?"}}, page.Items[0].Answers)
	var all []string
	for _, r := range gather(t, c.FormResponses.All(ctx, signforms.FormResponseListParams{FormID: form, Limit: 2})) {
		all = append(all, r.FormResponseID)
	}
	require.Equal(t, ids, all)
	for _, id := range []string{ids[2], strings.ToUpper(ids[2]), page.Items[0].ID} {
		t.Run(id, func(t *testing.T) {
			one, err := c.FormResponses.Get(ctx, id)
			require.NoError(t, err)
			require.Equal(t, &page.Items[0], one)
		})
	}
}

// requests returns how many requests of an operation the service has answered or tried to.
func requests(srv *signformstest.Server, op signforms.Operation) (n int) {
	for _, r := range srv.Requests() {
		if r.Operation == op {
			n++
		}
	}
	return n
}
