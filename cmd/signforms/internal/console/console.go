// Package console serves pages for developers: the sandbox's records, its logs of deliveries, requests and messages,
// and forms to act on them.
//
// The pages work without JavaScript, except for placing the fields of a template. With JavaScript, lists update
// themselves through htmx and the control API's stream of events, which all tabs of a browser share.
package console

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/assets"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Prefix is the path of the console.
const Prefix = "/_/"

// maxBody is the maximum size of a submitted form, in bytes. It has room for a PDF and for
// everything else.
const maxBody = pdf.MaxSize + 4<<20

// Options are the settings of New.
type Options struct {
	PublicURL string                                     // the URL in clients, links and payloads
	Events    string                                     // path of the stream of events
	Base      string                                     // path of the console in the browser, with a slash at both ends; default Prefix, at which New always serves it
	Data      string                                     // location of the state, as shown to people
	Endpoints map[signforms.Operation]signforms.Endpoint // endpoints for a client of the server
	Profile   []string                                   // settings of the profile that differ from the default, such as page-size=25
	Logger    *slog.Logger

	// Workspaces, unless nil, returns the consoles of all workspaces of the program, including this
	// one.
	Workspaces func() []Workspace

	// Reset empties the sandbox and adds the records of its seed again.
	Reset func(context.Context) error

	// Inspect refuses an uploaded PDF that cannot be signed.
	Inspect func(ctx context.Context, data []byte) (pdf.Content, error)
}

// Workspace is the console of a workspace.
type Workspace struct{ Name, Base string }

//go:embed templates
var templateFiles embed.FS

//go:embed static/console.css
var consoleCSS string

//go:embed static/console.js
var consoleJS string

//go:embed static/stream.js
var streamJS string

//go:embed static/editor.js
var editorJS string

// templates are read on first use, because most commands of the program show no page.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(look.Functions).Funcs(functions).ParseFS(templateFiles, "templates/*.html"))
})

var assetPath = Prefix + "assets/" + look.Version(assets.Version(), look.Style, look.Pages, consoleCSS, consoleJS, streamJS, editorJS)

type console struct {
	server  *refserver.Server
	options Options
	own     *template.Template // templates with the URL of this console
}

// page is one page of the console.
type page struct {
	Title string
	name  string // name of the template
	New   string // label of the button that adds a record; empty: there is no button
	Live  string // events after which the browser fetches the page again, separated by commas
	Data  any
}

// frame is the data for every template.
type frame struct {
	page
	Assets, Events, Self, Section string
	First                         string // URL of the first workspace's console
	Problem, Done                 string
	Workspaces                    []Workspace
	Entered                       url.Values // the refused input
}

// Was returns the entered value of an input. If nothing was entered yet, it returns otherwise.
func (f frame) Was(name, otherwise string) string {
	if f.Entered == nil {
		return otherwise
	}
	return f.Entered.Get(name)
}

// A show makes a page. An act executes an action and returns the URL of the next page.
type (
	show func(*console, *http.Request) (page, error)
	act  func(*console, *http.Request) (next string, err error) // next is relative to the console's URL
)

// errNoSuchRecord is the error of a page whose record is unknown.
var errNoSuchRecord = errors.New("there is no such record: it may have been deleted or reset")

// New returns the handler of everything below Prefix, except the control API. It is safe for concurrent use.
func New(server *refserver.Server, opts Options) http.Handler {
	opts.Base = cmp.Or(opts.Base, Prefix)
	if opts.Workspaces == nil {
		opts.Workspaces = func() []Workspace { return nil }
	}
	c := &console{server: server, options: opts, own: template.Must(templates().Clone())}
	c.own.Funcs(template.FuncMap{"base": func() string { return opts.Base }})
	mux := http.NewServeMux()
	mux.Handle("GET "+assetPath+"/style.css", look.Static("text/css; charset=utf-8", look.Style+consoleCSS))
	mux.Handle("GET "+assetPath+"/console.js", look.Static("text/javascript; charset=utf-8", consoleJS))
	mux.Handle("GET "+assetPath+"/stream.js", look.Static("text/javascript; charset=utf-8", streamJS))
	mux.Handle("GET "+assetPath+"/editor.js", look.Static("text/javascript; charset=utf-8", editorJS))
	mux.Handle("GET "+assetPath+"/pages.js", look.Static("text/javascript; charset=utf-8", look.Pages))
	mux.Handle("GET "+assetPath+"/lib/", http.StripPrefix(assetPath+"/lib", assets.Handler()))
	mux.Handle("/", look.Guard(c.pages(), nil))
	return mux
}

