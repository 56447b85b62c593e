// Nightly-reminders reminds the signers of every pending document that was made from a template. It records what is done in a file,
// so that a stopped run can be continued without reminding anyone twice.
//
//	go run ./examples/nightly-reminders
//	go run ./examples/nightly-reminders -plan reminders.plan -send
//
// With the embedded service the program moves the clock instead of waiting. With a real service it says what it would do, and
// sends real mail only with -send. The reminder budget is in the memory of this process, so run one process at a time. A run that
// continues another one first waits until the reminders of the other no longer count.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/internal/target"
	"github.com/signforms/signforms-go/signformstest"
)

// forgotten is how long the reminders of an ended process may still count: the service's 15 minutes, and time for a late request.
const forgotten = 17 * time.Minute

func main() {
	path := flag.String("plan", filepath.Join(os.TempDir(), "signforms-reminders.plan"), "file that records what is done; made if it is missing")
	send := flag.Bool("send", false, "remind: signers get real mail from a real service")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	service, err := target.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	if service.Embedded != nil {
		*send, *path = true, filepath.Join(os.TempDir(), fmt.Sprintf("signforms-reminders-%d.plan", os.Getpid()))
		seed(ctx, service)
	}
	if err := run(ctx, service, *path, *send); err != nil {
		log.Fatal(err)
	}
}

// run reminds for the documents that are left in the plan. It makes the plan first if there is none.
func run(ctx context.Context, service *target.Service, path string, send bool) error {
	p, err := readPlan(path)
	if errors.Is(err, os.ErrNotExist) {
		refs, err := pending(ctx, service.Client)
		if err != nil {
			return err
		}
		if !send {
			fmt.Printf("%d documents are pending; nothing was sent: -send reminds their signers by mail\n", len(refs))
			return nil
		}
		if p, err = newPlan(path, refs); err != nil {
			return err
		}
	} else if err != nil {
		return err
	} else if err := wait(ctx, service, time.Until(p.changed.Add(forgotten))); err != nil {
		return err
	}
	defer p.file.Close()
	return p.work(ctx, service)
}

// pending collects the documents of all templates before the first reminder, because lists change while people sign.
func pending(ctx context.Context, client *signforms.Client) (refs []signforms.DocumentRef, err error) {
	for template, err := range client.Templates.All(ctx, signforms.TemplateListParams{}) {
		if err != nil {
			return nil, err
		}
		for document, err := range client.Templates.AllRespondents(ctx, signforms.RespondentListParams{TemplateID: template.DocumentID}) {
			if err != nil {
				return nil, err
			}
			if document.Status == signforms.StatusPending {
				refs = append(refs, document.Ref())
			}
		}
	}
	return refs, nil
}

// wait waits for d. With the embedded service it moves the clock instead.
func wait(ctx context.Context, service *target.Service, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	if service.Embedded != nil {
		service.Embedded.Advance(d)
		return nil
	}
	fmt.Printf("waiting %s\n", d.Round(time.Second))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// seed fills the embedded service.
func seed(ctx context.Context, service *target.Service) {
	offer := service.Embedded.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	for range 7 {
		_, err := service.Client.Templates.Send(ctx, signforms.TemplateSendParams{
			TemplateID: offer, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
}
