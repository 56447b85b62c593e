package api_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// The people and records of testdata, brought into their states by the acts that lead there.

const (
	apiKey    = "example-api-key"
	workspace = "976a7427-7845-4d16-82f6-d62c931da966"
	olga      = "olga.author@example.com"
	odd       = "A & B <c> \"d\" \u2028 é 😀"

	inProgress = "602c2631-2d49-4647-a609-75331ebb0338"
	completed  = "3f9779c6-981a-4884-a0b2-21fc0e9a7283"
	paid       = "f5f339d4-870b-4992-b6ed-eee3af9dd891"
	declined   = "6fcd357c-6a8a-44af-9acb-6b12325a0f74"
	expired    = "ef210a06-3a8a-450e-9f40-6d0036c827ed"
	deleted    = "c511fd1d-105a-41ff-82ba-11c89e432317"
	voided     = "53699a45-6249-46cc-b5b9-16e042a9dee7"
	draft      = "14e5196b-078a-478a-8d3f-81d185ab4b00"

	template       = "65afe90c-6eab-4089-8a6f-5b870943305f"
	unusedTemplate = "11ded283-4170-42af-9f01-8a23a1c6321d"
	created        = "6afac610c07043658fde1996"
	createdEarlier = "6af5cb15f4f35018c124817b"
	form           = "897c8dd4-830a-4a3b-b3e2-6747747385ba"
	response       = "6afdd62ad605997389b3a3dd"
	responseUUID   = "c8c597f6-f2df-4656-b01d-090c847b0a17"
)

func ann(id string, role string) signing.Signer {
	return signing.Signer{ID: id, Name: "Ann " + odd, Email: "ann@example.com", RoleTitle: role}
}

func ben(id string, role string) signing.Signer {
	return signing.Signer{ID: id, Name: "Ben O'Neil", Email: "ben.o'neil+legal@example.com", RoleTitle: role}
}

func cy(id string, role string) signing.Signer {
	return signing.Signer{ID: id, Name: "Çiğdem Yılmaz", Email: "cy@example.com", RoleTitle: role}
}

// act is one command at one time.
type act struct {
	at string
	do signing.Command
}

func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func send(d signing.Document, at time.Time) (signing.Change, error) { return d.Send(at) }

func viewBy(email string) signing.Command {
	return func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.View(email, signing.Origin{IP: "203.0.113.7"}, at)
	}
}

func signBy(email, ip string) signing.Command {
	return func(d signing.Document, at time.Time) (signing.Change, error) {
		return d.Sign(email, signing.SignParams{From: signing.Origin{IP: ip}}, at)
	}
}

// play creates d at the time and runs the acts on it.
func play(t testing.TB, s *store.Store, ids *signing.IDs, d signing.Document, at string, acts ...act) {
	t.Helper()
	d.AuthorEmail, d.OwnerID = olga, olga
	if d.Kind == "" {
		d.Kind = signing.KindPDF
	}
	require.NoError(t, s.Update(func(tx *store.Tx) error {
		c, err := signing.Create(d, ids, instant(at))
		tx.Apply(c)
		return err
	}))
	for _, a := range acts {
		_, err := s.Act(d.ID, func(d signing.Document, _ time.Time) (signing.Change, error) { return a.do(d, instant(a.at)) })
		require.NoError(t, err, "%s at %s", d.Name, a.at)
	}
}

// seed fills a store with what testdata's answers show.
func seed(t testing.TB, now func() time.Time) (*store.Store, *signing.IDs) {
	t.Helper()
	s, ids := store.New(now), signing.NewIDs(1)
	require.NoError(t, s.Update(func(tx *store.Tx) error {
		tx.PutService(store.Service{WorkspaceID: workspace, OwnerID: olga})
		tx.PutKey(apiKey)
		return nil
	}))
	seedDocuments(t, s, ids)
	seedTemplates(t, s, ids)
	seedForm(t, s)
	return s, ids
}

