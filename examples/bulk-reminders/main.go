// Bulk-reminders reminds the signers of every pending PDF document, within the service's limit of 5
// reminders in 15 minutes. Documents made from a template are found with Respondents.All instead.
//
//	go run ./examples/bulk-reminders
//
// With the embedded service the program moves the clock instead of waiting. With a real service it
// prints what it would send, and sends real mail only with -send; 100 documents take about five
// hours. The reminder budget is in the memory of this process. So run one process at a time, or
// give the clients a LimitStore that they share, such as that of module stores/.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/internal/target"
	"github.com/signforms/signforms-go/signformstest"
)

func main() {
	send := flag.Bool("send", false, "remind: signers get real mail from a real service")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	service, err := target.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	if srv := service.Embedded; srv != nil {
		*send = true
		for i := range 12 {
			srv.AddDocument(signformstest.Document{
				Name: fmt.Sprintf("Notice %d", i+1), Signers: []signformstest.Signer{{Name: "Ann", Email: "ann@example.com"}},
			})
		}
	}
	refs, err := pending(ctx, service.Client)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d documents are pending\n", len(refs))
	if !*send {
		fmt.Println("nothing was sent: -send reminds their signers by mail")
		return
	}
	if failed := remind(ctx, service, refs); failed > 0 {
		log.Fatalf("%d of %d were not reminded", failed, len(refs))
	}
}

// pending collects the whole list before the first reminder, because the list changes while people sign.
func pending(ctx context.Context, client *signforms.Client) ([]signforms.DocumentRef, error) {
	var refs []signforms.DocumentRef
	for document, err := range client.Documents.All(ctx, signforms.DocumentListParams{Status: signforms.StatusPending}) {
		if err != nil {
			return nil, err
		}
		refs = append(refs, document.Ref())
	}
	return refs, nil
}

// remind returns how many documents were not reminded. The service refuses a document that was
// signed meanwhile, which is not a problem.
func remind(ctx context.Context, service *target.Service, refs []signforms.DocumentRef) int {
	failed := 0
	for outcome, err := range service.Client.Documents.RemindAll(ctx, refs) {
		left := len(refs) - outcome.Index
		switch {
		case err == nil:
			fmt.Printf("%3d of %d: %s: %s", outcome.Index+1, len(refs), outcome.Ref, outcome.Result.Message)
		case outcome.Ref == signforms.DocumentRef{}: // the end of the sequence: refs[outcome.Index:] remain
			fmt.Println("stopped:", err)
			return failed + left
		default:
			fmt.Printf("%3d of %d: %s: %v", outcome.Index+1, len(refs), outcome.Ref, err)
			if !errors.Is(err, signforms.ErrRefused) {
				failed++
			}
		}
		budget, err := service.Client.Documents.ReminderBudget(ctx)
		if err != nil {
			fmt.Println("; budget:", err)
			continue
		}
		fmt.Printf("; budget: %d now\n", budget.Remaining)
		if service.Embedded != nil && left > 1 {
			service.Embedded.Advance(budget.NextIn)
		}
	}
	return failed
}
