package refserver_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// A sent document keeps what it was made of when its template changes; the next one is made of the changed template.
func TestChangeTemplate_sentDocumentsKeepTheirVersion(t *testing.T) {
	srv := servicetest.Start(t, nil)
	field := refserver.TemplateField{Name: "City", Role: "Buyer", Kind: refserver.TextField, Required: true, Page: 1, Width: 0.2, Height: 0.1}
	old := refserver.Template{
		Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, Fields: []refserver.TemplateField{field}, PDF: []byte("%PDF old"),
	}
	id := srv.AddTemplate(old)
	added, _ := srv.FindTemplate(id)
	old.Roles[0].Title, old.Fields[0].Name, added.Roles[0].Title = "", "", "" // the service has its own
	send := func(role string) (documentID string) {
		sent, err := srv.Client().Templates.Send(t.Context(), signforms.TemplateSendParams{
			TemplateID: id, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: role}},
		})
		require.NoError(t, err)
		return sent.DocumentID
	}
	first := send("Buyer")
	before, _ := srv.FindDocument(first)

	changed := old
	changed.Name, changed.Roles, changed.PDF = "Lease", []refserver.Role{{Title: "Tenant"}}, []byte("%PDF new")
	field.Name, field.Role, field.X = "Town", "Tenant", 0.5
	changed.Fields = []refserver.TemplateField{field}
	require.NoError(t, srv.ChangeTemplate(id, added.UpdatedAt, changed))

	after, _ := srv.FindDocument(first)
	require.Equal(t, before, after)
	data, err := srv.DocumentPDF(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "%PDF old", string(data))
	require.NoError(t, srv.Signer(first, "ann@example.com").Sign(refserver.FieldValue{Name: "City", Value: "Ulm"}))

	second, _ := srv.FindDocument(send("Tenant"))
	require.Equal(t, changed.Fields, second.Fields)
	require.Equal(t, "Lease", second.Name)
	data, err = srv.DocumentPDF(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, "%PDF new", string(data))
}

func TestChangeTemplate_refused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where all happens at the same instant
		network := refserver.NewNetwork()
		defer network.Close()
		srv := servicetest.Start(t, &refserver.Options{Network: network})
		defer srv.Close()
		template := refserver.Template{Name: "Offer", Roles: []refserver.Role{{Title: "Buyer"}}, PDF: []byte("%PDF")}
		id := srv.AddTemplate(template)
		added, _ := srv.FindTemplate(id)
		template.Name, template.PDF = "Lease", nil
		require.NoError(t, srv.ChangeTemplate(id, added.UpdatedAt, template))
		changed, _ := srv.FindTemplate(id)
		require.True(t, changed.UpdatedAt.After(added.UpdatedAt), "at once, too")
		require.True(t, changed.HasPDF, "without a PDF it keeps the one that it has")
		require.Equal(t, added.CreatedAt, changed.CreatedAt)

		template.Name = "Sale"
		require.ErrorIs(t, srv.ChangeTemplate(id, added.UpdatedAt, template), refserver.ErrRefused, "somebody else changed it meanwhile")
		require.ErrorIs(t, srv.ChangeTemplate("unknown", added.UpdatedAt, template), refserver.ErrNotFound)
		require.ErrorIs(t, srv.ChangeTemplate(id, changed.UpdatedAt, refserver.Template{Name: "Sale"}), refserver.ErrInvalid)
		field := refserver.TemplateField{Name: "City", Role: "Buyer", Kind: refserver.TextField, Page: 2, Width: 0.2, Height: 0.1}
		for _, pdf := range [][]byte{nil, []byte("%PDF")} {
			_, err := srv.Server.AddTemplate(refserver.Template{Name: "Sale", Roles: template.Roles, PDF: pdf, Fields: []refserver.TemplateField{field}})
			require.Equal(t, pdf == nil, errors.Is(err, refserver.ErrInvalid), "without a PDF there is one page")
		}
		template.Fields = []refserver.TemplateField{{Name: "City", Role: "Seller"}}
		require.ErrorIs(t, srv.ChangeTemplate(id, changed.UpdatedAt, template), refserver.ErrInvalid)
		now, _ := srv.FindTemplate(id)
		require.Equal(t, changed, now)
	})
}
