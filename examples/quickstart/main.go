// Quickstart shows everything in one process: a service, a client, and a receiver of the service's
// signed webhooks. It needs only Go and ends by itself. It fails if a step fails or one of the
// seven event types is missing.
//
//	go run ./examples/quickstart
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal("quickstart: ", err)
	}
}

// tour is the state that the steps share. Signers and respondents act at the service, and WaitDeliveries waits until its
// webhooks have arrived. The application acts through the client.
type tour struct {
	service *signformstest.Server
	client  *signforms.Client
}

func run(ctx context.Context) error {
	service, err := signformstest.Start(nil)
	if err != nil {
		return err
	}
	defer service.Close()
	receiver, err := startReceiver(service.WebhookSecret)
	if err != nil {
		return err
	}
	defer receiver.Close()
	for _, family := range []signformstest.EventFamily{
		signformstest.FamilyFormResponse, signformstest.FamilySignatureCompleted, signformstest.FamilyTemplateResponse,
	} {
		service.AddWebhook(signformstest.Webhook{URL: receiver.URL, Event: family})
	}
	client, err := signforms.New(service.URL, service.APIKey, &signforms.Options{WorkspaceID: service.WorkspaceID})
	if err != nil {
		return err
	}
	t := tour{service, client}
	steps := []struct {
		title string
		do    func(context.Context) error
	}{
		{"send a template to two people, who sign in order", t.template},
		{"send a form and have it filled in", t.form},
		{"have a plain PDF signed", t.pdf},
		{"list and page documents", t.list},
		{"void a document, twice", t.void},
		{"what the service refuses", t.refusals},
	}
	for i, step := range steps {
		fmt.Printf("\n%d. %s\n", i+1, step.title)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return receiver.report()
}

func (t tour) template(ctx context.Context) error {
	templateID := t.service.AddTemplate(signformstest.Template{
		Name: "Lease", Roles: []signformstest.Role{{Title: "Tenant"}, {Title: "Landlord"}}, SigningOrder: true, Variables: []string{"[rent]"},
	})
	sent, err := t.client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers: []signforms.Receiver{
			{Name: "Ann", Email: "ann@example.com", RoleTitle: "Tenant", Subject: "Your lease", Message: "Please sign first."},
			{Name: "Ben", Email: "ben@example.com", RoleTitle: "Landlord", Subject: "Ann's lease", Message: "Your turn after Ann."},
		},
		Variables: []signforms.Variable{{Name: "[rent]", Value: "900"}},
	})
	if err != nil {
		return err
	}
	fmt.Printf("   sent: document %s is %s\n", sent.DocumentID, sent.Status)
	ann := t.service.Signer(sent.DocumentID, "ann@example.com")
	ben := t.service.Signer(sent.DocumentID, "ben@example.com")
	if err := errors.Join(ann.View(), ann.Sign(), t.service.WaitDeliveries(ctx)); err != nil {
		return err
	}
	reminded, err := t.client.Documents.Remind(ctx, sent.Ref())
	if err != nil {
		return err
	}
	fmt.Printf("   Ann has signed; reminded Ben: %s\n", reminded.Message)
	if err := errors.Join(ben.View(), ben.Sign(), t.service.WaitDeliveries(ctx)); err != nil {
		return err
	}
	respondents, err := t.client.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: templateID})
	if err != nil {
		return err
	}
	if len(respondents.Items) != 1 || respondents.Items[0].Status != signforms.StatusSigned {
		return fmt.Errorf("got %d respondents, want the one that is signed", len(respondents.Items))
	}
	r := respondents.Items[0]
	fmt.Printf("   read back: respondent %s is %s, signed by %d of %d\n",
		r.ID, r.Status, countSigned(r.Signers), len(r.Signers))
	return nil
}

func countSigned(signers []signforms.Signer) (n int) {
	for _, s := range signers {
		if s.Status == signforms.SignerSigned {
			n++
		}
	}
	return n
}

func (t tour) form(ctx context.Context) error {
	formID := t.service.AddForm(signformstest.Form{
		Title: "Move-in check", Questions: []signformstest.Question{{Question: "How many keys?", Required: true}},
	})
	sent, err := t.client.Forms.Send(ctx, signforms.FormSendParams{
		FormID: formID, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}},
	})
	if err != nil {
		return err
	}
	fmt.Printf("   sent: %s\n", sent.Message)
	_, err = t.service.SubmitForm(formID, signformstest.Submission{
		RespondentEmail: "ann@example.com", Answers: map[string]string{"How many keys?": "3"},
	})
	if err := errors.Join(err, t.service.WaitDeliveries(ctx)); err != nil {
		return err
	}
	count := 0
	for response, err := range t.client.FormResponses.All(ctx, signforms.FormResponseListParams{FormID: formID}) {
		if err != nil {
			return err
		}
		for _, a := range response.Answers {
			count++
			fmt.Printf("   read back: %s %s\n", a.Question, a.Answer)
		}
	}
	if count != 1 {
		return fmt.Errorf("read %d answers back, want 1", count)
	}
	return nil
}
