package signing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// TestNamesHaveABound tries each input that is a name with as many characters as it may have, and with one more.
func TestNamesHaveABound(t *testing.T) {
	template := func(edit func(*signing.Template)) error {
		v := signing.Template{
			Name: "Offer", AuthorEmail: "olga@example.com", Roles: []signing.Role{{Title: "Buyer"}}, Variables: []string{"[fee]"},
			Fields: []signing.Field{{Name: "City", Role: "Buyer", Kind: signing.FieldText, Page: 1, Width: 0.1, Height: 0.1}},
		}
		edit(&v)
		return v.Check()
	}
	form := func(edit func(*signing.Form)) error {
		v := signing.Form{Title: "Survey", Fields: []signing.FormField{{ID: "q1", Question: "Colour?", Kind: signing.QuestionChoice, Choices: []string{"red"}}}}
		edit(&v)
		return v.Check()
	}
	document := func(edit func(*signing.Document)) error {
		v := signing.Document{Kind: signing.KindPDF, Name: "Lease", Signers: []signing.Signer{{Name: "Ann", Email: "ann@example.com"}}}
		edit(&v)
		_, err := signing.Create(v, signing.NewIDs(1), noon)
		return err
	}
	send := func(edit func(*signing.SendParams)) error {
		v := signing.SendParams{
			Receivers: []signing.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}}, Variables: []signing.Variable{{Name: "[fee]"}},
		}
		edit(&v)
		_, err := signing.Form{}.Send(v, signing.NewIDs(1), noon)
		return err
	}
	for field, try := range map[string]func(name string) error{
		"Name":            func(s string) error { return template(func(v *signing.Template) { v.Name = s }) },
		"Roles[0].Colour": func(s string) error { return template(func(v *signing.Template) { v.Roles[0].Colour = s }) },
		"Roles[0].Title": func(s string) error {
			return template(func(v *signing.Template) { v.Roles[0].Title, v.Fields = s, nil })
		},
		"Variables[0]":          func(s string) error { return template(func(v *signing.Template) { v.Variables[0] = s }) },
		"Fields[0].Name":        func(s string) error { return template(func(v *signing.Template) { v.Fields[0].Name = s }) },
		"Title":                 func(s string) error { return form(func(v *signing.Form) { v.Title = s }) },
		"Fields[0].Question":    func(s string) error { return form(func(v *signing.Form) { v.Fields[0].Question = s }) },
		"Fields[0].Choices[0]":  func(s string) error { return form(func(v *signing.Form) { v.Fields[0].Choices[0] = s }) },
		"Name ":                 func(s string) error { return document(func(v *signing.Document) { v.Name = s }) },
		"Signers[0].Name":       func(s string) error { return document(func(v *signing.Document) { v.Signers[0].Name = s }) },
		"Signers[0].Email":      func(s string) error { return document(func(v *signing.Document) { v.Signers[0].Email = s }) },
		"mailData.subject":      func(s string) error { return send(func(v *signing.SendParams) { v.Mail.Subject = s }) },
		"receiversList[0].name": func(s string) error { return send(func(v *signing.SendParams) { v.Receivers[0].Name = s }) },
		"receiversList[0].email": func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].Email = "a" + s[3:] + "@b" })
		},
		"receiversList[0].roleTitle": func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].RoleTitle = s })
		},
		"receiversList[0].roleColour": func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].RoleColour = s })
		},
		"receiversList[0].subject": func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].Subject = s })
		},
		"customVariables[0].varName": func(s string) error {
			return send(func(v *signing.SendParams) { v.Variables[0].Name = "[" + s[2:] + "]" })
		},
		"RespondentEmail": func(s string) error {
			_, err := signing.Form{}.Submit(signing.SubmitParams{RespondentEmail: s}, signing.NewIDs(1), noon)
			return err
		},
	} {
		t.Run(field, func(t *testing.T) {
			letter := "é" // counts once
			if strings.Contains(field, "email") || strings.Contains(field, "customVariables") {
				letter = "e"
			}
			require.NoError(t, try(strings.Repeat(letter, signing.MaxName)))
			err := try(strings.Repeat(letter, signing.MaxName+1))
			require.EqualError(t, err, strings.TrimSpace(field)+": has 1001 characters, and may have 1000 at most")
			require.IsType(t, &signing.Invalid{}, err)
		})
	}
}

func TestAuthorsHaveAnAddress(t *testing.T) {
	const want = `AuthorEmail: must be an e-mail address alone, as in ann@example.com, not "olga.example.com"`
	template := signing.Template{Name: "Offer", AuthorEmail: "olga.example.com", Roles: []signing.Role{{Title: "Buyer"}}}
	require.EqualError(t, template.Check(), want)
	_, err := signing.Create(signing.Document{Kind: signing.KindPDF, Name: "Lease", AuthorEmail: "olga.example.com"}, signing.NewIDs(1), noon)
	require.EqualError(t, err, want)
}