func seedDocuments(t testing.TB, s *store.Store, ids *signing.IDs) {
	ann, ben, cy := ann("", ""), ben("", ""), cy("", "")
	play(t, s, ids, signing.Document{ID: draft, Name: "Untitled", Signers: make([]signing.Signer, 2)}, "2026-11-01T08:00:00Z")
	play(t, s, ids, signing.Document{ID: voided, Name: "Lease, first draft", Signers: []signing.Signer{ann, ben}}, "2026-11-02T08:00:00Z",
		act{"2026-11-02T08:00:00Z", send},
		act{"2026-11-02T08:30:00Z", signing.Document.Void},
		act{"2026-11-02T09:00:00Z", signing.Document.Archive})
	play(t, s, ids, signing.Document{ID: deleted, Name: "Sent by mistake", Signers: []signing.Signer{ben}}, "2026-11-03T08:00:00Z",
		act{"2026-11-03T08:00:00Z", send}, act{"2026-11-03T08:05:00Z", signing.Document.Delete})
	play(t, s, ids, signing.Document{ID: expired, Name: "Offer (valid for 14 days)", Signers: []signing.Signer{ben}}, "2026-11-04T08:00:00Z",
		act{"2026-11-04T08:00:00Z", send}, act{"2026-11-04T09:00:00Z", viewBy(ben.Email)}, act{"2026-11-18T08:00:00Z", signing.Document.Expire})
	play(t, s, ids, signing.Document{ID: declined, Name: "Non-disclosure agreement", Signers: []signing.Signer{ann, ben}}, "2026-11-15T08:00:00Z",
		act{"2026-11-15T08:00:00Z", send}, act{"2026-11-15T18:00:00Z", viewBy(ann.Email)},
		act{"2026-11-15T18:21:09.300Z", func(d signing.Document, at time.Time) (signing.Change, error) {
			return d.Decline(ann.Email, "", signing.Origin{IP: "203.0.113.7"}, at)
		}})
	play(t, s, ids, signing.Document{ID: paid, Name: "Invoice no. 0042", Signers: []signing.Signer{cy}}, "2026-11-16T08:00:00.001Z",
		act{"2026-11-16T08:00:00.001Z", send}, act{"2026-11-16T09:00:00Z", signBy(cy.Email, "2001:db8::7")},
		act{"2026-11-17T08:00:00Z", signing.Document.Pay})
	play(t, s, ids, signing.Document{ID: completed, Name: "Supply agreement 2026/11", Ordered: true, Signers: []signing.Signer{ann, cy}}, "2026-11-17T09:00:00Z",
		act{"2026-11-17T09:00:00Z", send}, act{"2026-11-18T09:00:00Z", signBy(ann.Email, "203.0.113.7")},
		act{"2026-11-18T12:30:45.678Z", signBy(cy.Email, "2001:db8::7")})
	play(t, s, ids, signing.Document{ID: inProgress, Name: "Lease " + odd, Ordered: true, Signers: []signing.Signer{ann, ben}}, "2026-11-18T10:15:30.125Z",
		act{"2026-11-18T10:15:30.125Z", send}, act{"2026-11-18T11:00:00Z", viewBy(ann.Email)},
		act{"2026-11-19T07:00:00Z", signBy(ann.Email, "203.0.113.7")})
}

func seedTemplates(t testing.TB, s *store.Store, ids *signing.IDs) {
	const client, counsel = "Client", "Counsel & <Witness> (2) [é 😀]"
	require.NoError(t, s.Update(func(tx *store.Tx) error {
		at := instant("2026-10-20T08:00:00Z")
		tx.PutTemplate(signing.Template{
			ID: template, OwnerID: olga, AuthorEmail: olga, Name: "Engagement letter " + odd, Ordered: true,
			Roles:     []signing.Role{{Title: client, Colour: "#1F6FEB"}, {Title: counsel, Colour: "#BF3989"}},
			Variables: []string{"[client]"}, CreatedAt: at, UpdatedAt: at,
		})
		at = instant("2026-10-05T11:22:33.444Z")
		tx.PutTemplate(signing.Template{
			ID: unusedTemplate, OwnerID: olga, AuthorEmail: olga, Name: "Power of attorney",
			Roles: []signing.Role{{Title: "Principal"}}, CreatedAt: at, UpdatedAt: at,
		})
		return nil
	}))
	letter := signing.Document{Kind: signing.KindTemplate, TemplateID: template, Name: "Engagement letter " + odd, Ordered: true}
	letter.ID = createdEarlier
	letter.Signers = []signing.Signer{cy("f333ef21-0d46-418f-964e-dbe0f6826647", client), ben("bdcc982a-544b-4bd5-9f9e-958e5debffa0", counsel)}
	play(t, s, ids, letter, "2026-11-12T14:20:05Z",
		act{"2026-11-12T14:20:05Z", send}, act{"2026-11-12T15:00:00Z", viewBy("cy@example.com")},
		act{"2026-11-12T15:02:10Z", signBy("cy@example.com", "")}, act{"2026-11-13T09:30:00Z", signBy("ben.o'neil+legal@example.com", "")})
	letter.ID = created
	letter.Signers = []signing.Signer{ann("9656bc85-46e1-40d9-828b-81cb4e134d01", client), ben("099a5a1c-db4e-44db-91ce-db9c092a8014", counsel)}
	play(t, s, ids, letter, "2026-11-16T09:00:00.125Z",
		act{"2026-11-16T09:00:00.125Z", send}, act{"2026-11-16T10:01:02.003Z", viewBy("ann@example.com")})
}

func seedForm(t testing.TB, s *store.Store) {
	intake := signing.Form{ID: form, Title: "Client intake " + odd, Fields: []signing.FormField{
		{ID: "q1", Question: "Full legal name"}, {ID: "q2", Question: "Line of business? <b>& co.</b>"}, {ID: "q3", Question: "Anything else"},
	}}
	require.NoError(t, s.Update(func(tx *store.Tx) error {
		tx.PutForm(intake)
		for _, r := range []struct {
			uuid, objectID, email, at string
			answers                   [3]string
		}{
			{uuid: "179930b1-7a0e-4f30-880d-069fbae67a9d", objectID: "6afc0aaccca8bbc24a603532", email: "cy@example.com",
				at: "2026-11-17T08:05:00.999Z", answers: [3]string{"Çiğdem Yılmaz", "Law", ""}},
			{uuid: responseUUID, objectID: response, email: "ann@example.com", at: "2026-11-18T16:45:30.250Z",
				answers: [3]string{odd, "Fish & chips", "Line one\nLine two \\ \"quoted\""}},
		} {
			p := signing.SubmitParams{RespondentEmail: r.email}
			for i, answer := range r.answers {
				p.Answers = append(p.Answers, signing.FormAnswer{FieldID: intake.Fields[i].ID, Answer: answer})
			}
			c, err := intake.Submit(p, signing.NewIDs(1), instant(r.at))
			if err != nil {
				return err
			}
			c.Response.ID, c.Response.ObjectID = r.uuid, r.objectID
			tx.Apply(c)
		}
		return nil
	}))
}
