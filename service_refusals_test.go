package signforms_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// actOnStatus says what each status allows, by the interface's description.
var actOnStatus = []struct {
	status       signforms.DocumentStatus
	void, remind bool
}{
	{signforms.StatusDraft, true, true},
	{signforms.StatusPending, true, true},
	{signforms.StatusSigned, false, false},
	{signforms.StatusPaid, false, true},
	{signforms.StatusDeclined, false, false},
	{signforms.StatusExpired, false, false},
	{signforms.StatusDeleted, false, false},
	{signforms.StatusVoid, true, false},
}

// bring brings a document in progress, signed by Ann and then Ben, to a status.
func bring(t *testing.T, srv *signformstest.Server, c *signforms.Client, id string, ref signforms.DocumentRef, to signforms.DocumentStatus) {
	t.Helper()
	ann, ben := srv.Signer(id, "ann@example.com"), srv.Signer(id, "ben@example.com")
	switch to {
	case signforms.StatusSigned, signforms.StatusPaid:
		require.NoError(t, ann.Sign())
		require.NoError(t, ben.Sign())
		if to == signforms.StatusPaid {
			require.NoError(t, srv.Pay(id))
		}
	case signforms.StatusDeclined:
		require.NoError(t, ann.Decline("no"))
	case signforms.StatusExpired:
		require.NoError(t, srv.Expire(id))
	case signforms.StatusDeleted:
		require.NoError(t, srv.Delete(id))
	case signforms.StatusVoid:
		require.NoError(t, second(c.Documents.Void(t.Context(), ref)))
	}
}

func TestServiceRefusesByStatus(t *testing.T) {
	for _, row := range actOnStatus {
		t.Run(string(row.status), func(t *testing.T) {
			srv := signformstest.NewServer(t, nil)
			c := clientOf(t, srv)
			var refs []signforms.DocumentRef
			if row.status == signforms.StatusDraft {
				refs = append(refs, signforms.PDFDocument(srv.AddDocument(signformstest.Document{Name: "Draft", Draft: true})))
			} else {
				id := addLease(srv, "Lease")
				sent, err := c.Templates.Send(t.Context(), offerParams(addOffer(srv)))
				require.NoError(t, err)
				refs = append(refs, signforms.PDFDocument(id), sent.Ref())
				bring(t, srv, c, id, refs[0], row.status)
				bring(t, srv, c, sent.CreatedDocumentID, refs[1], row.status)
			}
			for _, ref := range refs {
				requireAllowed(t, row.remind, row.status, second(c.Documents.Remind(t.Context(), ref)))
				requireAllowed(t, row.void, row.status, second(c.Documents.Void(t.Context(), ref)))
			}
			require.Equal(t, row.void, row.status.CanVoid(), "CanVoid")
			require.Equal(t, row.remind, row.status.CanRemind(), "CanRemind")
		})
	}
}

func requireAllowed(t *testing.T, allowed bool, status signforms.DocumentStatus, err error) {
	t.Helper()
	if allowed {
		require.NoError(t, err)
		return
	}
	requireMatches(t, err, signforms.ErrRefused)
	e := asError(t, err)
	require.Equal(t, 409, e.StatusCode)
	require.Equal(t, "invalid_status", e.Code)
	require.Contains(t, err.Error(), string(status))
}

func TestServiceKnowsNoSuchRecord(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c := clientOf(t, srv)
	for _, call := range everyCall {
		err := call.do(t.Context(), c) // with ids that this server does not have
		if call.name == "Documents.List" || call.name == "Templates.List" {
			require.NoError(t, err)
			continue
		}
		requireMatches(t, err, signforms.ErrNotFound)
	}
	pdf, template := addLease(srv, "Lease"), addOffer(srv)
	sent, err := c.Templates.Send(t.Context(), offerParams(template))
	require.NoError(t, err)
	for _, ref := range []signforms.DocumentRef{
		signforms.PDFDocument(template), signforms.TemplateDocument(pdf, sent.CreatedDocumentID), signforms.TemplateDocument(template, createdID),
	} {
		requireMatches(t, second(c.Documents.Void(t.Context(), ref)), signforms.ErrNotFound)
	}
	requireMatches(t, second(c.Documents.Get(t.Context(), template)), signforms.ErrNotFound)
	requireMatches(t, second(c.Templates.Get(t.Context(), pdf)), signforms.ErrNotFound)
	requireMatches(t, second(c.Templates.Respondents(t.Context(), signforms.RespondentListParams{
		TemplateID: addOffer(srv), RespondentDocumentID: sent.CreatedDocumentID,
	})), signforms.ErrNotFound)
}

