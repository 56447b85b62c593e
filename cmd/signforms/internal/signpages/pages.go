// Package signpages serves the pages for signers and respondents: the signing page, the form page,
// and the script with which a site embeds signing.
//
// A link's secret is part of its path. The pages set no cookies, send their URLs to no other sites
// and load nothing from them. They work in a simpler form without JavaScript.
package signpages

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/assets"
	"github.com/signforms/signforms-go/cmd/signforms/internal/look"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Options are the settings of New.
type Options struct {
	// Frames are the origins whose pages may embed signing, such as https://app.example.com. If
	// Frames is empty, no page may.
	Frames []string
	// Document returns the current PDF of a document: with all entered values, or the finished file
	// if it exists.
	Document func(context.Context, refserver.DocumentState) ([]byte, error)
	// Logger gets a line for each file or page that cannot be shown. It gets no link and no personal data.
	Logger *slog.Logger
}

//go:embed templates
var templateFiles embed.FS

//go:embed static/sign.css
var signCSS string

//go:embed static/embed.js
var embedJS string

// The script of the signing page and its modules.
var (
	//go:embed static/sign.js
	signJS string
	//go:embed static/fields.js
	fieldsJS string
	//go:embed static/draw.js
	drawJS string
	//go:embed static/missing.js
	missingJS string
	//go:embed static/stamp.js
	stampJS string
	//go:embed static/png.js
	pngJS string

	modules = map[string]string{"sign.js": signJS, "fields.js": fieldsJS, "draw.js": drawJS, "missing.js": missingJS, "stamp.js": stampJS, "png.js": pngJS, "pages.js": look.Pages}
)

// templates are read on first use, because most commands of the program show no page.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(look.Functions).ParseFS(templateFiles, "templates/*.html"))
})

// prefix is the path of the assets. It begins with the path of the signing pages, so that a proxy
// can expose only these.
var prefix = "/sign/assets/" + look.Version(assets.Version(), look.Style, look.Pages, signCSS, signJS, fieldsJS, drawJS, missingJS, stampJS, pngJS)

// pages serves the pages of one server.
type pages struct {
	server  *refserver.Server
	options Options
	signing sync.Mutex // permits one signature at a time
}

// New returns the handler of everything below /sign/ and /form/. It is safe for concurrent use.
func New(server *refserver.Server, opts Options) http.Handler {
	p := &pages{server: server, options: opts}
	mux := http.NewServeMux()
	mux.Handle("GET "+prefix+"/style.css", look.Static("text/css; charset=utf-8", look.Style+signCSS))
	for name, text := range modules {
		mux.Handle("GET "+prefix+"/"+name, look.Static("text/javascript; charset=utf-8", text))
	}
	mux.Handle("GET "+prefix+"/lib/", http.StripPrefix(prefix+"/lib", assets.Handler()))
	mux.HandleFunc("GET /sign/embed.js", serveEmbed)
	mux.Handle("/", look.Guard(p.mux(), opts.Frames))
	return mux
}

// mux serves everything except the assets.
func (p *pages) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign/{token}", p.signer((*pages).showSigning))
	mux.HandleFunc("GET /sign/{token}/document.pdf", p.signer((*pages).showDocument))
	mux.HandleFunc("POST /sign/{token}/viewed", p.signer((*pages).viewed))
	mux.HandleFunc("POST /sign/{token}/sign", p.signer((*pages).sign))
	mux.HandleFunc("POST /sign/{token}/decline", p.signer((*pages).decline))
	mux.HandleFunc("GET /form/{token}", p.showForm)
	mux.HandleFunc("POST /form/{token}", p.submitForm)
	mux.HandleFunc("/", p.noSuchPage)
	return mux
}

// serveEmbed serves the script that sites of other origins include.
func serveEmbed(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write([]byte(embedJS)) // Write fails only if the client has gone
}

func (p *pages) noSuchPage(w http.ResponseWriter, _ *http.Request) {
	p.message(w, http.StatusNotFound, "No such page", "Nothing is here. Open the link from the mail again, whole and unchanged.", "unknown")
}

func (p *pages) tooLarge(w http.ResponseWriter, title string) {
	p.message(w, http.StatusRequestEntityTooLarge, title, "What you entered is larger than 8 MB. Go back and draw or write less.", "")
}

// message shows a page with a title and one sentence. ended is the reason, for an embedding page,
// why the link does not work.
func (p *pages) message(w http.ResponseWriter, status int, title, text, ended string) {
	p.render(w, status, "message", struct{ Title, Text, Ended, Frames, Assets string }{title, text, ended, strings.Join(p.options.Frames, " "), prefix})
}

func (p *pages) render(w http.ResponseWriter, status int, name string, data any) {
	var page bytes.Buffer
	if err := templates().ExecuteTemplate(&page, name, data); err != nil {
		p.options.Logger.Error("a page cannot be shown", "page", name, "err", err)
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // WriteTo fails only if the client has gone
}

// origin returns the origin of a person's request.
func origin(r *http.Request) refserver.Origin {
	ip, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		ip = r.RemoteAddr
	}
	return refserver.Origin{IP: ip, UserAgent: r.UserAgent()}
}

// labels are the words of signers and respondents for inputs that errors name.
var labels = map[string]string{"RespondentEmail": "your e-mail address", "Reason": "the reason", "answers": "", "fields": ""}

func sentence(err error) string { return look.Sentence(err, labels) }
