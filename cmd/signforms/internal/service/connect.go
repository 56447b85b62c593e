package service

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// Connection is the service that a command uses, with its settings.
type Connection struct {
	baseURL, workspace, keyFile string
	sandbox                     string
	settings, account           string
	endpoints                   []string
	attemptTimeout              time.Duration
	maxAttempts                 int

	cmd *cobra.Command

	apiKey string // this field and the next ones are set by Resolve
	chosen string // the flag, variable or setting that chose the service
	source cli.KeySource
	known  map[signforms.Operation]signforms.Endpoint // endpoints of the account
}

// AddFlags adds the flags that choose the service.
func (c *Connection) AddFlags(cmd *cobra.Command) {
	c.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&c.baseURL, "base-url", "", "address of the service (default $SIGNFORMS_BASE_URL)")
	f.StringVar(&c.workspace, "workspace", "", "id of the workspace (default $SIGNFORMS_WORKSPACE_ID); with --sandbox, id or name of one of its workspaces (default $"+sandbox.Env+"WORKSPACE, or else the first)")
	f.StringVar(&c.keyFile, "api-key-file", "", "`file` with the API key (default $SIGNFORMS_API_KEY_FILE; without one, the key is $SIGNFORMS_API_KEY)")
	f.StringVar(&c.settings, "settings", "", "`file` with accounts: address, workspace, endpoints and where the key is (default $SIGNFORMS_SETTINGS, or else signforms/accounts.json in the user's folder of settings)")
	f.StringVar(&c.account, "account", "", "`name` of an account of the settings (default $SIGNFORMS_ACCOUNT, or else their default)")
	f.Var(sandboxFlag(&c.sandbox), "sandbox", "use this running sandbox: it gives its address, key and workspace (default "+sandbox.DefaultURL+")")
	f.Lookup("sandbox").NoOptDefVal = sandboxVariable
	names := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		_, s, _ := readSettings(c.settings) // without settings there are no completions
		return slices.Sorted(maps.Keys(s.Accounts)), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("account", names); err != nil {
		panic(err) // cannot happen: the flag exists
	}
	f.StringArrayVar(&c.endpoints, "endpoint", nil, "method, path or inputs of an `operation` on a service that differs, as in \"void document=DELETE /documents/{documentId} query\", or as JSON, which may have ignoreTotals too")
	f.DurationVar(&c.attemptTimeout, "attempt-timeout", 30*time.Second, "bounds each request")
	f.IntVar(&c.maxAttempts, "max-attempts", 4, "how often one call is tried in all")
}

// sandboxVariable is the value of --sandbox if the flag is given without a value.
const sandboxVariable = "$" + sandbox.Env + "URL"

// sandboxFlag returns a flag for the URL of a sandbox.
func sandboxFlag(address *string) pflag.Value {
	return cli.FuncFlag("URL", func(text string) error {
		if text == sandboxVariable {
			text = cmp.Or(os.Getenv(sandbox.Env+"URL"), sandbox.DefaultURL)
		}
		*address = text
		return nil
	})
}

// AddFlagsOnce is like AddFlags, for a command that never retries a call.
func (c *Connection) AddFlagsOnce(cmd *cobra.Command) {
	one := &cobra.Command{}
	c.AddFlags(one)
	one.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "max-attempts" {
			cmd.Flags().AddFlag(f)
		}
	})
	c.cmd, c.maxAttempts = cmd, 1
}

// Resolve sets the fields that no flag has set: from environment variables or, with --sandbox, from
// the sandbox. It checks all settings and normalises the base URL.
func (c *Connection) Resolve() error {
	if err := c.fill(); err != nil {
		return err
	}
	client, err := c.Client(signforms.Options{})
	if err == nil {
		c.baseURL = client.BaseURL()
	}
	return err
}

