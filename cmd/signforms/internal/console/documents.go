package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// pageSize is how many records a list shows on one page.
const pageSize = 50

// documentList is a page of documents.
type documentList struct {
	Filter    refserver.DocumentFilter
	Query     string // the query as the user entered it
	Documents []refserver.DocumentState
	span
	Statuses []refserver.Status
}

func (c *console) documents(r *http.Request) (page, error) {
	q := r.URL.Query()
	f := searched(refserver.DocumentFilter{
		FromTemplates: q.Get("from") == "templates", Status: refserver.Status(q.Get("status")), Offset: offsetIn(q), Limit: pageSize,
	}, q.Get("query"))
	documents, total := c.server.FindDocuments(f)
	list := documentList{
		Filter: f, Query: q.Get("query"), Documents: documents, span: spanOf(f.Offset, len(documents), total), Statuses: refserver.Statuses(),
	}
	return page{Title: "Documents", New: "New document", name: "documents", Live: "document", Data: list}, nil
}

// searched adds a query to a filter: part of a name or, if the query contains an @, part of a
// signer's address.
func searched(f refserver.DocumentFilter, query string) refserver.DocumentFilter {
	if query = strings.TrimSpace(query); strings.Contains(query, "@") {
		f.Email = query
	} else {
		f.Query = query
	}
	return f
}

// documentView is one document with its history.
type documentView struct {
	Document refserver.DocumentState
	Audit    []refserver.AuditEntry
	Pending  bool
	Finished bool
}

func (c *console) document(r *http.Request) (page, error) {
	d, ok := c.server.FindDocument(r.PathValue("id"))
	if !ok {
		return page{}, errNoSuchRecord
	}
	view := documentView{
		Document: d, Audit: c.server.Audit(d.ID), Pending: d.Status == refserver.StatusPending, Finished: !d.CompletedAt.IsZero(),
	}
	return page{Title: d.Name, name: "document", Live: "document,audit", Data: view}, nil
}

// documentActs are the buttons of a document. The form of a signer's button contains the signer's
// id and the input.
var documentActs = map[string]struct {
	done string
	do   func(c *console, r *http.Request, id string) error
}{
	"view": {"viewed", func(c *console, r *http.Request, id string) error { return c.signer(r, id).View() }},
	"sign": {"signed", (*console).sign},
	"decline": {"declined", func(c *console, r *http.Request, id string) error {
		return c.signer(r, id).Decline(strings.TrimSpace(r.PostFormValue("reason")))
	}},
	"void":    {"voided", func(c *console, _ *http.Request, id string) error { return c.server.Void(id) }},
	"remind":  {"reminded", (*console).remind},
	"expire":  {"expired", func(c *console, _ *http.Request, id string) error { return c.server.Expire(id) }},
	"pay":     {"paid", func(c *console, _ *http.Request, id string) error { return c.server.Pay(id) }},
	"delete":  {"deleted", func(c *console, _ *http.Request, id string) error { return c.server.Delete(id) }},
	"archive": {"archived", func(c *console, _ *http.Request, id string) error { return c.server.Archive(id) }},
	"send":    {"sent", func(c *console, _ *http.Request, id string) error { return c.server.SendDraft(id) }},
}

func (c *console) actOnDocument(r *http.Request) (string, error) {
	id := r.PathValue("id")
	a, ok := documentActs[r.PostFormValue("act")]
	if !ok {
		return "", errors.New("this page has no such button: reload it")
	}
	if err := a.do(c, r, id); err != nil {
		return "", err
	}
	return done("documents/"+id, a.done), nil
}

func (c *console) signer(r *http.Request, documentID string) refserver.Actor {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	return c.server.Signer(documentID, r.PostFormValue("signer")).From(refserver.Origin{IP: ip, UserAgent: r.UserAgent()})
}

// sign signs as a signer. It fills in every required field with a sample value.
func (c *console) sign(r *http.Request, id string) error {
	d, ok := c.server.FindDocument(id)
	if !ok {
		return errNoSuchRecord
	}
	var values []refserver.FieldValue
	for _, s := range d.Signers {
		if s.ID != r.PostFormValue("signer") {
			continue
		}
		for _, f := range d.Fields {
			if f.Required && (f.Role == s.Role || f.Role == s.Email) {
				values = append(values, refserver.FieldValue{Name: f.Name, Value: sampleValue(f.Kind, s, c.server.Now())})
			}
		}
	}
	return c.signer(r, id).Sign(values...)
}

// sampleValue returns what the console enters into a field in place of a person.
func sampleValue(kind refserver.FieldKind, s refserver.SignerState, now time.Time) string {
	switch kind {
	case refserver.DateField:
		return now.UTC().Format(time.DateOnly)
	case refserver.CheckboxField:
		return "true"
	case refserver.SignatureField, refserver.InitialsField:
		if s.Name != "" {
			return s.Name
		}
		return s.Email
	}
	return "Sample"
}