// pages serves everything except the assets.
func (c *console) pages() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Prefix+"templates/{id}/document.pdf", c.file(c.server.TemplatePDF))
	mux.HandleFunc("GET "+Prefix+"templates/new/document.pdf", c.file(func(context.Context, string) ([]byte, error) { return nil, nil }))
	mux.HandleFunc("GET "+Prefix+"documents/{id}/document.pdf", c.file(c.server.DocumentPDF))
	mux.HandleFunc("GET "+Prefix+"documents/{id}/finished.pdf", c.file(c.server.FinishedPDF))
	for pattern, show := range shows {
		mux.HandleFunc("GET "+Prefix+pattern, func(w http.ResponseWriter, r *http.Request) { c.show(w, r, show, http.StatusOK, "") })
	}
	for _, a := range acts {
		mux.HandleFunc("POST "+Prefix+a.pattern, func(w http.ResponseWriter, r *http.Request) { c.act(w, r, a.do, a.show) })
		if shows[a.pattern] == nil { // the page that a login or a reload shows after the act was refused
			mux.HandleFunc("GET "+Prefix+a.pattern, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, c.options.Base+strings.TrimPrefix(path.Dir(r.URL.EscapedPath()), Prefix), http.StatusSeeOther)
			})
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.show(w, r, func(*console, *http.Request) (page, error) { return page{}, errNoSuchRecord }, http.StatusOK, "")
	})
	return mux
}

// shows are the pages, by pattern.
var shows = map[string]show{
	"{$}":                 (*console).overview,
	"documents":           (*console).documents,
	"documents/new":       (*console).newDocument,
	"documents/{id}":      (*console).document,
	"templates":           (*console).templates,
	"templates/new":       (*console).newTemplate,
	"templates/{id}":      (*console).template,
	"templates/{id}/edit": (*console).editTemplate,
	"forms":               (*console).forms,
	"forms/new":           (*console).newForm,
	"forms/{id}":          (*console).form,
	"webhooks":            (*console).webhooks,
	"webhooks/new":        (*console).newWebhook,
	"webhooks/{id}":       (*console).webhook,
	"deliveries":          (*console).deliveries,
	"deliveries/{id}":     (*console).delivery,
	"requests":            (*console).requests,
	"requests/{id}":       (*console).request,
	"messages":            (*console).messages,
	"clock":               (*console).clock,
	"faults":              (*console).faults,
	"settings":            (*console).settings,
}

// acts are the actions of the console, each with the page that is shown again when the action is refused.
var acts = []struct {
	pattern string
	do      act
	show    show
}{
	{"documents/new", (*console).addDocument, (*console).newDocument},
	{"documents/{id}/act", (*console).actOnDocument, (*console).document},
	{"templates/new", (*console).addTemplate, (*console).newTemplate},
	{"templates/{id}/edit", (*console).changeTemplate, (*console).editTemplate},
	{"templates/{id}/send", (*console).sendTemplate, (*console).template},
	{"forms/new", (*console).addForm, (*console).newForm},
	{"forms/{id}/send", (*console).sendForm, (*console).form},
	{"forms/{id}/submit", (*console).submitForm, (*console).form},
	{"webhooks/new", (*console).addWebhook, (*console).newWebhook},
	{"webhooks/{id}/act", (*console).actOnWebhook, (*console).webhook},
	{"deliveries/{id}/resend", (*console).resend, (*console).delivery},
	{"clock", (*console).advance, (*console).clock},
	{"faults", (*console).addFault, (*console).faults},
	{"faults/remove", (*console).removeFault, (*console).faults},
	{"faults/clear", (*console).clearFaults, (*console).faults},
	{"settings/reset", (*console).reset, (*console).settings},
}

