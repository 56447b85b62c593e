package webhook_test

import (
	"fmt"

	"github.com/signforms/signforms-go/webhook"
)

// Events are told apart by a type switch; what is common to all is in the interface.
func ExampleParse() {
	payload := []byte(`[
		{"webhookEvent":"new_template_response","documentName":"Lease","signers":[{"roleTitle":"Tenant","name":"Ann"}],"contact_field(page1)[Tenant]":"+41 44 000 00 00"},
		{"formResponseId":"c8c597f6-f2df-4656-b01d-090c847b0a17","formTitle":"Intake","response":[{"id":"q1","question":"Name","answer":"Ann"}]},
		{"webhookEvent":"new_document_archived"},
		{"webhookEvent":"new_form_response","formTitle":["not","a","string"],"response":[]}
	]`)
	events, err := webhook.Parse(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, event := range events {
		switch e := event.(type) {
		case *webhook.TemplateResponse:
			fmt.Println(e.DocumentName, "signed by", e.Signers[0].Name, "as", e.Signers[0].RoleTitle)
			for _, f := range e.Fields {
				fmt.Println(" ", f.Kind, "of", f.Label, "on page", f.Page, "is", f.Value)
			}
		case *webhook.FormResponse:
			fmt.Println(e.FormTitle, "answered:", len(e.Answers), "- type inferred:", e.Inferred())
			for _, odd := range e.FieldErrors() {
				fmt.Println(" ", odd)
			}
		case *webhook.UnknownEvent:
			fmt.Println(e.Type, "is unknown", e.Err)
		}
	}
	// Output:
	// Lease signed by Ann as Tenant
	//   contact_field of Tenant on page 1 is +41 44 000 00 00
	// Intake answered: 1 - type inferred: true
	// new_document_archived is unknown <nil>
	//  answered: 0 - type inferred: false
	//   webhook: field formTitle is not a string
}
