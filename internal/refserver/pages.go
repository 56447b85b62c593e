package refserver

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// pages are the pages that people open in a browser: signing links, form links and PDFs. The keys
// are the paths of [signing.Links].
var pages = map[string]func(s *Server, w http.ResponseWriter, r *http.Request, name string){
	"/sign/":      (*Server).openSigningLink,
	"/form/":      (*Server).openFormLink,
	"/documents/": (*Server).showDocument,
	"/finished/":  (*Server).showFinished,
}

// servePage handles a request for a page. It reports whether the request was for a page. Requests
// for pages are not logged, because links are secrets.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) bool {
	for prefix, serve := range pages {
		name, ok := strings.CutPrefix(r.URL.Path, prefix)
		if !ok {
			continue
		}
		allowed := []string{http.MethodGet, http.MethodHead}
		if prefix == "/sign/" {
			allowed = append(allowed, http.MethodPost)
		}
		if slices.Contains(allowed, r.Method) {
			serve(s, w, r, name)
		} else {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			page(w, http.StatusMethodNotAllowed, "Not possible", "This page allows "+strings.Join(allowed, ", ")+".")
		}
		return true
	}
	return false
}

// openSigningLink shows the document to a signer, which counts as viewing it. The button on the
// page sends a POST, which signs the document.
func (s *Server) openSigningLink(w http.ResponseWriter, r *http.Request, token string) {
	var d signing.Document
	var signer int
	found := false
	s.store.View(func(tx *store.Tx) error {
		d, signer, found = tx.DocumentByToken(token)
		return nil
	})
	if !found {
		noSuchPage(w)
		return
	}
	var values []signing.FieldValue
	if r.Method == http.MethodPost {
		var err error
		if values, err = posted(r, d.FieldsOf(signer)); err != nil {
			page(w, http.StatusRequestEntityTooLarge, d.Name, "What you entered is larger than 1 MiB.")
			return
		}
	}
	if r.Method == http.MethodHead { // programs that check the links in mail send a HEAD: nobody has seen the document
		page(w, http.StatusOK, d.Name, "")
		return
	}
	id, from := d.Signers[signer].ID, originOf(r)
	text, form := "For the signature of "+d.Signers[signer].Name+".", signForm(d.FieldsOf(signer))
	err := s.act(d.ID, func(d signing.Document, at time.Time) (signing.Change, error) {
		if r.Method == http.MethodPost {
			text, form = "Signed by "+d.Signers[signer].Name+".", ""
			return d.Sign(id, signing.SignParams{From: from, Values: values}, at)
		}
		return d.View(id, from, at)
	})
	if err != nil {
		page(w, http.StatusConflict, d.Name, err.Error())
		return
	}
	page(w, http.StatusOK, d.Name, text)
	io.WriteString(w, form)
}

// originOf returns the origin of a person's request.
func originOf(r *http.Request) signing.Origin {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = signerIP // the network in memory has no addresses
	}
	return signing.Origin{IP: ip, UserAgent: r.UserAgent()}
}

// signForm returns the HTML form for the fields, with the button that signs.
func signForm(fields []signing.Field) string {
	var b strings.Builder
	b.WriteString("<form method=post>")
	for _, f := range fields {
		attributes := map[signing.FieldKind]string{signing.FieldDate: " type=date", signing.FieldCheckbox: " type=checkbox value=true"}[f.Kind]
		if f.Required {
			attributes += " required"
		}
		name := html.EscapeString(f.Name)
		fmt.Fprintf(&b, `<p><label>%s <input name="%s"%s></label></p>`, name, name, attributes)
	}
	b.WriteString("<button>Sign</button></form>\n")
	return b.String()
}

