package api

import (
	"math"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// maxOverview is how many of a template's documents its entry in a list shows, newest first.
// totalRespondants counts all of them. The service does not document whether it shows only a part.
const maxOverview = 100

// templateDocuments are the documents that were made from a template.
type templateDocuments struct {
	newest        []*signing.Document
	total, signed int
}

// templateBodies returns templates as entries of a list of documents.
func (a *API) templateBodies(templates []*signing.Template) []documentBody {
	made := make([]templateDocuments, len(templates))
	a.Store.View(func(tx *store.Tx) error {
		for i, t := range templates {
			made[i].newest, made[i].total = tx.Respondents(t.ID, store.Page{Limit: maxOverview})
			made[i].signed = tx.CountRespondents(t.ID, signing.StatusSigned) + tx.CountRespondents(t.ID, signing.StatusPaid)
		}
		return nil
	})
	out := make([]documentBody, len(templates))
	for i, t := range templates {
		status, updated := signing.StatusDraft, t.UpdatedAt
		if made[i].total > 0 {
			status, updated = signing.StatusPending, latest(updated, made[i].newest[0].CreatedAt)
		}
		out[i] = documentBody{
			DocumentID: t.ID, DocumentName: t.Name, DocumentURL: a.Links.Document(t.ID), AuthorEmail: t.AuthorEmail,
			Status: a.statusText(status), SigningType: typeTemplate, IsSigningOrder: t.Ordered, IsArchived: t.Archived,
			Roles: roleBodies(t), TemplateRespondents: new(a.overviews(made[i].newest)),
			TotalRespondants: &made[i].total, TotalSignedRespondants: &made[i].signed,
			CreatedAt: timeText(t.CreatedAt), UpdatedAt: timeText(updated),
		}
	}
	return out
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func roleBodies(t *signing.Template) []roleBody {
	out := make([]roleBody, len(t.Roles))
	for i, role := range t.Roles {
		out[i] = roleBody{RoleTitle: role.Title, RoleColour: role.Colour}
	}
	return out
}

func (a *API) overviews(documents []*signing.Document) []respondentOverview {
	out := make([]respondentOverview, len(documents))
	for i, d := range documents {
		out[i] = respondentOverview{
			RespondentDocumentID: d.ID, Status: a.statusText(d.Status), CreatedAt: timeText(d.CreatedAt), Signers: signerBodies(d),
		}
	}
	return out
}

// listRespondents handles GET /get-template-respondent.
func (a *API) listRespondents(c *Call) (any, error) {
	in := &c.input
	templateID, documentID := in.uuid("templateId"), in.objectID("respondentDocumentId")
	if templateID == "" && documentID == "" {
		in.oneIsRequired("templateId", "respondentDocumentId")
	}
	page := a.page(in, math.MaxInt32)
	if err := c.inputError(); err != nil {
		return nil, err
	}
	var documents []*signing.Document
	var trails []store.Records[signing.AuditEntry]
	total := 0
	err := a.Store.View(func(tx *store.Tx) (err error) {
		documents, total, err = respondents(tx, templateID, documentID, &page)
		for _, d := range documents {
			trails = append(trails, tx.Audit(d.ID))
		}
		return err
	})
	return respondentsBody{Respondents: a.respondentBodies(documents, trails), Pagination: *pagination(page, total)}, err
}

// respondents returns the document with documentID, whatever the page, or else a page of the
// template's documents. It need not check the kind, because the id of a PDF is not an ObjectId.
func respondents(tx *store.Tx, templateID, documentID string, page *store.Page) ([]*signing.Document, int, error) {
	if templateID != "" {
		if _, err := tx.Template(templateID); err != nil {
			return nil, 0, err
		}
	}
	if documentID == "" {
		documents, total := tx.Respondents(templateID, *page)
		return documents, total, nil
	}
	*page = store.Page{Limit: 1}
	d, err := tx.Document(documentID)
	if err == nil && templateID != "" && d.TemplateID != templateID {
		err = &store.Missing{What: "document", ID: documentID, Instead: ": it is of another template"}
	}
	if err != nil {
		return nil, 0, err
	}
	return []*signing.Document{&d}, 1, nil
}

func (a *API) respondentBodies(documents []*signing.Document, trails []store.Records[signing.AuditEntry]) []respondentBody {
	out := make([]respondentBody, len(documents))
	for i, d := range documents {
		out[i] = respondentBody{
			RespondentDocumentID: d.ID, TemplateID: d.TemplateID, OwnerID: d.OwnerID, Status: a.statusText(d.Status),
			CreatedAt: timeText(d.CreatedAt), PDFLink: a.Links.Document(d.ID), FinishedPDFURL: a.finishedURL(d),
			Signers: signerBodies(d), History: history(d, trails[i]),
		}
	}
	return out
}

// history returns the acts of the signers, from the audit trail.
func history(d *signing.Document, trail store.Records[signing.AuditEntry]) []historyBody {
	words := map[signing.Action]string{
		signing.ActionView: "VIEWED", signing.ActionSign: "SIGNED", signing.ActionComplete: "SIGNED", signing.ActionDecline: "DECLINED",
	}
	out := []historyBody{}
	for e := range trail.All() {
		if word, ok := words[e.Action]; ok {
			out = append(out, historyBody{Action: word, Email: d.Signers[d.SignerIndex(e.Actor)].Email, CreatedAt: timeText(e.At)})
		}
	}
	return out
}
