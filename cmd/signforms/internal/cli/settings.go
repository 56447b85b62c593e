package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/atomicfile"
)

// Settings is the file that --settings names. It holds no key, only where each key is.
type Settings struct {
	Default  string             `json:"default,omitempty"` // the account that is used when none is named
	Accounts map[string]Account `json:"accounts"`

	folder string // of the file
}

// Account is one account at a service.
type Account struct {
	BaseURL   string                                     `json:"baseURL"`
	Workspace string                                     `json:"workspace,omitempty"`
	APIKey    KeySource                                  `json:"apiKey"`
	Endpoints map[signforms.Operation]signforms.Endpoint `json:"endpoints,omitempty"`
}

// KeySource says where an API key is: exactly one of its fields is set, as ReadSettings checks.
type KeySource struct {
	File     string   `json:"file,omitempty"` // a relative path begins at the folder of the settings
	Variable string   `json:"variable,omitempty"`
	Command  []string `json:"command,omitempty"` // prints the key; a program with its arguments, not a line for a shell
}

// UnmarshalJSON refuses anything but the three sources, and does not repeat what it refuses: it may be a key.
func (k *KeySource) UnmarshalJSON(text []byte) error {
	type plain KeySource
	if err := DecodeJSON(string(text), (*plain)(k)); err != nil {
		return errSource
	}
	return nil
}

var errSource = errors.New(`apiKey must be one of {"file": PATH}, {"variable": NAME} and {"command": [PROGRAM, ARGUMENT, …]}: settings hold no key`)

func (k KeySource) check() error {
	given := slices.DeleteFunc([]string{k.File, k.Variable, strings.Join(k.Command, "")}, func(text string) bool { return text == "" })
	if len(given) != 1 {
		return errSource
	}
	return nil
}

// String says where the key is. Arguments of a command are left out: one might hold a key.
func (k KeySource) String() string {
	switch {
	case k.File != "":
		return "file " + k.File
	case k.Variable != "":
		return "variable " + k.Variable
	}
	return "command " + k.Command[0]
}

// The bounds of a command that prints a key: its time, and the bytes it may print.
const (
	keyCommandTime = 30 * time.Second
	keyCommandMost = 64 << 10
)

// Read returns the key. A command gets the terminal, if cmd has one, and writes its errors to the stderr of cmd.
func (k KeySource) Read(cmd *cobra.Command) (string, error) {
	switch {
	case k.File != "":
		return Secret(cmd.ErrOrStderr(), k.File, "")
	case k.Variable != "":
		if key := strings.TrimSpace(os.Getenv(k.Variable)); key != "" {
			return key, nil
		}
		return "", UsageError("the variable %s, which should hold the API key, is empty", k.Variable)
	}
	return k.run(cmd)
}

func (k KeySource) run(cmd *cobra.Command) (string, error) {
	ctx, cancel := context.WithTimeout(cmd.Context(), keyCommandTime)
	defer cancel()
	out := bounded{left: keyCommandMost}
	program := exec.CommandContext(ctx, k.Command[0], k.Command[1:]...)
	program.Stdout, program.Stderr = &out, cmd.ErrOrStderr()
	if f, shown := terminal(program.Stderr); shown {
		program.Stderr = f
	}
	if f, typed := terminal(cmd.InOrStdin()); typed { // other input is for the command on the service
		program.Stdin = f
	}
	program.WaitDelay = time.Second // for what it leaves running with its output
	err := program.Run()
	key := strings.TrimSpace(out.text.String())
	switch {
	case cmd.Context().Err() != nil:
		return "", cmd.Context().Err()
	case ctx.Err() != nil:
		return "", fmt.Errorf("the command for the API key, %s, takes longer than %v", k.Command[0], keyCommandTime)
	case out.left < 0:
		return "", fmt.Errorf("the command for the API key, %s, prints more than a key", k.Command[0])
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf("the command for the API key, %s: %w", k.Command[0], err)
	case key == "" || strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("the command for the API key, %s, must print one line", k.Command[0])
	}
	return key, nil
}

// bounded keeps what is written, and fails when that is more than left bytes.
type bounded struct {
	text bytes.Buffer // not embedded: io.Copy would use its ReadFrom
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("too much")
	}
	return b.text.Write(p)
}