// posted reads the input of the form of [signForm]. It returns an error if the input is too large.
func posted(r *http.Request, fields []signing.Field) (values []signing.FieldValue, err error) {
	r.Body = http.MaxBytesReader(nil, r.Body, 1<<20)
	// Input that cannot be read for another reason counts as missing. If it is required, the signer
	// gets an error.
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](r.ParseForm()); ok {
		return nil, tooLarge
	}
	for _, f := range fields {
		if r.PostForm.Has(f.Name) {
			values = append(values, signing.FieldValue{Name: f.Name, Value: r.PostForm.Get(f.Name)})
		}
	}
	return values, nil
}

// openFormLink shows the questions of the form to a receiver.
func (s *Server) openFormLink(w http.ResponseWriter, _ *http.Request, token string) {
	form, _, ok := s.FormLink(token)
	if !ok {
		noSuchPage(w)
		return
	}
	var questions []string
	for _, f := range form.Fields {
		questions = append(questions, f.Question)
	}
	page(w, http.StatusOK, form.Title, strings.Join(questions, " · "))
}

// showDocument serves the PDF of a document or template: its own PDF, or an empty page.
func (s *Server) showDocument(w http.ResponseWriter, r *http.Request, name string) {
	d, err := s.document(s.links.IDOf(name))
	of, content := "document "+d.ID, d.PDF
	if err != nil {
		err := s.store.View(func(tx *store.Tx) error {
			t, err := tx.Template(s.links.IDOf(name))
			of, content = "template "+t.ID, t.PDF
			return err
		})
		if err != nil {
			noSuchPage(w)
			return
		}
	}
	s.pdf(w, r, of, content)
}

// showFinished serves the signed PDF of a completed document, or the PDF of a form response. A HEAD
// makes no file.
func (s *Server) showFinished(w http.ResponseWriter, r *http.Request, name string) {
	d, err := s.document(s.links.IDOf(name))
	if err != nil || !d.Completed() {
		err := s.store.View(func(tx *store.Tx) error {
			_, err := tx.Response(s.links.IDOf(name))
			return err
		})
		if err != nil {
			noSuchPage(w)
			return
		}
	}
	if s.toFinish(d) && r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "application/pdf")
		return
	}
	if s.options.Finish == nil || !d.Completed() {
		s.pdf(w, r, "document "+d.ID, d.PDF)
		return
	}
	content, err := s.FinishedPDF(r.Context(), d.ID)
	if err != nil {
		page(w, http.StatusServiceUnavailable, "Not now", "The signed PDF could not be made. Try again later.")
		return
	}
	servePDF(w, r, content)
}

func (s *Server) pdf(w http.ResponseWriter, r *http.Request, of string, f signing.File) {
	content, err := s.content(r.Context(), of, f)
	if err != nil {
		page(w, http.StatusServiceUnavailable, "Not now", "The file cannot be read.")
		return
	}
	if content == nil {
		content = emptyPDF()
	}
	servePDF(w, r, content)
}

func servePDF(w http.ResponseWriter, r *http.Request, content []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/pdf")
	h.Set("X-Content-Type-Options", "nosniff") // somebody uploaded the file, so a browser must display it only as its Content-Type and run nothing in it
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// emptyPDF is the smallest file that PDF readers open: one empty page.
func emptyPDF() []byte {
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>",
	}
	out := []byte("%PDF-1.4\n")
	table := "0000000000 65535 f \n"
	for i, object := range objects {
		table += fmt.Sprintf("%010d 00000 n \n", len(out))
		out = fmt.Appendf(out, "%d 0 obj%sendobj\n", i+1, object)
	}
	return fmt.Appendf(out, "xref\n0 4\n%strailer<</Size 4/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table, len(out))
}

func noSuchPage(w http.ResponseWriter) {
	page(w, http.StatusNotFound, "No such page", "There is nothing under this link.")
}

func page(w http.ResponseWriter, status int, title, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer") // the URL may be a secret
	w.WriteHeader(status)
	title, text = html.EscapeString(title), html.EscapeString(text)
	fmt.Fprintf(w, "<!doctype html>\n<title>%s</title>\n<h1>%s</h1>\n<p>%s</p>\n", title, title, text)
}
