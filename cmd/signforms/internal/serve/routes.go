package serve

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/console"
	"github.com/signforms/signforms-go/cmd/signforms/internal/signpages"
)

// parts returns the pages for people, and what makes finished files.
func (f *serveFlags) parts(all *workspaces, w *workspace, own *finisher, data string, log *slog.Logger) parts {
	p := parts{begin: own.begin, inspect: own.inspect}
	if !f.plainPDFs {
		p.finish = own.finish
	}
	p.people = sync.OnceValue(func() http.Handler {
		return signpages.New(w.server, signpages.Options{Frames: f.frameAncestors, Document: own.standing, Logger: log})
	})
	p.pages = sync.OnceValue(func() http.Handler {
		return console.New(w.server, console.Options{
			PublicURL: w.server.PublicURL, Events: w.base() + "api/v1/events", Base: w.base(), Workspaces: all.consoles, Data: data, Profile: settings(f.profile), Endpoints: f.endpoints, Inspect: own.inspect,
			Reset:  func(ctx context.Context) error { _, err := w.api.Reset(ctx); return err },
			Logger: log,
		})
	})
	return p
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
