package clienttest

import (
	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// AddLease adds a PDF document in progress, with the signers Ann and Ben.
func AddLease(srv *signformstest.Server, name string) string {
	return srv.AddDocument(signformstest.Document{Name: name, SigningOrder: true, Signers: []signformstest.Signer{
		{Name: "Ann", Email: "ann@example.com"}, {Name: "Ben", Email: "ben@example.com"},
	}})
}

// AddOffer adds a template with two roles.
func AddOffer(srv *signformstest.Server) string {
	return srv.AddTemplate(signformstest.Template{Name: "Offer", Variables: []string{"[price]"}, Roles: []signformstest.Role{
		{Title: "Buyer", Colour: "#1F6FEB"}, {Title: OddRole},
	}})
}

// OfferParams returns the parameters that send the template of AddOffer.
func OfferParams(template string) signforms.TemplateSendParams {
	return signforms.TemplateSendParams{TemplateID: template, Receivers: []signforms.Receiver{
		{Name: OddName, Email: "ann@example.com", RoleTitle: "Buyer", Subject: "For you", Message: "Sign, please."},
		{Name: "Ben", Email: "ben@example.com", RoleTitle: OddRole},
	}, Mail: signforms.Mail{Subject: "Offer", Message: "See inside."}, Variables: []signforms.Variable{{Name: "[price]", Value: "1"}}}
}

// AddIntake adds a form.
func AddIntake(srv *signformstest.Server) string {
	return srv.AddForm(signformstest.Form{Title: "Intake", Questions: []signformstest.Question{{Question: "Name?", Required: true}, {Question: "More?"}}})
}
