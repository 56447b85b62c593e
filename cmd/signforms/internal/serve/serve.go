// Package serve has the command that runs a sandbox: the reference service with its state in a
// file, the control API and the pages.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
	"github.com/signforms/signforms-go/cmd/signforms/internal/serve/guard"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	addr, publicURL                    string
	data, sync                         string
	memory                             bool
	apiKey, workspaceID, webhookSecret string
	seed, envFile, token               string
	profile, keep, allowHosts          []string
	frameAncestors                     []string
	plainPDFs, denyPrivate, json       bool

	endpoints map[signforms.Operation]signforms.Endpoint // endpoints of --profile, for clients

	version string // version of the program
}

// Command returns the command serve.
func Command(version string) *cobra.Command {
	f := serveFlags{version: version}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a sandbox of the service, with its state in a file",
		Long: "Run the reference service as a sandbox, for programs in any language and for CI. It is not the real service, sends\n" +
			"no mail and no telemetry, and nothing signed in it is binding. It ends with SIGTERM or Ctrl+C, after requests and\n" +
			"webhook attempts under way, at most 8 seconds later.\n\n" +
			"Each flag can be set by the variable in brackets after it, which it overrides.",
		Example: "  signforms serve --memory --seed seed.yaml --env-file sandbox.env",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd)
		},
	}
	f.add(cmd)
	return cli.BindEnv(sandbox.Env, cmd)
}

func (f *serveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", sandbox.DefaultAddr, "`host:port` to listen on; port 0 is a free one")
	flags.StringVar(&f.publicURL, "public-url", "", "`URL` in links and webhook payloads, if it differs from the listening address: that of a proxy, or a container's name")
	flags.StringVar(&f.data, "data", "", "`file` for the state (default in the user's data folder)")
	flags.BoolVar(&f.memory, "memory", false, "keep the state only in memory: it ends with the program")
	flags.StringVar(&f.sync, "sync", "normal", "normal: no acknowledged change is lost when the program is killed; full: nor when the power fails, but slower")
	flags.StringVar(&f.apiKey, "api-key", "", "the clients' API key (default: what the file holds, else a new one); others on this machine see flags, so rather use the variable")
	flags.StringVar(&f.workspaceID, "workspace-id", "", "the clients' workspace (default: made once and kept in the data file)")
	flags.StringVar(&f.webhookSecret, "webhook-secret", "", "signs webhook deliveries (default: made once and kept in the data file); rather use the variable")
	flags.StringVar(&f.seed, "seed", "", "YAML `file` of records to begin with, which are added if there are no records yet")
	flags.StringArrayVar(&f.profile, "profile", nil, "`variant` of what the interface leaves open, as in no-pagination or page-size=25; may be repeated")
	flags.StringArrayVar(&f.keep, "keep", nil, "`log=number`: how many of the newest entries of a log to keep, as in audit=5000: requests (100000), deliveries that are done (20000), messages (100000) or audit entries (1000000); may be repeated")
	flags.StringVar(&f.envFile, "env-file", "", "write the variables for clients and commands to this `file` when ready")
	flags.BoolVar(&f.json, "json", false, "print one line of JSON to standard output when ready")
	flags.StringVar(&f.token, "token", "", "token that console and control API ask for; a sandbox behind a proxy needs one; without one they are closed unless only this machine can reach the sandbox; rather use the variable")
	flags.StringSliceVar(&f.allowHosts, "allow-host", nil, "`name` by which browsers may call the console, besides loopback and that of --public-url; needs --token; may be repeated")
	flags.StringSliceVar(&f.frameAncestors, "frame-ancestor", nil, "`origin` of a site that may embed signing pages, as in https://app.example.com; may be repeated")
	flags.BoolVar(&f.plainPDFs, "plain-pdfs", false, "do not stamp and seal the PDFs of completed documents, which takes time with many documents")
	flags.BoolVar(&f.denyPrivate, "deny-private-targets", false, "deliver no webhooks to loopback and private networks, on a host that others share; relays of listen get none then either")
}

