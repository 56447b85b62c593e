package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// After ErrOutcomeUnknown, find out whether the document was made before it is sent again: the template's respondents
// tell, by receiver and time. Leave out the documents of other sends: here Ann got the same template just before.
func Example_outcomeUnknown() {
	srv, client := startExample()
	defer srv.Close()
	templateID := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	params := signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "Ann@example.com", RoleTitle: "Buyer"}},
	}
	recorded := map[string]bool{} // stands for a table of all documents that this program sent
	send := func(what string) {
		id, err := sendOnce(context.Background(), client, srv.Now(), recorded, params)
		switch {
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			fmt.Println(what+":", "no document yet")
		case err != nil:
			log.Fatal(err)
		default:
			recorded[id] = true
			fmt.Println(what+":", "sent")
		}
	}
	send("an earlier offer")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, Reset: true})
	send("a request that gets lost")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, AfterWork: true, Reset: true})
	send("an answer that gets lost")
	fmt.Println("invitations:", len(srv.Messages()))
	// Output:
	// an earlier offer: sent
	// a request that gets lost: no document yet
	// an answer that gets lost: sent
	// invitations: 2
}

// sendOnce sends a template and returns the id of the document. Where the outcome is unknown it looks for the document, which
// is none of the recorded ones. It still returns ErrOutcomeUnknown when it finds none or cannot tell which: the request may be
// on its way, so call findSent again in some minutes before sending again. Have one send of a template to the same
// receivers under way at a time, or the document found may be another's.
func sendOnce(ctx context.Context, client *signforms.Client, now time.Time, recorded map[string]bool, p signforms.TemplateSendParams) (string, error) {
	sent, err := client.Templates.Send(ctx, p)
	if err == nil {
		return sent.CreatedDocumentID, nil
	}
	if !errors.Is(err, signforms.ErrOutcomeUnknown) {
		return "", err // it was not sent
	}
	found, lookErr := findSent(ctx, client, now.Add(-time.Minute), recorded, p) // the service's clock may be behind
	if lookErr != nil || found == "" {
		return "", errors.Join(err, lookErr)
	}
	return found, nil
}

// findSent returns the id of the one document that p made since earliest, or "" when a whole list has none. The error says that
// the list is not whole or that several may be it.
func findSent(ctx context.Context, client *signforms.Client, earliest time.Time, recorded map[string]bool, p signforms.TemplateSendParams) (found string, err error) {
	for respondent, err := range client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: p.TemplateID}) {
		if err != nil {
			return "", err
		}
		id, at := respondent.RespondentDocumentID, respondent.CreatedAt
		if recorded[id] || !at.IsZero() && at.Before(earliest) || !toAll(respondent.Signers, p.Receivers) {
			continue
		}
		if found != "" {
			return "", fmt.Errorf("documents %s and %s may both be this send", found, id)
		}
		found = id
	}
	return found, nil
}

// toAll reports whether each receiver is one of the signers. A service may return addresses in lower case.
func toAll(signers []signforms.Signer, receivers []signforms.Receiver) bool {
	return !slices.ContainsFunc(receivers, func(r signforms.Receiver) bool {
		return !slices.ContainsFunc(signers, func(s signforms.Signer) bool { return strings.EqualFold(s.Email, r.Email) })
	})
}
