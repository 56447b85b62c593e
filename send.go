package signforms

// This file has the inputs that sends of templates and forms share.

import (
	"fmt"
	"strings"
)

// Receiver is a person who gets a template or form by mail.
type Receiver struct {
	Name  string `json:"name"`  // required
	Email string `json:"email"` // required, with an @
	// RoleTitle must match a role of the template exactly. It is required for templates and not used for forms.
	RoleTitle string `json:"roleTitle,omitempty"`
	RoleColor string `json:"roleColour,omitempty"`
	// Subject and Message replace those of Mail for this receiver. An empty text means the text of
	// Mail.
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"`
}

// Mail is the subject and text for receivers without their own. The service replaces an empty text
// with its own.
type Mail struct {
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"`
}

// Variable is a value for a custom variable of a template or form.
type Variable struct {
	Name  string `json:"varName"`  // required, with its square brackets: [v1]
	Value string `json:"varValue"` // may be empty
}

// sendBody is the request body for templates and forms.
type sendBody struct {
	SigningType SigningType `json:"signingType"`
	DocumentID  string      `json:"documentId"`
	Receivers   []Receiver  `json:"receiversList"`
	Mail        Mail        `json:"mailData,omitzero"`
	Variables   []Variable  `json:"customVariables,omitempty"`
	PDFData     string      `json:"pdfData,omitempty"`
}

func (b sendBody) request() request {
	c := request{method: sendForm, in: inputs{"documentId": b.DocumentID, "signingType": string(b.SigningType)}, body: b}
	if b.SigningType == TypePDFTemplate {
		c.method = sendTemplate
		c.uuid("TemplateID", b.DocumentID)
	} else {
		c.required("FormID", b.DocumentID)
	}
	if len(b.Receivers) < 1 || len(b.Receivers) > 100 {
		c.add("Receivers", "must hold 1 to 100 receivers")
	}
	for i, r := range b.Receivers {
		field := fmt.Sprintf("Receivers[%d].", i)
		c.required(field+"Name", r.Name)
		c.email(field+"Email", r.Email)
		if b.SigningType == TypePDFTemplate {
			c.required(field+"RoleTitle", r.RoleTitle)
		} else {
			c.text(field+"RoleTitle", r.RoleTitle)
		}
		c.text(field+"RoleColor", r.RoleColor)
		c.text(field+"Subject", r.Subject)
		c.text(field+"Message", r.Message)
	}
	c.text("Mail.Subject", b.Mail.Subject)
	c.text("Mail.Message", b.Mail.Message)
	for i, v := range b.Variables {
		if len(v.Name) < 3 || !strings.HasPrefix(v.Name, "[") || !strings.HasSuffix(v.Name, "]") {
			c.add(fmt.Sprintf("Variables[%d].Name", i), "must be in square brackets: [name]")
		}
		c.text(fmt.Sprintf("Variables[%d].Name", i), v.Name)
		c.text(fmt.Sprintf("Variables[%d].Value", i), v.Value)
	}
	return c
}