// options checks the flags and returns the options of the first workspace.
func (f *serveFlags) options(cmd *cobra.Command) (*refserver.Options, error) {
	if f.memory && cmd.Flags().Changed("data") {
		return nil, cli.UsageError("--memory keeps nothing in a file: leave out --data or --memory")
	}
	if f.sync != "normal" && f.sync != "full" {
		return nil, cli.UsageError("--sync is %q: it must be normal or full", f.sync)
	}
	if err := cli.CheckAddr(f.addr); err != nil {
		return nil, err
	}
	if err := checkPublicURL(f.publicURL); err != nil {
		return nil, cli.UsageError("--public-url: %w", err)
	}
	if err := guard.CheckHosts(f.allowHosts); err != nil {
		return nil, err
	}
	if err := checkFrameAncestors(f.frameAncestors); err != nil {
		return nil, err
	}
	if likePrefix.MatchString(f.apiKey) {
		return nil, cli.UsageError("--api-key begins like a key of another workspace, with eight hexadecimal digits and _: choose another")
	}
	if f.token != "" && (strings.TrimSpace(f.token) != f.token || strings.ContainsFunc(f.token, unicode.IsControl)) {
		return nil, cli.UsageError("--token begins or ends with a blank, or holds a control character: a header cannot carry it")
	}
	if f.envFile != "" {
		given := wire.Credentials{BaseURL: f.publicURL, APIKey: f.apiKey, WorkspaceID: f.workspaceID, WebhookSecret: f.webhookSecret}
		if err := sandbox.CheckEnvFile(given); err != nil {
			return nil, cli.UsageError("%w", err)
		}
	}
	profile, err := parseProfile(f.profile)
	if err != nil {
		return nil, err
	}
	if f.endpoints, err = clientEndpoints(profile); err != nil {
		return nil, err
	}
	keep, err := parseKeep(f.keep)
	if err != nil {
		return nil, err
	}
	return &refserver.Options{
		Addr: f.addr, PublicURL: strings.TrimRight(f.publicURL, "/"), APIKey: f.apiKey, WorkspaceID: f.workspaceID,
		WebhookSecret: f.webhookSecret, Profile: profile, Keep: keep,
	}, nil
}

// likePrefix matches keys that begin like the keys of a workspace other than the first.
var likePrefix = regexp.MustCompile(`^[0-9a-f]{8}_`)

// checkFrameAncestors refuses values that are not origins. With such values, a browser would allow
// either no site or every site.
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

func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err == nil && u.User != nil || err != nil && strings.Contains(text, "@") {
		return errors.New("the URL has a user name or password, which every link would show: leave it out")
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not a URL that others can use: write it as in https://sandbox.example.com", text)
	}
	if strings.Trim(u.Path, "/") != "" {
		return fmt.Errorf("%q has a path, and pages would not find their parts below it: give the sandbox a host name or port of its own", text)
	}
	return nil
}

// store opens the data file. It returns nil with --memory.
func (f *serveFlags) store(ctx context.Context) (*sqlitestore.Store, error) {
	if f.memory {
		return nil, nil
	}
	path := f.data
	if path == "" {
		found, err := dataFile()
		if err != nil {
			return nil, err
		}
		path = found
	}
	s, err := sqlitestore.Open(ctx, path, f.storeOptions())
	if errors.Is(err, sqlitestore.ErrInUse) {
		return nil, fmt.Errorf("%w: set --data or $%sDATA", err, sandbox.Env)
	}
	return s, err
}

func (f *serveFlags) storeOptions() sqlitestore.Options {
	return sqlitestore.Options{Full: f.sync == "full", Program: f.version}
}

func (f *serveFlags) guard() guard.Options {
	return guard.Options{Addr: f.addr, PublicURL: f.publicURL, Token: f.token, AllowHosts: f.allowHosts}
}
