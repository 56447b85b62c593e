package clienttest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
	"github.com/signforms/signforms-go/signformstest"
)

// actOnStatus says what each status allows, by the interface's description.
var actOnStatus = []struct {
	status       signforms.DocumentStatus
	void, remind bool
}{
	{status: signforms.StatusDraft, void: true, remind: true},
	{status: signforms.StatusPending, void: true, remind: true},
	{status: signforms.StatusSigned},
	{status: signforms.StatusPaid, remind: true},
	{status: signforms.StatusDeclined},
	{status: signforms.StatusExpired},
	{status: signforms.StatusDeleted},
	{status: signforms.StatusVoid, void: true},
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
		require.NoError(t, clienttest.Second(c.Documents.Void(t.Context(), ref)))
	}
}

func TestService_refusesByStatus(t *testing.T) {
	for _, row := range actOnStatus {
		t.Run(string(row.status), func(t *testing.T) {
			srv := signformstest.NewServer(t, nil)
			c := clienttest.ClientOf(t, srv)
			var refs []signforms.DocumentRef
			if row.status == signforms.StatusDraft {
				refs = append(refs, signforms.PDFDocument(srv.AddDocument(signformstest.Document{Name: "Draft", Draft: true})))
			} else {
				id := clienttest.AddLease(srv, "Lease")
				sent, err := c.Templates.Send(t.Context(), clienttest.OfferParams(clienttest.AddOffer(srv)))
				require.NoError(t, err)
				refs = append(refs, signforms.PDFDocument(id), sent.Ref())
				bring(t, srv, c, id, refs[0], row.status)
				bring(t, srv, c, sent.DocumentID, refs[1], row.status)
			}
			for _, ref := range refs {
				requireAllowed(t, row.remind, row.status, clienttest.Second(c.Documents.Remind(t.Context(), ref)))
				requireAllowed(t, row.void, row.status, clienttest.Second(c.Documents.Void(t.Context(), ref)))
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
	clienttest.RequireMatches(t, err, signforms.ErrRefused)
	e := clienttest.AsError(t, err)
	require.Equal(t, 409, e.StatusCode)
	require.Equal(t, "invalid_status", e.Code)
	require.Contains(t, err.Error(), string(status))
}

func TestService_noSuchRecord(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	c := clienttest.ClientOf(t, srv)
	for _, call := range clienttest.Calls {
		err := call.Do(t.Context(), c) // with ids that this server does not have
		if call.Name == "Documents.List" || call.Name == "Templates.List" {
			require.NoError(t, err)
			continue
		}
		clienttest.RequireMatches(t, err, signforms.ErrNotFound)
	}
	pdf, template := clienttest.AddLease(srv, "Lease"), clienttest.AddOffer(srv)
	sent, err := c.Templates.Send(t.Context(), clienttest.OfferParams(template))
	require.NoError(t, err)
	for _, ref := range []signforms.DocumentRef{
		signforms.PDFDocument(template), signforms.TemplateDocument(pdf, sent.DocumentID), signforms.TemplateDocument(template, clienttest.CreatedID),
	} {
		t.Run(fmt.Sprint(ref), func(t *testing.T) {
			clienttest.RequireMatches(t, clienttest.Second(c.Documents.Void(t.Context(), ref)), signforms.ErrNotFound)
		})
	}
	clienttest.RequireMatches(t, clienttest.Second(c.Documents.Get(t.Context(), template)), signforms.ErrNotFound)
	clienttest.RequireMatches(t, clienttest.Second(c.Templates.Get(t.Context(), pdf)), signforms.ErrNotFound)
}

func TestService_forbidden(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	wrongKey, err := signforms.New(srv.URL, "another-key", clienttest.Options(nil))
	require.NoError(t, err)
	wrongWorkspace := clienttest.ClientOf(t, srv, func(o *signforms.Options) { o.WorkspaceID = clienttest.WorkspaceID })
	for _, c := range []*signforms.Client{wrongKey, wrongWorkspace} {
		for _, call := range clienttest.Calls {
			err := call.Do(t.Context(), c)
			clienttest.RequireMatches(t, err, signforms.ErrForbidden)
			require.Equal(t, 403, clienttest.AsError(t, err).StatusCode, call.Name)
			require.Equal(t, 1, clienttest.AsError(t, err).Attempts, call.Name)
		}
	}
	noWorkspace := clienttest.ClientOf(t, srv, func(o *signforms.Options) { o.WorkspaceID = "" })
	require.NoError(t, clienttest.Second(noWorkspace.Documents.List(t.Context(), signforms.DocumentListParams{})), "the key's own workspace")
}

func TestService_limitsReminders(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	id := clienttest.AddLease(srv, "Lease")
	for i := range 5 {
		// A budget of its own for each request: what the service counts is the key.
		require.NoError(t, clienttest.Second(clienttest.ClientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id))), "reminder %d", i)
	}
	err := clienttest.Second(clienttest.ClientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id)))
	clienttest.RequireMatches(t, err, signforms.ErrRateLimited)
	e := clienttest.AsError(t, err)
	require.Equal(t, 429, e.StatusCode)
	require.Equal(t, "rate_limited", e.Code)
	require.NotZero(t, e.Attempts, "the service said so")
	require.Equal(t, 1, e.Attempts, "the budget is closed until the service's Retry-After")
	require.Greater(t, e.RetryAfter, 14*time.Minute)
	require.LessOrEqual(t, e.RetryAfter, 15*time.Minute)
	require.Equal(t, 6, requests(srv, signforms.OpRemind))

	srv.Advance(15 * time.Minute)
	require.NoError(t, clienttest.Second(clienttest.ClientOf(t, srv).Documents.Remind(t.Context(), signforms.PDFDocument(id))))
}
