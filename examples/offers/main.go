// Offers sends offers for signature, archives what was signed, reminds who is late, exports, and shows support who signed. The README
// says how it stays right over crashes, lost answers and lost webhooks.
package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/mail"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := runDemo
	if len(os.Args) > 1 {
		run = runCommand
	}
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

type app struct {
	client *signforms.Client
	db     *sql.DB
	events *queue.Queue
	hosts  []string // that PDFs may come from
	now    func() time.Time
	doubts sync.Map // when this process first saw a doubt, by doubt

	every, nightly, doubt, overdue, again time.Duration // see the flags
}

func runCommand(ctx context.Context) (err error) {
	a := &app{now: time.Now}
	addr := flag.String("addr", "127.0.0.1:8080", "address for webhooks, at /webhook; put TLS in front of it")
	flag.DurationVar(&a.every, "every", 10*time.Second, "time between two passes")
	flag.DurationVar(&a.nightly, "reconcile", 24*time.Hour, "time between two reconciliations")
	flag.DurationVar(&a.doubt, "doubt", 5*time.Minute, "age at which a send without an outcome is looked for; twice the time of a send")
	flag.DurationVar(&a.overdue, "remind-after", 72*time.Hour, "age at which an offer is late")
	flag.DurationVar(&a.again, "remind-every", 168*time.Hour, "time between two reminders of an offer, 17 minutes or more")
	flag.CommandLine.Parse(os.Args[2:])
	if min(a.every, a.nightly, a.doubt, a.overdue) <= 0 || a.again < 17*time.Minute {
		return errors.New("want times above 0, and 17 minutes or more for -remind-every")
	}
	command := map[string]func() error{ // by name and number of arguments
		"add 0":    func() error { return a.add(ctx, os.Stdin) },
		"run 0":    func() error { return a.run(ctx, *addr, strings.Split(os.Getenv("SIGNFORMS_WEBHOOK_SECRETS"), ",")) },
		"export 0": func() error { return a.export(ctx, os.Stdout) },
		"show 1":   func() error { return a.show(ctx, os.Stdout, flag.Arg(0)) },
		"pdf 1":    func() error { return a.pdf(ctx, os.Stdout, flag.Arg(0)) },
		"decide 2": func() error { return a.decide(ctx, flag.Arg(0), flag.Arg(1)) },
	}[fmt.Sprint(os.Args[1], " ", flag.NArg())]
	if command == nil {
		return errors.New("want add, run, export, show REF|ADDRESS, pdf REF, or decide REF DOCUMENT|again; flags before arguments")
	}
	base := os.Getenv("SIGNFORMS_BASE_URL")
	a.hosts = strings.Fields(strings.ReplaceAll(cmp.Or(os.Getenv("OFFERS_PDF_HOSTS"), base), ",", " "))
	a.client, err = signforms.New(base, os.Getenv("SIGNFORMS_API_KEY"), &signforms.Options{WorkspaceID: os.Getenv("SIGNFORMS_WORKSPACE_ID")})
	if err == nil {
		err = a.open(ctx, cmp.Or(os.Getenv("OFFERS_DB"), "offers.db"))
	}
	if err != nil {
		return err
	}
	defer a.db.Close()
	defer a.events.Close()
	return command()
}

// run works until ctx ends: it receives events, does a pass again and again, and reconciles at the start and nightly.
func (a *app) run(ctx context.Context, addr string, secrets []string) error {
	verifier, err := webhook.NewVerifier(secrets, nil)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhook", a.events.Handler(verifier))
	server := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second}
	tasks, ctx := errgroup.WithContext(ctx)
	tasks.Go(server.ListenAndServe)
	tasks.Go(func() error {
		return a.events.Run(ctx, webhook.Funcs{
			TemplateSigned:   func(ctx context.Context, e *webhook.TemplateSigned) error { return a.hint(ctx, e.Signers) },
			TemplateResponse: func(ctx context.Context, e *webhook.TemplateResponse) error { return a.hint(ctx, e.Signers) },
		})
	})
	tasks.Go(func() error {
		a.loop(ctx)
		return server.Shutdown(context.WithoutCancel(ctx)) // lasts no longer than ReadTimeout and the queue's 2 seconds
	})
	if err = tasks.Wait(); err == http.ErrServerClosed {
		err = nil
	}
	return err
}

func (a *app) loop(ctx context.Context) {
	for reconciled := (time.Time{}); ctx.Err() == nil; {
		var err error
		if time.Since(reconciled) >= a.nightly {
			reconciled, err = time.Now(), a.reconcile(ctx, "state IN ('sending', 'open')")
		}
		if err = errors.Join(err, a.pass(ctx)); err != nil && ctx.Err() == nil {
			slog.Error("not all could be done, it is tried again", "error", err)
		}
		select {
		case <-time.After(a.every):
		case <-ctx.Done():
		}
	}
}

