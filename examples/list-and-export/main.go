// List-and-export prints all documents as CSV, a line for each, newest first. It only reads.
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
		fill(service.Embedded)
	}
	count, err := export(ctx, service.Client, signforms.DocumentListParams{Status: signforms.DocumentStatus(*status)}, os.Stdout)
	if err != nil {
		log.Fatalf("after %d documents: %v", count, err)
	}
	fmt.Fprintf(os.Stderr, "%d documents\n", count)
}

// export writes each line as its document arrives, so that memory holds at most two pages of documents.
func export(ctx context.Context, client *signforms.Client, p signforms.DocumentListParams, to io.Writer) (count int, err error) {
	w := csv.NewWriter(to)
	w.Write([]string{"documentId", "name", "status", "author", "signers", "signed", "created", "updated"})
	for document, err := range client.Documents.All(ctx, p) {
		if err != nil {
			w.Flush()
			return count, err
		}
		signed := 0
		for _, s := range document.Signers {
			if s.Status == signforms.SignerSigned {
				signed++
			}
		}
		w.Write([]string{
			document.DocumentID, text(document.DocumentName), string(document.Status), text(document.AuthorEmail),
			strconv.Itoa(len(document.Signers)), strconv.Itoa(signed),
			document.CreatedAt.Format(time.RFC3339), document.UpdatedAt.Format(time.RFC3339),
		})
		count++
	}
	w.Flush()
	return count, w.Error() // the first error of any Write
}

// text prevents a spreadsheet from reading what a user typed as a formula.
func text(s string) string {
	if strings.HasPrefix(s, "=") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "@") {
		return "'" + s
	}
	return s
}

// fill gives the embedded service something to list: more than one page of 100, a minute apart.
func fill(srv *signformstest.Server) {
	ann, ben := signformstest.Signer{Name: "Ann", Email: "ann@example.com"}, signformstest.Signer{Name: "Ben", Email: "ben@example.com"}
	for i := range 120 {
		srv.Advance(time.Minute)
		id := srv.AddDocument(signformstest.Document{
			Name: fmt.Sprintf("Lease, flat %d", i+1), Signers: []signformstest.Signer{ann, ben},
		})
		for _, signer := range []signformstest.Signer{ann, ben}[:i%3] {
			if err := srv.Signer(id, signer.Email).Sign(); err != nil {
				log.Fatal(err)
			}
		}
	}
}
