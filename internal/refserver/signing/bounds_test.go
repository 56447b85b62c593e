package signing_test

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// TestCommand_boundsNames tries each input that is a name with as many characters as it may have, and with one more.
func TestCommand_boundsNames(t *testing.T) {
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
	for _, row := range []struct {
		field string
		try   func(name string) error
	}{
		{field: "Name", try: func(s string) error { return template(func(v *signing.Template) { v.Name = s }) }},
		{field: "Roles[0].Colour", try: func(s string) error { return template(func(v *signing.Template) { v.Roles[0].Colour = s }) }},
		{field: "Roles[0].Title", try: func(s string) error {
			return template(func(v *signing.Template) { v.Roles[0].Title, v.Fields = s, nil })
		}},
		{field: "Variables[0]", try: func(s string) error { return template(func(v *signing.Template) { v.Variables[0] = s }) }},
		{field: "Fields[0].Name", try: func(s string) error { return template(func(v *signing.Template) { v.Fields[0].Name = s }) }},
		{field: "Title", try: func(s string) error { return form(func(v *signing.Form) { v.Title = s }) }},
		{field: "Fields[0].Question", try: func(s string) error { return form(func(v *signing.Form) { v.Fields[0].Question = s }) }},
		{field: "Fields[0].Choices[0]", try: func(s string) error { return form(func(v *signing.Form) { v.Fields[0].Choices[0] = s }) }},
		{field: "Name ", try: func(s string) error { return document(func(v *signing.Document) { v.Name = s }) }},
		{field: "Signers[0].Name", try: func(s string) error { return document(func(v *signing.Document) { v.Signers[0].Name = s }) }},
		{field: "Signers[0].Email", try: func(s string) error { return document(func(v *signing.Document) { v.Signers[0].Email = s }) }},
		{field: "mailData.subject", try: func(s string) error { return send(func(v *signing.SendParams) { v.Mail.Subject = s }) }},
		{field: "receiversList[0].name", try: func(s string) error { return send(func(v *signing.SendParams) { v.Receivers[0].Name = s }) }},
		{field: "receiversList[0].email", try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].Email = "a" + s[3:] + "@b" })
		}},
		{field: "receiversList[0].roleTitle", try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].RoleTitle = s })
		}},
		{field: "receiversList[0].roleColour", try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].RoleColour = s })
		}},
		{field: "receiversList[0].subject", try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].Subject = s })
		}},
		{field: "customVariables[0].varName", try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Variables[0].Name = "[" + s[2:] + "]" })
		}},
		{field: "RespondentEmail", try: func(s string) error {
			_, err := signing.Form{}.Submit(signing.SubmitParams{RespondentEmail: s}, signing.NewIDs(1), noon)
			return err
		}},
	} {
		t.Run(row.field, func(t *testing.T) {
			letter := "é" // counts once
			if strings.Contains(row.field, "email") || strings.Contains(row.field, "customVariables") {
				letter = "e"
			}
			require.NoError(t, row.try(strings.Repeat(letter, signing.MaxName)))
			err := row.try(strings.Repeat(letter, signing.MaxName+1))
			require.EqualError(t, err, strings.TrimSpace(row.field)+": has 1001 characters, and may have 1000 at most: shorten it")
			require.IsType(t, &signing.Invalid{}, err)
		})
	}
}

// sentAlone is a document that Ann alone has to sign.
func sentAlone(t *testing.T, fields ...signing.Field) signing.Document {
	t.Helper()
	d := signing.Document{Kind: signing.KindPDF, Name: "Lease", Signers: []signing.Signer{{Email: "ann@example.com"}}, Fields: fields}
	created, err := signing.Create(d, signing.NewIDs(1), noon)
	require.NoError(t, err)
	c, err := created.Document.Send(noon)
	require.NoError(t, err)
	return *c.Document
}

