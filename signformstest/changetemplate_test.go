package signformstest_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// A sent document keeps what it was made of when its template changes; the next one is made of the changed template.
func TestSentDocumentsKeepTheirVersionOfATemplate(t *testing.T) {
	srv := signformstest.NewServer(t, nil)
	field := signformstest.TemplateField{Name: "City", Role: "Buyer", Kind: signformstest.TextField, Required: true, Page: 1, Width: 0.2, Height: 0.1}
	old := signformstest.Template{
		Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}, Fields: []signformstest.TemplateField{field}, PDF: []byte("%PDF old"),
	}
	id := srv.AddTemplate(old)
	send := func(role string) (documentID string) {
		sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: id, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: role}},
		})
		require.NoError(t, err)
		return sent.CreatedDocumentID
	}
	first := send("Buyer")
	added, _ := srv.FindTemplate(id)
	before, _ := srv.FindDocument(first)

	changed := old
	changed.Name, changed.Roles, changed.PDF = "Lease", []signformstest.Role{{Title: "Tenant"}}, []byte("%PDF new")
	field.Name, field.Role, field.X = "Town", "Tenant", 0.5
	changed.Fields = []signformstest.TemplateField{field}
	require.NoError(t, srv.ChangeTemplate(id, added.UpdatedAt, changed))

	after, _ := srv.FindDocument(first)
	require.Equal(t, before, after)
	data, err := srv.DocumentPDF(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "%PDF old", string(data))
	require.NoError(t, srv.Signer(first, "ann@example.com").Sign(signformstest.FieldValue{Name: "City", Value: "Ulm"}))

	second, _ := srv.FindDocument(send("Tenant"))
	require.Equal(t, changed.Fields, second.Fields)
	require.Equal(t, "Lease", second.Name)
	data, err = srv.DocumentPDF(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, "%PDF new", string(data))
}

func TestChangesOfATemplateThatAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where all happens at the same instant
		network := signformstest.NewNetwork()
		defer network.Close()
		srv := signformstest.NewServer(t, &signformstest.Options{Network: network})
		defer srv.Close()
		template := signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}, PDF: []byte("%PDF")}
		id := srv.AddTemplate(template)
		added, _ := srv.FindTemplate(id)
		template.Name, template.PDF = "Lease", nil
		require.NoError(t, srv.ChangeTemplate(id, added.UpdatedAt, template))
		changed, _ := srv.FindTemplate(id)
		require.True(t, changed.UpdatedAt.After(added.UpdatedAt), "at once, too")
		require.True(t, changed.HasPDF, "without a PDF it keeps the one that it has")
		require.Equal(t, added.CreatedAt, changed.CreatedAt)

		template.Name = "Sale"
		require.ErrorIs(t, srv.ChangeTemplate(id, added.UpdatedAt, template), signformstest.ErrRefused, "somebody else changed it meanwhile")
		require.ErrorIs(t, srv.ChangeTemplate("unknown", added.UpdatedAt, template), signformstest.ErrNotFound)
		require.ErrorIs(t, srv.ChangeTemplate(id, changed.UpdatedAt, signformstest.Template{Name: "Sale"}), signformstest.ErrInvalid)
		field := signformstest.TemplateField{Name: "City", Role: "Buyer", Kind: signformstest.TextField, Page: 2, Width: 0.2, Height: 0.1}
		for _, pdf := range [][]byte{nil, []byte("%PDF")} {
			_, err := srv.TryAddTemplate(signformstest.Template{Name: "Sale", Roles: template.Roles, PDF: pdf, Fields: []signformstest.TemplateField{field}})
			require.Equal(t, pdf == nil, errors.Is(err, signformstest.ErrInvalid), "without a PDF there is one page")
		}
		template.Fields = []signformstest.TemplateField{{Name: "City", Role: "Seller"}}
		require.ErrorIs(t, srv.ChangeTemplate(id, changed.UpdatedAt, template), signformstest.ErrInvalid)
		now, _ := srv.FindTemplate(id)
		require.Equal(t, changed, now)
	})
}