// DefaultSettings is the file of settings that is read when no other is named, in the folder where the system keeps the settings of the
// user's programs. It is empty when there is no such folder.
func DefaultSettings() string {
	return UserFile("accounts.json", "XDG_CONFIG_HOME", ".config")
}

// ReadSettings reads a settings file. It refuses unknown names, accounts that cannot work, and a file that others may write or
// replace: they could have the key sent to themselves, or a program run. Its error matches [fs.ErrNotExist] when there is no such file.
func ReadSettings(path string) (s Settings, err error) {
	text, err := ReadFile(path, 1<<20)
	if err != nil {
		return s, UsageError("%w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // as editors on Windows write it
	if err := checkGuarded(path); err != nil {
		return s, UsageError("%w", err)
	}
	if err := DecodeJSON(string(text), &s); err != nil {
		return s, UsageError("%s: %w; an account has baseURL, workspace, apiKey and endpoints", path, err)
	}
	s.folder = filepath.Dir(path)
	for name, a := range s.Accounts {
		if err := a.check(); err != nil {
			return s, UsageError("%s: account %s: %w", path, name, err)
		}
	}
	if _, there := s.Accounts[s.Default]; !there && s.Default != "" {
		return s, UsageError("%s: the default is %q, and there is no such account", path, s.Default)
	}
	return s, nil
}

// check refuses what no client would take: also an address with a password, which would be shown.
func (a Account) check() error {
	if err := a.APIKey.check(); err != nil { // it may not be there at all
		return err
	}
	_, err := signforms.New(a.BaseURL, "key", &signforms.Options{WorkspaceID: a.Workspace, Endpoints: a.Endpoints})
	if e, ok := errors.AsType[*signforms.Error](err); ok && len(e.Fields) > 0 {
		return errors.New(strings.TrimPrefix(e.Fields[0].String(), "Options."))
	}
	return err
}

// Current returns the name of the account that is used when none is named: the default, or the only one. It is empty without one.
func (s Settings) Current() string {
	names := slices.Collect(maps.Keys(s.Accounts))
	if s.Default == "" && len(names) == 1 {
		return names[0]
	}
	return s.Default
}

// Account returns the account of a name. The path of its key does not depend on the folder of the settings.
func (s Settings) Account(name string) (Account, error) {
	names := slices.Sorted(maps.Keys(s.Accounts))
	a, found := s.Accounts[name]
	if file := a.APIKey.File; file != "" && !filepath.IsAbs(file) {
		a.APIKey.File = filepath.Join(s.folder, file)
	}
	switch {
	case found:
		return a, nil
	case name == "":
		return a, UsageError("the settings hold %s: name one with --account", Count(len(names), "account", "accounts"))
	}
	return a, UsageError("the settings hold no account %q, only %s", name, strings.Join(names, ", "))
}

// WriteAccount puts an account into a settings file, which it makes if there is none. Other accounts stay. One of this name keeps
// where its key is; it is not replaced if it is of another service or workspace.
func WriteAccount(path, name string, a Account) error {
	text, err := withAccount(path, name, a)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text)
}

// CheckAccount reports why WriteAccount would fail though the file can be written. It makes the folder of the default settings.
func CheckAccount(path, name string, a Account) error {
	if folder := filepath.Dir(path); path == DefaultSettings() {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	_, err := withAccount(path, name, a)
	return err
}

func withAccount(path, name string, a Account) ([]byte, error) {
	s, err := ReadSettings(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if old, there := s.Accounts[name]; there {
		if strings.TrimRight(old.BaseURL, "/") != a.BaseURL || old.Workspace != a.Workspace {
			return nil, UsageError("%s has an account %s of another service or workspace: give yours another name with --account", path, name)
		}
		a.APIKey = old.APIKey
		a.Endpoints = withUntried(a.Endpoints, old.Endpoints)
	}
	if s.Accounts == nil {
		s.Accounts = map[string]Account{}
	}
	s.Accounts[name] = a
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(s)
	return text.Bytes(), err
}

// withUntried adds the old endpoints of operations that no GET can try.
func withUntried(found, old map[signforms.Operation]signforms.Endpoint) map[signforms.Operation]signforms.Endpoint {
	all := maps.Clone(old)
	maps.DeleteFunc(all, func(op signforms.Operation, _ signforms.Endpoint) bool {
		return op != signforms.OpVoidDocument && op != signforms.OpSendReminder && op != signforms.OpSend
	})
	if all == nil {
		return found
	}
	maps.Copy(all, found)
	return all
}