// Tries each text that people enter with its maximum length, in characters, and with one more.
func TestCommand_boundsTexts(t *testing.T) {
	sign := func(kind signing.FieldKind, v signing.FieldValue, from signing.Origin) error {
		var fields []signing.Field
		values := []signing.FieldValue{{Value: "first"}, v}
		if kind != "" {
			fields = []signing.Field{{Name: "City", Role: "ann@example.com", Kind: kind, Page: 1, Width: 0.1, Height: 0.1}}
			values = []signing.FieldValue{{Name: "City", Value: v.Value}}
		}
		_, err := sentAlone(t, fields...).Sign("ann@example.com", signing.SignParams{Values: values, From: from}, noon)
		return err
	}
	pdf := func(act func(d signing.Document) (signing.Change, error)) error {
		_, err := act(sentAlone(t))
		return err
	}
	send := func(edit func(*signing.SendParams)) error {
		v := signing.SendParams{Receivers: []signing.Receiver{{Name: "Ann", Email: "ann@example.com"}}, Variables: []signing.Variable{{Name: "[fee]"}}}
		edit(&v)
		_, err := signing.Form{}.Send(v, signing.NewIDs(1), noon)
		return err
	}
	submit := func(kind signing.QuestionKind, p signing.SubmitParams) error {
		form := signing.Form{ID: "f", Title: "Survey", Fields: []signing.FormField{{ID: "q1", Question: "Why?", Kind: kind}}}
		_, err := form.Submit(p, signing.NewIDs(1), noon)
		return err
	}
	answer := func(s string) signing.SubmitParams {
		return signing.SubmitParams{Answers: []signing.FormAnswer{{FieldID: "q1", Answer: s}}}
	}
	for _, c := range []struct {
		says string // before the bound
		most int
		try  func(s string) error
	}{
		{says: "Fields[1].Value: ", most: 10_000, try: func(s string) error { return sign("", signing.FieldValue{Value: s}, signing.Origin{}) }},
		{says: "Fields[1].Kind: ", most: 1000, try: func(s string) error { return sign("", signing.FieldValue{Kind: s}, signing.Origin{}) }},
		{says: "Fields[1].Label: ", most: 1000, try: func(s string) error { return sign("", signing.FieldValue{Label: s}, signing.Origin{}) }},
		{says: `fields: "City" `, most: 10_000, try: func(s string) error { return sign(signing.FieldText, signing.FieldValue{Value: s}, signing.Origin{}) }},
		{says: `fields: "City" `, most: 10_000, try: func(s string) error {
			return sign(signing.FieldSignature, signing.FieldValue{Value: s}, signing.Origin{})
		}},
		{says: "Reason: ", most: 1000, try: func(s string) error {
			return pdf(func(d signing.Document) (signing.Change, error) {
				return d.Decline("ann@example.com", s, signing.Origin{}, noon)
			})
		}},
		{says: "IP: ", most: 1000, try: func(s string) error {
			return pdf(func(d signing.Document) (signing.Change, error) {
				return d.Decline("ann@example.com", "", signing.Origin{IP: s}, noon)
			})
		}},
		{says: "IP: ", most: 1000, try: func(s string) error {
			return pdf(func(d signing.Document) (signing.Change, error) {
				return d.View("ann@example.com", signing.Origin{IP: s}, noon)
			})
		}},
		{says: "IP: ", most: 1000, try: func(s string) error { return sign("", signing.FieldValue{}, signing.Origin{IP: s}) }},
		{says: "IP: ", most: 1000, try: func(s string) error { return submit("", signing.SubmitParams{From: signing.Origin{IP: s}}) }},
		{says: `answers: the question "Why?" (field q1) is answered by a text that `, most: 10_000, try: func(s string) error { return submit("", answer(s)) }},
		{says: `answers: the question "Why?" (field q1) is answered by a text that `, most: 10_000, try: func(s string) error {
			return submit(signing.QuestionLongText, answer(s))
		}},
		{says: "mailData.message: ", most: 10_000, try: func(s string) error { return send(func(v *signing.SendParams) { v.Mail.Message = s }) }},
		{says: "receiversList[0].message: ", most: 10_000, try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Receivers[0].Message = s })
		}},
		{says: "customVariables[0].varValue: ", most: 10_000, try: func(s string) error {
			return send(func(v *signing.SendParams) { v.Variables[0].Value = s })
		}},
	} {
		t.Run(c.says, func(t *testing.T) {
			require.NoError(t, c.try(strings.Repeat("é", c.most)))
			err := c.try(strings.Repeat("é", c.most+1))
			require.EqualError(t, err, fmt.Sprintf("%shas %d characters, and may have %d at most: shorten it", c.says, c.most+1, c.most))
			require.IsType(t, &signing.Invalid{}, err)
		})
	}
}

// Pictures in documents without fields have the same limit as those in fields.
func TestSign_boundsPictures(t *testing.T) {
	sign := func(width, height uint32, size int) error {
		d := sentAlone(t)
		picture := pngOf(width, height)
		v := signing.FieldValue{Image: signing.NewFile([]byte(picture + strings.Repeat("x", max(size-len(picture), 0))))}
		_, err := d.Sign("ann@example.com", signing.SignParams{Values: []signing.FieldValue{v}}, noon)
		return err
	}
	require.NoError(t, sign(2000, 2000, 1<<20))
	const want = "Fields[0].Image: must be a PNG of at most 1048576 bytes and 4000000 pixels"
	require.EqualError(t, sign(2000, 2000, 1<<20+1), want)
	for _, size := range [][2]uint32{{2001, 2000}, {9000, 9000}, {60_000, 60_000}, {1 << 30, 1}, {1, 1 << 30}, {1<<31 - 1, 1<<31 - 1}, {0, 5}, {1 << 31, 1 << 31}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			require.EqualError(t, sign(size[0], size[1], 1000), want, "%v", size)
		})
	}
	d := sentAlone(t)
	values := []signing.FieldValue{{Image: signing.NewFile(painted(color.Transparent))}}
	_, err := d.Sign("ann@example.com", signing.SignParams{Values: values}, noon)
	require.EqualError(t, err, "Fields[0].Image: has a picture in which nothing can be seen on white paper: draw it again")
}

func TestCreate_authorHasAnAddress(t *testing.T) {
	const want = `AuthorEmail: must be an e-mail address alone, as in ann@example.com, not "olga.example.com"`
	template := signing.Template{Name: "Offer", AuthorEmail: "olga.example.com", Roles: []signing.Role{{Title: "Buyer"}}}
	require.EqualError(t, template.Check(), want)
	_, err := signing.Create(signing.Document{Kind: signing.KindPDF, Name: "Lease", AuthorEmail: "olga.example.com"}, signing.NewIDs(1), noon)
	require.EqualError(t, err, want)
}
