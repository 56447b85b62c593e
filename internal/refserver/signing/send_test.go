package signing_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

var lease = signing.Template{
	ID: "65afe90c-6eab-4089-8a6f-5b870943305f", OwnerID: "o", Name: "Lease", Ordered: true,
	Roles: []signing.Role{{Title: "Landlord", Colour: "#111111"}, {Title: "Tenant", Colour: "#222222"}},
}

func params() signing.SendParams {
	return signing.SendParams{
		Receivers: []signing.Receiver{
			{Name: "Ann", Email: "ann@example.com", RoleTitle: "Tenant", Subject: "For Ann"},
			{Name: "Ben", Email: "ben@example.com", RoleTitle: "Landlord", RoleColour: "#333333"},
		},
		Mail:      signing.Mail{Subject: "For all", Message: "Please sign"},
		Variables: []signing.Variable{{Name: "[v1]", Value: "x"}},
	}
}

func TestInstantiate(t *testing.T) {
	c, err := lease.Instantiate(params(), signing.NewIDs(1), noon)
	require.NoError(t, err)
	d := c.Document
	require.Equal(t, signing.StatusPending, d.Status)
	require.Equal(t, lease.ID, d.SourceID(), "webhooks track the template")
	require.Equal(t, []int{2, 1}, []int{d.Signers[0].Order, d.Signers[1].Order}, "the order is that of the roles, not of the receivers")
	require.Equal(t, []string{"#222222", "#333333"}, []string{d.Signers[0].RoleColour, d.Signers[1].RoleColour})
	require.Equal(t, []string{"ben@example.com"}, recipients(c, signing.MessageInvitation))
	require.Equal(t, "For all", c.Messages[0].Subject, "mailData stands in for a missing subject")
	require.Equal(t, []signing.Action{signing.ActionCreate, signing.ActionSend}, []signing.Action{c.Audit[0].Action, c.Audit[1].Action})

	c, err = d.Sign("ben@example.com", signing.SignParams{}, noon)
	require.NoError(t, err)
	require.Equal(t, []signing.EventType{signing.EventTemplateSigned}, eventTypes(c))
	require.Equal(t, "For Ann", c.Messages[0].Subject, "the receiver's own subject comes first")
	c, err = c.Document.View("ann@example.com", signing.Origin{}, noon)
	require.NoError(t, err)
	require.Equal(t, []signing.EventType{signing.EventTemplateViewed}, eventTypes(c))
	field := signing.FieldValue{Kind: "text", Page: 1, Label: "Tenant", Value: "Ann"}
	c, err = c.Document.Sign("ann@example.com", signing.SignParams{Values: []signing.FieldValue{field}}, noon)
	require.NoError(t, err)
	require.Equal(t, []signing.EventType{signing.EventTemplateSigned, signing.EventTemplateResponse}, eventTypes(c))
	field.Signer = c.Document.Signers[0].ID
	require.Equal(t, []signing.FieldValue{field}, c.Events[1].Document.Values)
}

func TestInstantiate_refuses(t *testing.T) {
	p := params()
	p.Receivers = slices.Repeat(p.Receivers[:1], 100)
	_, err := lease.Instantiate(p, signing.NewIDs(1), noon)
	require.NoError(t, err, "as many as allowed")
	for _, tc := range []struct {
		name   string
		change func(*signing.SendParams)
		want   string
	}{
		{name: "no receivers", change: func(p *signing.SendParams) { p.Receivers = nil }, want: "receiversList: must have 1 to 100 receivers, has 0"},
		{name: "101 receivers", change: func(p *signing.SendParams) { p.Receivers = slices.Repeat(p.Receivers[:1], 101) },
			want: "receiversList: must have 1 to 100 receivers, has 101"},
		{name: "blank name", change: func(p *signing.SendParams) { p.Receivers[1].Name = " " }, want: "receiversList[1].name: is required"},
		{name: "bad address", change: func(p *signing.SendParams) { p.Receivers[0].Email = "ann" }, want: `receiversList[0].email: must be an e-mail address alone, as in ann@example.com, not "ann"`},
		{name: "no role", change: func(p *signing.SendParams) { p.Receivers[0].RoleTitle = "" }, want: `receiversList[0].roleTitle: is required; the template's roles are "Landlord", "Tenant"`},
		{name: "other case", change: func(p *signing.SendParams) { p.Receivers[0].RoleTitle = "tenant " }, want: `receiversList[0].roleTitle: "tenant " must be exactly "Tenant"`},
		{name: "unknown role", change: func(p *signing.SendParams) { p.Receivers[1].RoleTitle = "Agent" }, want: `receiversList[1].roleTitle: "Agent" is not a role of the template, which has "Landlord", "Tenant"`},
		{name: "no brackets", change: func(p *signing.SendParams) { p.Variables[0].Name = "v1" }, want: "customVariables[0].varName: must be in square brackets, as in [v1]"},
		{name: "no name", change: func(p *signing.SendParams) { p.Variables[0].Name = "[]" }, want: "customVariables[0].varName: must be in square brackets, as in [v1]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := params()
			tc.change(&p)
			_, err := lease.Instantiate(p, signing.NewIDs(1), noon)
			require.EqualError(t, err, tc.want)
		})
	}
}

func TestForm(t *testing.T) {
	f := signing.Form{ID: "897c8dd4-830a-4a3b-b3e2-6747747385ba", Title: "Intake", Fields: []signing.FormField{
		{ID: "q1", Question: "Name", Required: true}, {ID: "q2", Question: "Else"},
	}}
	c, err := f.Send(params(), signing.NewIDs(1), noon)
	require.NoError(t, err)
	require.Equal(t, []string{"ann@example.com", "ben@example.com"}, recipients(c, signing.MessageInvitation))
	require.NotEqual(t, c.Messages[0].Token, c.Messages[1].Token, "each link tells who answers")

	answers := []signing.FormAnswer{{FieldID: "q2", Answer: "no"}, {FieldID: "q1", Answer: "Ann"}}
	c, err = f.Submit(signing.SubmitParams{RespondentEmail: "ann@example.com", Answers: answers}, signing.NewIDs(1), noon)
	require.NoError(t, err)
	require.Equal(t, []signing.FormAnswer{{FieldID: "q1", Question: "Name", Answer: "Ann"}, {FieldID: "q2", Question: "Else", Answer: "no"}},
		c.Response.Answers, "in the form's order, with its questions")
	require.Equal(t, []signing.EventType{signing.EventFormResponse}, eventTypes(c))
	require.Equal(t, f.ID, c.Events[0].SourceID)
	require.Len(t, c.Response.ObjectID, 24)

	_, err = f.Submit(signing.SubmitParams{Answers: answers[:1]}, signing.NewIDs(1), noon)
	require.EqualError(t, err, `answers: the question "Name" (field q1) needs an answer`)
	_, err = f.Submit(signing.SubmitParams{Answers: []signing.FormAnswer{{FieldID: "q3"}}}, signing.NewIDs(1), noon)
	require.EqualError(t, err, `answers: the form has no field "q3"`)
}