func (c *console) act(w http.ResponseWriter, r *http.Request, do act, again show) {
	if r.ContentLength > maxBody {
		r.Body = http.NoBody
		c.show(w, r, again, http.StatusRequestEntityTooLarge, sentence(pdf.ErrTooLarge))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	r = r.WithContext(context.WithoutCancel(r.Context())) // if the client hangs up, the act still runs to its end
	next, err := do(c, r)
	if err != nil {
		c.show(w, r, again, http.StatusUnprocessableEntity, sentence(err))
		return
	}
	http.Redirect(w, r, c.options.Base+next, http.StatusSeeOther)
}

// doneWith is like done, for a record whose PDF was uploaded.
func doneWith(page, what string, content pdf.Content) string {
	if content.Signed {
		what += "-signed"
	}
	return done(page, what)
}

// done returns the URL, relative to the console's, of a page with a sentence about the executed
// action.
func done(page, what string) string {
	return page + "?" + url.Values{"done": {what}, "at": {strconv.FormatInt(time.Now().Unix(), 10)}}.Encode()
}

// justDone returns the sentence about an action that was executed within the last minute. A page
// that is shown again later has no such sentence.
func justDone(q url.Values) string {
	at, err := strconv.ParseInt(q.Get("at"), 10, 64)
	if since := time.Since(time.Unix(at, 0)); err != nil || since < -time.Second || since > time.Minute {
		return ""
	}
	return sayings[q.Get("done")]
}

// sayings has the sentences that a page may show after an action. A link cannot make a page show
// any other text.
var sayings = map[string]string{
	"added": "It was added.", "changed": "It was changed. Documents already sent stay as they were.", "sent": "It was sent.", "viewed": "The signer has viewed the document.", "signed": "The signer has signed.",
	"added-signed": "It was added. " + pdf.SignedNotice, "changed-signed": "It was changed. " + pdf.SignedNotice, "sent-signed": "It was sent. " + pdf.SignedNotice,
	"declined": "The signer has declined.", "voided": "The document was voided.", "reminded": "The pending signers were reminded.",
	"expired": "The document has expired.", "paid": "The document was paid.", "deleted": "It was deleted.", "archived": "The document was archived.",
	"submitted": "The form was submitted.", "tested": "A test delivery is on its way.", "resent": "It is being delivered again.",
	"enabled": "The webhook was enabled.", "disabled": "The webhook was disabled, and gets no delivery that was pending.", "rotated": "The webhook got a new secret.",
	"advanced": "The clock was moved.", "set": "The fault is set.", "removed": "The fault was removed.", "cleared": "All faults were removed.",
	"reset": "Everything was deleted, and the records of the seed, if there is one, were added again.",
}

func (c *console) show(w http.ResponseWriter, r *http.Request, show show, status int, problem string) {
	p, err := show(c, r)
	if errors.Is(err, errNoSuchRecord) {
		p, status, problem, err = page{Title: "Not found", name: "nothing"}, http.StatusNotFound, sentence(err), nil
	}
	if err != nil {
		p, status, problem = page{Title: "This went wrong", name: "nothing"}, http.StatusInternalServerError, sentence(err)
		if errors.Is(err, refserver.ErrNotMade) || errors.Is(err, refserver.ErrStorage) {
			status = http.StatusServiceUnavailable
		}
	}
	if problem != "" {
		p.Live = "" // if the page were fetched again, this message and the user's input would be lost
	}
	section, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Prefix), "/")
	f := frame{
		page: p, Assets: assetPath, Events: c.options.Events, Section: section, First: Prefix, Problem: problem,
		Self: c.options.Base + strings.TrimPrefix(r.URL.RequestURI(), Prefix), Workspaces: c.options.Workspaces(), Entered: r.PostForm,
	}
	if problem == "" {
		f.Done = justDone(r.URL.Query())
	}
	var out bytes.Buffer
	if err := c.own.ExecuteTemplate(&out, p.name+".html", f); err != nil {
		c.options.Logger.Error("a page of the console cannot be shown", "page", p.name, "err", err)
		http.Error(w, "This page cannot be shown. The sandbox's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // WriteTo fails only if the client has gone
}

// labels are the words of the pages for inputs that errors name.
var labels = map[string]string{
	"Name": "the name", "Title": "the title", "URL": "the URL", "Event": "the event family", "Documents[]": "record", "Reason": "the reason",
	"Email": "the e-mail address", "RespondentEmail": "the e-mail address", "Receivers": "the list of receivers", "Receivers[]": "receiver", "RoleTitle": "the role",
	"Signers": "the list of signers", "Signers[]": "signer", "Roles": "the list of roles", "Roles[]": "role", "Fields": "the list of fields", "Fields[]": "field",
	"Question": "the question", "Choices[]": "choice", "Kind": "the kind", "Role": "the role", "Page": "the page", "X": "the place", "Variables[]": "variable",
	"Times": "how often", "answers": "", "fields": "",
}

func sentence(err error) string { return look.Sentence(err, labels) }
