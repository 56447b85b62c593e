package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// After ErrOutcomeUnknown, find out whether the document was made before it is sent again: the template's respondents
// tell, by receiver and time.
func Example_outcomeUnknown() {
	srv, client := startExample()
	defer srv.Close()
	templateID := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, AfterWork: true, Reset: true}) // an answer gets lost

	ctx := context.Background()
	ref, err := sendOnce(ctx, client, srv.Now(), signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("invitations:", len(srv.Messages()))
	voided, err := client.Documents.Void(ctx, ref) // it is there
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(voided.Message)
	// Output:
	// invitations: 1
	// Document voided successfully
}

// sendOnce sends a template to its first receiver. Where the outcome is unknown it looks for the document. It returns
// ErrOutcomeUnknown still when there is none: the request may be on its way, so look again in some minutes before sending
// again.
func sendOnce(ctx context.Context, client *signforms.Client, now time.Time, p signforms.TemplateSendParams) (signforms.DocumentRef, error) {
	sent, err := client.Templates.Send(ctx, p)
	if err == nil {
		return sent.Ref(), nil
	}
	if !errors.Is(err, signforms.ErrOutcomeUnknown) {
		return signforms.DocumentRef{}, err // it was not sent
	}
	earliest := now.Add(-time.Minute) // the service's clock may be behind
	for respondent, listErr := range client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: p.TemplateID}) {
		if listErr != nil {
			return signforms.DocumentRef{}, errors.Join(err, listErr)
		}
		toReceiver := slices.ContainsFunc(respondent.Signers, func(s signforms.Signer) bool { return s.Email == p.Receivers[0].Email })
		if toReceiver && respondent.CreatedAt.After(earliest) {
			return respondent.Ref(), nil // it was
		}
	}
	return signforms.DocumentRef{}, err
}
