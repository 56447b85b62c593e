package signforms_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

// After ErrOutcomeUnknown, find out whether the document was made before it is sent again. Here Ann got the same template just
// before, so the program leaves out the documents that it has recorded.
func Example_outcomeUnknown() {
	srv, client := startExample()
	defer srv.Close()
	templateID := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	params := signforms.TemplateSendParams{
		TemplateID: templateID,
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "Ann@example.com", RoleTitle: "Buyer"}},
	}
	recorded := map[string]bool{} // stands for a table of all documents that this program sent
	known := func(documentID string) bool { return recorded[documentID] }
	send := func(what string) {
		sent, err := client.Templates.Send(context.Background(), params)
		switch {
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			id, err := findSent(context.Background(), client, time.Now(), params, known)
			fmt.Println(what+":", id != "", err)
			recorded[id] = id != ""
		case err != nil:
			log.Fatal(err)
		default:
			recorded[sent.CreatedDocumentID] = true
			fmt.Println(what+":", "sent")
		}
	}
	send("an earlier offer")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, AfterWork: true, Reset: true})
	send("an answer that gets lost")
	srv.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, Reset: true})
	send("a request that gets lost")
	fmt.Println("invitations:", len(srv.Messages()))
	// Output:
	// an earlier offer: sent
	// an answer that gets lost: true <nil>
	// a request that gets lost: false look again later: the request may still arrive
	// invitations: 2
}

// arrives is how long after a send its request may still arrive: Options.AttemptTimeout, here its default, and one minute.
const arrives = 30*time.Second + time.Minute

// findSent looks for the document of a send that ended without an outcome. It returns "" and no error if there is none: then the
// template may be sent again. ended has a monotonic clock; after a restart, give the time of the start.
func findSent(ctx context.Context, client *signforms.Client, ended time.Time, p signforms.TemplateSendParams,
	known func(documentID string) bool) (documentID string, err error) {
	began := time.Now()
	candidates, err := client.Templates.SentCandidates(ctx, p, known)
	switch {
	case err != nil:
		return "", err
	case len(candidates) > 1:
		return "", fmt.Errorf("%d documents may be this send: let a person decide", len(candidates))
	case len(candidates) == 1:
		return candidates[0].RespondentDocumentID, nil
	case began.Sub(ended) < arrives:
		return "", errors.New("look again later: the request may still arrive")
	}
	return "", nil
}