// fill chooses the service by the flags. Without flags it uses the environment variables, and
// without these the default settings.
func (c *Connection) fill() error {
	byAccount, byAddress := c.settings != "" || c.account != "", c.baseURL != ""
	if c.sandbox == "" && !byAccount && !byAddress {
		byAccount = os.Getenv(settingsVariable) != "" || os.Getenv(accountVariable) != ""
		byAddress = os.Getenv(addressVariable) != ""
		if byAccount && byAddress {
			return cli.UsageError("%s and %s or %s each name a service: unset one, or choose with --base-url or --account",
				addressVariable, settingsVariable, accountVariable)
		}
	}
	switch {
	case c.sandbox != "":
		c.chosen = "--sandbox"
		return c.askSandbox()
	case byAccount || !byAddress && hasDefaultSettings():
		return c.useAccount()
	}
	c.chosen = "flags and variables"
	for name, value := range map[string]*string{addressVariable: &c.baseURL, workspaceVariable: &c.workspace, keyFileVariable: &c.keyFile} {
		if *value == "" {
			*value = os.Getenv(name)
		}
	}
	if c.baseURL == "" {
		return cli.UsageError("no service is named: set SIGNFORMS_BASE_URL or --base-url, --account for one of the settings, or --sandbox for a sandbox of your own")
	}
	var err error
	c.apiKey, err = cli.Secret(c.cmd.ErrOrStderr(), c.keyFile, keyVariable)
	if err == nil && c.apiKey == "" {
		err = cli.UsageError("no API key is given: set SIGNFORMS_API_KEY, or --api-key-file to a file that holds it")
	}
	if c.source.Variable = keyVariable; c.keyFile != "" {
		c.source = cli.KeySource{File: c.keyFile}
	}
	return err
}

// The environment variables that choose a service.
const (
	addressVariable   = "SIGNFORMS_BASE_URL"
	workspaceVariable = "SIGNFORMS_WORKSPACE_ID"
	keyVariable       = "SIGNFORMS_API_KEY"
	keyFileVariable   = "SIGNFORMS_API_KEY_FILE"
	settingsVariable  = "SIGNFORMS_SETTINGS"
	accountVariable   = "SIGNFORMS_ACCOUNT"
)

func hasDefaultSettings() bool {
	_, err := os.Stat(cli.DefaultSettings())
	return err == nil
}

// readSettings reads the settings file of the flag, of the environment variable, or the default
// file, in this order.
func readSettings(flag string) (path string, s cli.Settings, err error) {
	if path = cmp.Or(flag, os.Getenv(settingsVariable), cli.DefaultSettings()); path == "" {
		return "", s, cli.UsageError("there is no home folder (HOME) with the file of your accounts: name it with --settings or %s", settingsVariable)
	}
	s, err = cli.ReadSettings(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = cli.UsageError("%w: name the file of your accounts with --settings or %s", err, settingsVariable)
	}
	return path, s, err
}

// useAccount uses the base URL, key, workspace and endpoints of an account of the settings.
func (c *Connection) useAccount() error {
	if c.baseURL != "" || c.keyFile != "" {
		return cli.UsageError("the account already gives the address and the key: leave out --base-url and --api-key-file")
	}
	path, settings, err := readSettings(c.settings)
	if err != nil {
		return err
	}
	name := cmp.Or(c.account, os.Getenv(accountVariable), settings.Current())
	a, err := settings.Account(name)
	if err != nil {
		return err
	}
	if c.apiKey, err = a.APIKey.Read(c.cmd.ErrOrStderr()); err != nil {
		return err
	}
	c.chosen = fmt.Sprintf("account %s of %s", name, path)
	c.source, c.known = a.APIKey, a.Endpoints
	c.baseURL, c.workspace = a.BaseURL, cmp.Or(c.workspace, a.Workspace)
	c.sayUnused()
	return nil
}

// sayUnused prints the environment variables that the account replaces, if their values differ.
func (c *Connection) sayUnused() {
	var unused []string
	for _, v := range []struct{ name, used string }{{addressVariable, c.baseURL}, {workspaceVariable, c.workspace},
		{keyVariable, c.apiKey}, {keyFileVariable, c.source.File}} {
		if text := strings.TrimSpace(os.Getenv(v.name)); text != "" && text != v.used {
			unused = append(unused, v.name)
		}
	}
	if len(unused) > 0 {
		fmt.Fprintf(c.cmd.ErrOrStderr(), "not used, because %s gives what the command needs: %s\n", cli.Plain(c.chosen), strings.Join(unused, ", "))
	}
}