// remind calls the API as a client does, so that the reminder counts towards the limit.
func (c *console) remind(r *http.Request, id string) error {
	d, ok := c.server.FindDocument(id)
	if !ok {
		return errNoSuchRecord
	}
	ref := signforms.PDFDocument(d.ID)
	if d.TemplateID != "" {
		ref = signforms.TemplateDocument(d.TemplateID, d.ID)
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	_, err = client.Documents.Remind(r.Context(), ref)
	if e, ok := errors.AsType[*signforms.Error](err); ok && errors.Is(err, signforms.ErrRateLimited) {
		return fmt.Errorf("no more reminders may be sent now: 5 within 15 minutes are the limit of an API key. Wait %v, or advance the clock", e.RetryAfter.Round(time.Second))
	}
	return err
}

func (c *console) newDocument(*http.Request) (page, error) {
	return page{Title: "New document", name: "new-document"}, nil
}

func (c *console) addDocument(r *http.Request) (string, error) {
	if err := r.ParseMultipartForm(maxBody); err != nil {
		return "", errIncomplete(err)
	}
	d := refserver.Document{Name: strings.TrimSpace(r.PostFormValue("name")), SigningOrder: r.PostFormValue("order") == "true"}
	var err error
	if d.Signers, err = people(r.PostFormValue("signers"), "signer"); err != nil {
		return "", err
	}
	var content pdf.Content
	if d.PDF, content, err = c.uploaded(r); err != nil {
		return "", err
	}
	id, err := c.server.AddDocument(d)
	if err != nil {
		return "", err
	}
	return doneWith("documents/"+id, "sent", content), nil
}

// people reads one person per line. noun is the word of the page for these people.
func people(text, noun string) (all []refserver.Signer, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, email, ok := cutPerson(line)
		if !ok {
			return nil, fmt.Errorf("%q is not a %s: write a name and an address on each line, as in Ann Buyer <ann@example.com>", line, noun)
		}
		all = append(all, refserver.Signer{Name: name, Email: email})
	}
	return all, nil
}

// cutPerson reads "Ann Buyer <ann@example.com>" or only an address.
func cutPerson(line string) (name, email string, ok bool) {
	if before, after, found := strings.Cut(line, "<"); found {
		if line, found = strings.CutSuffix(strings.TrimSpace(after), ">"); !found {
			return "", "", false
		}
		name = strings.TrimSpace(before)
		if quoted, err := strconv.Unquote(name); err == nil {
			name = quoted
		}
	}
	return name, line, strings.Contains(line, "@") && !strings.ContainsAny(line, " <>")
}

// errIncomplete returns an error text for the person who sent a form with a file that could not be
// read.
func errIncomplete(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return pdf.ErrTooLarge
	}
	if _, full := errors.AsType[*fs.PathError](err); full { // the temporary file of the upload
		return err
	}
	return errors.New("the form did not arrive whole: send it again")
}

// uploaded returns the PDF in a form and its content. If the form has no PDF, it returns nil and
// one page. Its error is a sentence for the person who uploaded the file.
func (c *console) uploaded(r *http.Request) (data []byte, content pdf.Content, err error) {
	file, header, err := r.FormFile("pdf")
	switch {
	case errors.Is(err, http.ErrMissingFile):
		return nil, onePage, nil
	case err != nil:
		return nil, content, errors.New("the file did not arrive whole: choose it again")
	}
	defer file.Close()
	switch {
	case header.Size == 0:
		return nil, content, errors.New("the file is empty: choose another one")
	case header.Size > pdf.MaxSize:
		return nil, content, pdf.ErrTooLarge
	}
	data = make([]byte, header.Size)
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, content, errors.New("the file did not arrive whole: choose it again")
	}
	if content, err = c.contentOf(r.Context(), data); err != nil {
		return nil, content, err
	}
	return data, content, nil
}

// onePage is the content of a record without a PDF.
var onePage = pdf.Content{Pages: make([]pdf.Page, 1)}

// contentOf returns the content of a PDF. Without one there is one page.
func (c *console) contentOf(ctx context.Context, data []byte) (pdf.Content, error) {
	if data == nil {
		return onePage, nil
	}
	found, err := c.options.Inspect(ctx, data)
	if reason := pdf.Refusal(err); reason != nil {
		return found, reason // leaves out the parser's message, which does not help the person who uploaded the file
	}
	if err != nil {
		return found, fmt.Errorf("the PDF could not be checked: %w", err)
	}
	return found, nil
}

// file serves a PDF of a record, or an empty page for a record without one.
func (c *console) file(read func(ctx context.Context, id string) ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := read(r.Context(), r.PathValue("id"))
		if err == nil && data == nil {
			data, err = pdf.Draw("An empty page", nil)
		}
		if err != nil {
			if errors.Is(err, refserver.ErrNotFound) {
				err = errNoSuchRecord
			}
			c.show(w, r, func(*console, *http.Request) (page, error) { return page{}, err }, http.StatusOK, "")
			return
		}
		look.SecureFile(w.Header())
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = w.Write(data) // Write fails only if the client has gone
	}
}
