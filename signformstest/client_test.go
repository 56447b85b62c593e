package signformstest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func TestClientTalksToItsServer(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
		TemplateID: template, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	require.NoError(t, err)
	require.NoError(t, srv.Signer(sent.CreatedDocumentID, "ann@example.com").Sign())
	respondent, err := srv.Client().Templates.Respondent(t.Context(), sent.CreatedDocumentID)
	require.NoError(t, err)
	require.Equal(t, signforms.StatusSigned, respondent.Status)
}

func TestClientsShareABudgetOnTheServersClock(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	doc := signforms.PDF(srv.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}}))
	for range 5 {
		_, err := srv.Client().Documents.Remind(t.Context(), doc)
		require.NoError(t, err)
	}
	_, err := srv.Client().Documents.Remind(t.Context(), doc)
	require.ErrorIs(t, err, signforms.ErrRateLimited)
	require.Len(t, srv.Requests(), 5, "the sixth was not sent")

	srv.Advance(16 * time.Minute)
	_, err = srv.Client().Documents.Remind(t.Context(), doc)
	require.NoError(t, err)
}
