// Send-template sends a template to one person. If the response is lost, it finds out whether the
// document was sent.
//
//	go run ./examples/send-template
//
// With a real service it sends real mail, and needs the template and the receiver as flags:
//
//	go run ./examples/send-template -template <UUID> -role Buyer -name Ann -email ann@example.com
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/internal/target"
	"github.com/signforms/signforms-go/signformstest"
)

func main() {
	templateID := flag.String("template", "", "id of the template")
	role := flag.String("role", "Buyer", "role of the template that the person has")
	name := flag.String("name", "Ann", "name of the person")
	email := flag.String("email", "", "address to send to: it gets real mail from a real service")
	flag.Parse()
	service, err := target.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	if srv := service.Embedded; srv != nil {
		*email = "ann@example.com"
		*templateID = srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: *role}}})
		srv.Fail(signformstest.Fault{Operation: signforms.OpSend, AfterWork: true, Reset: true, Times: 1})
		fmt.Println("the embedded service will send, and lose its answer")
	}
	if *templateID == "" || *email == "" {
		log.Fatal("say what to send to whom, with -template and -email")
	}
	if err := run(context.Background(), service, signforms.TemplateSendParams{
		TemplateID: *templateID,
		Receivers:  []signforms.Receiver{{Name: *name, Email: *email, RoleTitle: *role, Subject: "Our offer", Message: "Please sign."}},
	}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, service *target.Service, p signforms.TemplateSendParams) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	before, err := sentBefore(ctx, service.Client, p.TemplateID)
	if err != nil {
		return err
	}
	var documentID string
	sent, err := service.Client.Templates.Send(ctx, p)
	switch {
	case err == nil:
		documentID = sent.DocumentID
		fmt.Printf("sent: document %s is %s\n", documentID, sent.Status)
	case errors.Is(err, signforms.ErrOutcomeUnknown):
		fmt.Println("no answer:", err)
		if documentID, err = look(ctx, service.Client, p, before); err != nil {
			return err
		}
		fmt.Printf("it was sent all the same, if nobody else sends this template: document %s\n", documentID)
	default:
		return err
	}
	if service.Embedded == nil {
		fmt.Println("skipped: only in the embedded service can this program sign as the receiver")
		return nil
	}
	if err := service.Embedded.Signer(documentID, p.Receivers[0].Email).Sign(); err != nil {
		return err
	}
	signed, err := service.Client.Respondents.Get(ctx, documentID)
	if err != nil {
		return err
	}
	fmt.Printf("%s has signed: document %s is %s\n", p.Receivers[0].Name, documentID, signed.Status)
	return nil
}

// sentBefore returns the ids of the documents that were made from the template. It reads all pages. A program that
// sends thousands of documents should keep the known ids in its database.
func sentBefore(ctx context.Context, client *signforms.Client, templateID string) (map[string]bool, error) {
	ids := map[string]bool{}
	for r, err := range client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: templateID}) {
		if err != nil {
			return nil, err
		}
		ids[r.ID] = true
	}
	return ids, nil
}

// look finds the document of a send whose response was lost: the only new document with the same
// receiver. It returns an error if there is no such document, or if there are several, because
// somebody else may have sent some of them.
func look(ctx context.Context, client *signforms.Client, p signforms.TemplateSendParams, before map[string]bool) (found string, err error) {
	for r, err := range client.Respondents.All(ctx, signforms.RespondentListParams{TemplateID: p.TemplateID}) {
		if err != nil {
			return "", err
		}
		hasReceiver := func(s signforms.Signer) bool { return strings.EqualFold(s.Email, p.Receivers[0].Email) }
		if before[r.ID] || !slices.ContainsFunc(r.Signers, hasReceiver) {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("documents %s and %s may both be this send: ask who else sends this template", found, r.ID)
		}
		found = r.ID
	}
	if found == "" {
		return "", errors.New("it is not there now: it was not sent, or is still on its way")
	}
	return found, nil
}