// askSandbox reads the base URL, key and workspace from a running sandbox.
func (c *Connection) askSandbox() error {
	if c.baseURL != "" || c.keyFile != "" || c.settings != "" || c.account != "" {
		return cli.UsageError("--sandbox already gives the address and the key: leave out --base-url, --api-key-file, --settings and --account")
	}
	token := os.Getenv(sandbox.Env + "TOKEN")
	client, err := wire.NewClient(c.sandbox, token)
	if err != nil {
		return cli.UsageError("--sandbox: %w", err)
	}
	workspace, named := os.LookupEnv(sandbox.Env + "WORKSPACE")
	if c.workspace != "" {
		workspace, named = c.workspace, true
	}
	if named { // an empty name does not mean the first workspace: the command that should have set it has failed
		if err := wire.CheckWorkspace(workspace); err != nil {
			return cli.UsageError("--workspace or $%sWORKSPACE: %w", sandbox.Env, err)
		}
		client = client.In(workspace)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var found wire.Credentials
	if err := client.Get(ctx, "/credentials", nil, &found); err != nil {
		return sandbox.Explain(err, c.sandbox, token, "--sandbox=URL", "")
	}
	c.baseURL, c.apiKey, c.workspace = c.sandbox, found.APIKey, found.WorkspaceID
	return nil
}

// Client returns a client of the service with the options o and the settings of the flags.
func (c *Connection) Client(o signforms.Options) (*signforms.Client, error) {
	o.WorkspaceID, o.UserAgent = c.workspace, "signforms-cli"
	o.AttemptTimeout, o.MaxAttempts = c.attemptTimeout, c.maxAttempts
	o.Transport = detached{orDefault(o.Transport)}
	endpoints, err := c.allEndpoints()
	if err != nil {
		return nil, err
	}
	maps.Copy(endpoints, o.Endpoints)
	o.Endpoints = endpoints
	client, err := signforms.New(c.baseURL, c.apiKey, &o)
	if err != nil {
		return nil, cli.UsageError("%s", WrongInputs(err))
	}
	return client, nil
}

func orDefault(t http.RoundTripper) http.RoundTripper {
	if t == nil {
		return http.DefaultTransport
	}
	return t
}

// Connect calls Resolve and Client. It is for commands that only read.
func (c *Connection) Connect() (*signforms.Client, error) {
	if err := c.Resolve(); err != nil {
		return nil, err
	}
	return c.Client(signforms.Options{})
}

// BaseURL returns the normalised base URL of the service.
func (c *Connection) BaseURL() string { return c.baseURL }

// IsSandbox reports whether the service is a running sandbox.
func (c *Connection) IsSandbox() bool { return c.sandbox != "" }

// Account returns an identifier of the account: the workspace or, if no workspace is named, a keyed
// hash of the API key.
func (c *Connection) Account() string {
	if c.workspace != "" {
		return c.workspace
	}
	mac := hmac.New(sha256.New, []byte(c.apiKey))
	io.WriteString(mac, "account "+c.baseURL)
	return "key " + hex.EncodeToString(mac.Sum(nil)[:8])
}

// Stranger returns a random key in the form of the account's key.
func (c *Connection) Stranger() string { return stranger(c.apiKey) }

// allEndpoints returns the endpoints of the account, replaced by those of the flags.
func (c *Connection) allEndpoints() (map[signforms.Operation]signforms.Endpoint, error) {
	flags, err := parseEndpoints(c.endpoints)
	all := map[signforms.Operation]signforms.Endpoint{}
	maps.Copy(all, c.known)
	maps.Copy(all, flags)
	return all, err
}

var operations = []signforms.Operation{
	signforms.OpListDocuments, signforms.OpVoidDocument, signforms.OpRemind, signforms.OpSend, signforms.OpListRespondents, signforms.OpListFormResponses,
}

// parseEndpoints reads the values of --endpoint. Each value has an operation, followed by its
// method, path and place of inputs if these differ from the default, or by the JSON of a
// [signforms.Endpoint].
func parseEndpoints(flags []string) (map[signforms.Operation]signforms.Endpoint, error) {
	endpoints := map[signforms.Operation]signforms.Endpoint{}
	for _, text := range flags {
		name, rest, _ := strings.Cut(text, "=")
		op := signforms.Operation(strings.TrimSpace(name))
		if !slices.Contains(operations, op) {
			return nil, cli.UsageError("--endpoint: %q is not an operation: use one of %s", name, strings.Join(cli.Texts(operations), ", "))
		}
		e, err := parseEndpoint(rest)
		if err != nil {
			return nil, cli.UsageError("--endpoint %q: %w", name, err)
		}
		endpoints[op] = e
	}
	return endpoints, nil
}

func parseEndpoint(text string) (e signforms.Endpoint, err error) {
	if strings.HasPrefix(text, "{") {
		err = cli.DecodeJSON(text, &e)
		return e, err
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return e, errors.New("say where it is, as in DELETE /documents/{documentId} query")
	}
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "/"):
			e.Path = word
		case slices.Contains([]string{"query", "body", "both"}, word):
			e.Inputs = signforms.Inputs(word)
		case word == strings.ToUpper(word):
			e.Method = word
		default:
			return e, fmt.Errorf("%q is not a method, path or place of inputs (query, body, both)", word)
		}
	}
	return e, nil
}
