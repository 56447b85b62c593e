package serve

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/signpages"
	"github.com/signforms/signforms-go/signformstest"
)

// beginPages serves the pages for people: signing pages, form pages and the console.
func (f *serveFlags) beginPages(mux *http.ServeMux, server *signformstest.Server, finisher *finisher, data string, log *slog.Logger) {
	people := signpages.New(server, signpages.Options{
		Frames: f.frameAncestors, Document: finisher.standing, Logger: log,
	})
	mux.Handle("/sign/", people)
	mux.Handle("/form/", people)
	mux.Handle(console.Prefix, console.New(server, console.Options{
		PublicURL: f.baseURL(server), Events: control.Prefix + "/events", Data: data, Profile: settings(f.profile), Inspect: finisher.pdfs.Inspect, Logger: log,
	}))
}

// baseURL returns the URL that clients use.
func (f *serveFlags) baseURL(server *signformstest.Server) string {
	if f.publicURL != "" {
		return strings.TrimRight(f.publicURL, "/")
	}
	return server.URL
}

// settings returns the values of --profile for the console.
func settings(profile []string) (all []console.Setting) {
	for _, reading := range profile {
		name, value, found := strings.Cut(reading, "=")
		if !found {
			value = "true"
		}
		all = append(all, console.Setting{Name: name, Value: value})
	}
	return all
}

// checkFrameAncestors refuses values that are not origins. A browser would allow no site with them, or every site.
func checkFrameAncestors(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(origin, " ;,*'\"") ||
			origin != u.Scheme+"://"+u.Host {
			return cli.UsageError("--frame-ancestor %q is not an origin: write it as in https://app.example.com, without a path", origin)
		}
	}
	return nil
}