func TestServiceForbids(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	wrongKey, err := signforms.New(srv.URL, "another-key", testOptions(nil))
	require.NoError(t, err)
	wrongWorkspace := clientOf(t, srv, func(o *signforms.Options) { o.WorkspaceID = workspaceID })
	for _, c := range []*signforms.Client{wrongKey, wrongWorkspace} {
		for _, call := range everyCall {
			err := call.do(t.Context(), c)
			requireMatches(t, err, signforms.ErrForbidden)
			require.Equal(t, 403, asError(t, err).StatusCode, call.name)
			require.Equal(t, 1, asError(t, err).Attempts, call.name)
		}
	}
	noWorkspace := clientOf(t, srv, func(o *signforms.Options) { o.WorkspaceID = "" })
	require.NoError(t, second(noWorkspace.Documents.List(t.Context(), signforms.DocumentListParams{})), "the key's own workspace")
}

// TestServiceRefusesInputs sends what only the service can judge.
func TestServiceRefusesInputs(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c, ctx, template := clientOf(t, srv), t.Context(), addOffer(srv)
	change := func(f func(*signforms.TemplateSendParams)) error {
		p := offerParams(template)
		f(&p)
		return second(c.Templates.Send(ctx, p))
	}
	for name, err := range map[string]error{
		"a role that the template has not": change(func(p *signforms.TemplateSendParams) { p.Receivers[0].RoleTitle = "buyer" }),
		"no mail address":                  change(func(p *signforms.TemplateSendParams) { p.Receivers[0].Email = "ann@" }),
	} {
		requireMatches(t, err, signforms.ErrInvalid)
		e := asError(t, err)
		require.Equal(t, 400, e.StatusCode, name)
		require.False(t, e.Local, name)
		require.NotContains(t, err.Error(), "ann@example.com")
	}
	require.Empty(t, srv.Messages(), "nothing was sent")

	err := change(func(p *signforms.TemplateSendParams) { p.PDF = make([]byte, 8<<20) })
	requireMatches(t, err, signforms.ErrInvalid)
	require.Equal(t, 413, asError(t, err).StatusCode)
	require.NoError(t, change(func(p *signforms.TemplateSendParams) { p.PDF = make([]byte, 1<<20) }))
}

// TestServiceElsewhere calls paths and methods that the service does not have.
func TestServiceElsewhere(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	at := func(e signforms.Endpoint) error {
		c := clientOf(t, srv, func(o *signforms.Options) {
			o.Endpoints = map[signforms.Operation]signforms.Endpoint{signforms.OpVoidDocument: e}
		})
		return second(c.Documents.Void(t.Context(), signforms.PDFDocument(pdfID)))
	}
	err := at(signforms.Endpoint{Method: http.MethodPut})
	require.Equal(t, 405, asError(t, err).StatusCode)
	requireMatches(t, err, signforms.ErrInvalid)
	require.ErrorContains(t, err, "use POST")
	err = at(signforms.Endpoint{Path: "/void-documents"})
	requireMatches(t, err, signforms.ErrNotFound)
	require.ErrorContains(t, err, "Did you mean POST /void-document?")
}

func TestServiceLimitsReminders(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	id := addLease(srv, "Lease")
	for i := range 5 {
		// A budget of its own for each request: what the service counts is the key.
		require.NoError(t, second(clientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id))), "reminder %d", i)
	}
	err := second(clientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id)))
	requireMatches(t, err, signforms.ErrRateLimited)
	e := asError(t, err)
	require.Equal(t, 429, e.StatusCode)
	require.Equal(t, "rate_limited", e.Code)
	require.False(t, e.Local, "the service said so")
	require.Equal(t, 1, e.Attempts, "the budget is closed until the service's Retry-After")
	require.Greater(t, e.RetryAfter, 14*time.Minute)
	require.LessOrEqual(t, e.RetryAfter, 15*time.Minute)
	require.Equal(t, 6, requests(srv, signforms.OpSendReminder))

	srv.Advance(15 * time.Minute)
	require.NoError(t, second(clientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id))))
}
