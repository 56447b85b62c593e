// List-and-export prints all documents as CSV, a line for each: the PDF documents, and then the documents made from
// each template. It only reads.
//
//	go run ./examples/list-and-export >documents.csv
//	go run ./examples/list-and-export -status PENDING
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/internal/target"
	"github.com/signforms/signforms-go/signformstest"
)

func main() {
	status := flag.String("status", "", "list only documents of this status, such as PENDING")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	service, err := target.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	if service.Embedded != nil {
		if err := fill(ctx, service.Embedded, service.Client); err != nil {
			log.Fatal(err)
		}
	}
	count, err := export(ctx, service.Client, signforms.DocumentStatus(*status), os.Stdout)
	if err != nil {
		log.Fatalf("after %d documents: %v", count, err)
	}
	fmt.Fprintf(os.Stderr, "%d documents\n", count)
}

// exporter writes each line as its document arrives, so that memory holds at most two pages of a list.
type exporter struct {
	*csv.Writer
	count int
}

// export writes the PDF documents, and then the documents made from each template, which are not in
// the first list.
func export(ctx context.Context, client *signforms.Client, status signforms.DocumentStatus, to io.Writer) (int, error) {
	w := &exporter{Writer: csv.NewWriter(to)}
	defer w.Flush()
	w.Write([]string{"documentId", "template", "name", "status", "author", "signers", "signed", "created", "updated"})
	for d, err := range client.Documents.All(ctx, signforms.DocumentListParams{Status: status}) {
		if err != nil {
			return w.count, err
		}
		w.line(d.Signers, d.ID, "", d.Name, string(d.Status), d.AuthorEmail, at(d.CreatedAt), at(d.UpdatedAt))
	}
	for template, err := range client.Templates.All(ctx, signforms.TemplateListParams{}) {
		if err == nil {
			err = w.respondents(ctx, client, template, status)
		}
		if err != nil {
			return w.count, err
		}
	}
	w.Flush()
	return w.count, w.Error() // the first error of any Write
}

// respondents writes the documents made from a template. Their list has no filter for the status.
func (w *exporter) respondents(ctx context.Context, client *signforms.Client, template *signforms.Template,
	status signforms.DocumentStatus) error {
	p := signforms.RespondentListParams{TemplateID: template.ID}
	for r, err := range client.Respondents.All(ctx, p) {
		if err != nil {
			return fmt.Errorf("template %s: %w", template.ID, err)
		}
		if status == "" || r.Status == status {
			w.line(r.Signers, r.ID, r.TemplateID, template.Name, string(r.Status), "", at(r.CreatedAt), "")
		}
	}
	return nil
}

func (w *exporter) line(signers []signforms.Signer, id, template, name, status, author, created, updated string) {
	signed := 0
	for _, s := range signers {
		if s.Status == signforms.SignerSigned {
			signed++
		}
	}
	w.Write([]string{id, template, text(name), status, text(author), strconv.Itoa(len(signers)), strconv.Itoa(signed), created, updated})
	w.count++
}

func at(t time.Time) string { return t.Format(time.RFC3339) }

// text prevents a spreadsheet from reading a user's text as a formula.
func text(s string) string {
	if strings.HasPrefix(s, "=") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") {
		return "'" + s
	}
	return s
}

// fill adds documents to the embedded service: more than one page of 100, created a minute apart.
func fill(ctx context.Context, srv *signformstest.Server, client *signforms.Client) error {
	ann, ben := signformstest.Signer{Name: "Ann", Email: "ann@example.com"}, signformstest.Signer{Name: "Ben", Email: "ben@example.com"}
	for i := range 120 {
		srv.Advance(time.Minute)
		id := srv.AddDocument(signformstest.Document{
			Name: fmt.Sprintf("Lease, flat %d", i+1), Signers: []signformstest.Signer{ann, ben},
		})
		for _, signer := range []signformstest.Signer{ann, ben}[:i%3] {
			if err := srv.Signer(id, signer.Email).Sign(); err != nil {
				return err
			}
		}
	}
	_, err := client.Templates.Send(ctx, signforms.TemplateSendParams{
		TemplateID: srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}}),
		Receivers:  []signforms.Receiver{{Name: "Ann", Email: "ann@example.com", RoleTitle: "Buyer"}},
	})
	return err
}