// pass does what is due. A step that fails does not stop the others.
func (a *app) pass(ctx context.Context) error {
	return errors.Join(a.reconcile(ctx, "state = 'sending'"), a.send(ctx), a.look(ctx), a.remind(ctx))
}

// add adds offers from lines of ref,template,role,name,email, and skips those whose ref is known. Spreadsheets begin a file with a
// byte order mark, and leave blanks around cells.
func (a *app) add(ctx context.Context, in io.Reader) error {
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	lines, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		return err
	}
	offers := make([]offer, len(lines))
	for n, l := range lines {
		for i := range l {
			l[i] = strings.TrimSpace(l[i])
		}
		address, invalid := mail.ParseAddress(l[len(l)-1])
		if len(l) != 5 || l[0] == "" || invalid != nil {
			return fmt.Errorf("line %d: want ref,template,role,name,email: nothing was added", n+1)
		}
		offers[n] = offer{Ref: l[0], Template: l[1], Role: l[2], Name: l[3], Email: strings.ToLower(address.Address)}
		if err := offers[n].params().Validate(); err != nil || !utf8.ValidString(l[0]) {
			return fmt.Errorf("line %d: nothing was added: %w", n+1, cmp.Or(err, errors.New("want UTF-8")))
		}
	}
	for _, o := range offers {
		same, err := a.change(ctx, `INSERT INTO offers (ref, template, role, name, email) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (ref) DO UPDATE SET ref = excluded.ref WHERE offers.template = excluded.template AND offers.role = excluded.role
				AND offers.name = excluded.name AND offers.email = excluded.email`, o.Ref, o.Template, o.Role, o.Name, o.Email)
		if err != nil {
			return fmt.Errorf("%q: %w: add the file again", o.Ref, err)
		}
		if !same {
			slog.Warn("this ref is known with other cells, and stays as it is", "offer", o.Ref)
		}
	}
	slog.Info("all lines are offers", "lines", len(offers))
	return nil
}

// export writes all offers as CSV.
func (a *app) export(ctx context.Context, out io.Writer) error {
	offers, err := a.find(ctx, "TRUE")
	lines := csv.NewWriter(out)
	lines.Write([]string{"ref", "name", "email", "state", "note", "document", "sent"})
	for _, o := range offers {
		cells := []string{o.Ref, o.Name, o.Email, o.State, o.Note, o.Document, ""}
		if o.Sent > 0 {
			cells[6] = time.UnixMilli(o.Sent).UTC().Format(time.RFC3339)
		}
		for i, cell := range cells {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				cells[i] = "'" + cell // a spreadsheet would calculate it
			}
		}
		lines.Write(cells)
	}
	lines.Flush()
	return errors.Join(err, lines.Error())
}

// show prints the offers with a ref or address, and what the service says of their signers now.
func (a *app) show(ctx context.Context, out io.Writer, text string) error {
	offers, err := a.find(ctx, "ref = $1 OR email = $2", text, strings.ToLower(text))
	if err == nil && len(offers) == 0 {
		return fmt.Errorf("no offer has the ref or address %q", text)
	}
	for _, o := range offers {
		fmt.Fprintf(out, "%q to %q <%s>: %s %q\n", o.Ref, o.Name, o.Email, o.State, o.Note) // quoted: a terminal obeys control characters
		if o.Document == "" {
			continue
		}
		r, err := a.client.Templates.Respondent(ctx, o.Document)
		if err != nil {
			return err
		}
		for _, s := range r.Signers {
			fmt.Fprintf(out, "  document %q, %q: %q <%q> %q\n", o.Document, r.Status, s.Name, s.Email, s.Status)
		}
	}
	return err
}

func (a *app) pdf(ctx context.Context, out io.Writer, ref string) error {
	var pdf []byte
	err := a.db.QueryRowContext(ctx, "SELECT pdf FROM offers WHERE ref = $1 AND state = 'archived'", ref).Scan(&pdf)
	if err == sql.ErrNoRows {
		return fmt.Errorf("no PDF of %q is archived: see offers show", ref)
	}
	if err == nil {
		_, err = out.Write(pdf)
	}
	return err
}

// decide ends a state that a program must not end: it names the document of an offer, or has the offer sent again.
func (a *app) decide(ctx context.Context, ref, decision string) error {
	offers, err := a.find(ctx, "ref = $1 AND state = 'ask'", ref)
	if err != nil || len(offers) == 0 {
		return errors.Join(err, fmt.Errorf("%s: nothing is to be decided", ref))
	}
	if decision == "again" {
		return a.to(ctx, toSend, offers[0], ", note = ''")
	}
	r, err := a.client.Templates.Respondent(ctx, decision)
	if err != nil {
		return err
	}
	owners, err := a.find(ctx, "document = $1", decision)
	if len(owners) > 0 || !offers[0].params().MayBe(r) {
		return errors.Join(err, fmt.Errorf("%s is not of this template and address, or belongs to another offer", decision))
	}
	return errors.Join(err, a.own(ctx, offers[0], decision))
}
