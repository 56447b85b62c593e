package api

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

const dataURL = "data:application/pdf;base64,"

// send handles POST /pdf-template-lambda, for templates and forms.
func (a *API) send(c *Call) (any, error) {
	in := &c.input
	var signingType string
	if in.require("signingType") != "" {
		signingType = in.oneOf("signingType", typeTemplate, typeForm)
	}
	id := in.given("documentId", in.sendID(signingType))
	p := a.sendParams(in, signingType)
	if err := c.inputError(); err != nil {
		return nil, err
	}
	if signingType == typeForm {
		return a.sendForm(c, id, p)
	}
	return a.sendTemplate(c, id, p)
}

// sendID reads the id of the template or form. The id of a form may be any text.
func (in *input) sendID(signingType string) string {
	if signingType == typeForm {
		return in.id("documentId")
	}
	return in.uuid("documentId")
}

// sendTemplate makes a document from the template and sends it.
func (a *API) sendTemplate(c *Call, id string, p signing.SendParams) (any, error) {
	var change signing.Change
	err := a.Store.Update(func(tx *store.Tx) error {
		t, err := tx.Template(id)
		if err != nil {
			return err
		}
		c.noteVariables(t, p.Variables)
		c.noteRoles(t, p.Receivers)
		if change, err = t.Instantiate(p, a.IDs, tx.Now); err != nil {
			return err
		}
		tx.Apply(change)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a.sentBody(change.Document), nil
}

// sentBody returns the description of a document that was just sent, with its signing links.
func (a *API) sentBody(d *signing.Document) sentBody {
	body := sentBody{
		Message: "Document sent successfully", TemplateID: d.TemplateID, CreatedDocumentID: d.ID, CreatedDocumentStatus: a.statusText(d.Status),
	}
	for _, s := range d.Signers {
		body.Signers = append(body.Signers, sentSignerBody{
			SignerID: s.ID, Email: s.Email, Name: s.Name, Status: string(s.Status()), RoleTitle: s.RoleTitle, SentURL: a.Links.Sign(s.Token),
		})
	}
	return body
}

// noteRoles notes the roles that do not have exactly one receiver. The service does not document
// whether it refuses such a request.
func (c *Call) noteRoles(t signing.Template, receivers []signing.Receiver) {
	if t.EachRoleOnce(receivers) != nil {
		c.Note("not each role of the template has one receiver")
	}
}

// noteVariables notes the variables that the template does not have. The service does not document
// whether it refuses them.
func (c *Call) noteVariables(t signing.Template, given []signing.Variable) {
	var names []string
	for _, v := range given {
		names = append(names, v.Name)
	}
	c.record.noteUnknown("custom variable", names, t.Variables)
}

// sendForm sends the form to the receivers.
func (a *API) sendForm(c *Call, id string, p signing.SendParams) (any, error) {
	err := a.Store.Update(func(tx *store.Tx) error {
		f, err := tx.Form(id)
		if err != nil {
			return err
		}
		change, err := f.Send(p, a.IDs, tx.Now)
		if err != nil {
			return err
		}
		tx.Apply(change)
		return nil
	})
	return messageBody{Message: "Form sent successfully"}, err
}

// sendParams reads the inputs that sends of templates and forms share.
func (a *API) sendParams(in *input, signingType string) signing.SendParams {
	p := signing.SendParams{Receivers: receivers(in, signingType), PDF: a.pdfData(in, signingType)}
	if mail, ok := in.body.object(in, "mailData"); ok {
		p.Mail.Subject, _ = mail.text(in, "mailData.subject")
		p.Mail.Message, _ = mail.text(in, "mailData.message")
	}
	for i, v := range in.body.objects(in, "customVariables") {
		at := fmt.Sprintf("customVariables[%d].", i)
		value, _ := v.text(in, at+"varValue")
		p.Variables = append(p.Variables, signing.Variable{Name: v.require(in, at+"varName"), Value: value})
	}
	return p
}

func receivers(in *input, signingType string) []signing.Receiver {
	if raw, ok := in.body["receiversList"]; !ok || string(raw) == "null" {
		in.absent("receiversList")
		return nil
	}
	var out []signing.Receiver
	for i, o := range in.body.objects(in, "receiversList") {
		at := fmt.Sprintf("receiversList[%d].", i)
		r := signing.Receiver{Name: o.require(in, at+"name"), Email: o.require(in, at+"email")}
		if signingType == typeTemplate {
			r.RoleTitle = o.require(in, at+"roleTitle")
		}
		r.RoleColour, _ = o.text(in, at+"roleColour")
		r.Subject, _ = o.text(in, at+"subject")
		r.Message, _ = o.text(in, at+"message")
		out = append(out, r)
	}
	return out
}

// pdfData reads the PDF that replaces the template's own.
func (a *API) pdfData(in *input, signingType string) []byte {
	s, ok := in.body.text(in, "pdfData")
	if !ok {
		return nil
	}
	encoded, isPrefixed := strings.CutPrefix(s, dataURL)
	switch {
	case signingType == typeForm:
		in.problem("pdfData must not be given with signingType %s", typeForm)
		return nil
	case !isPrefixed:
		in.problem("pdfData must begin with %s", dataURL)
		return nil
	}
	pdf, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(pdf) == 0 {
		in.problem("pdfData must hold the PDF in standard base64 with padding")
	}
	return pdf
}
