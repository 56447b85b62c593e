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

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/atomicfile"
)

// Settings is the file that --settings names. It holds no key, only where each key is.
type Settings struct {
	Default  string             `json:"default,omitempty"` // the account that is used when none is named
	Accounts map[string]Account `json:"accounts"`
}

// Account is one account at a service.
type Account struct {
	BaseURL   string                                     `json:"baseURL"`
	Workspace string                                     `json:"workspace,omitempty"`
	APIKey    KeySource                                  `json:"apiKey"`
	Endpoints map[signforms.Operation]signforms.Endpoint `json:"endpoints,omitempty"`
}

// KeySource says where an API key is: exactly one of its fields is set.
type KeySource struct {
	File     string   `json:"file,omitempty"` // a relative path begins at the folder of the settings
	Variable string   `json:"variable,omitempty"`
	Command  []string `json:"command,omitempty"` // prints the key; a program with its arguments, not a line for a shell
}

// keyCommandTime is how long a command that prints a key may take.
const keyCommandTime = 30 * time.Second

// Read returns the key.
func (k KeySource) Read(ctx context.Context, folder string) (string, error) {
	file := k.File
	switch {
	case file != "" && k.Variable == "" && k.Command == nil:
		if !filepath.IsAbs(file) {
			file = filepath.Join(folder, file)
		}
		return Secret(file, "")
	case k.Variable != "" && file == "" && k.Command == nil:
		if key := strings.TrimSpace(os.Getenv(k.Variable)); key != "" {
			return key, nil
		}
		return "", UsageError("the variable %s, which should hold the API key, is empty", k.Variable)
	case len(k.Command) > 0 && file == "" && k.Variable == "":
		return k.run(ctx)
	}
	return "", errors.New("apiKey must have exactly one of file, variable and command")
}

func (k KeySource) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyCommandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Command[0], k.Command[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.Output()
	key := strings.TrimSpace(string(out))
	switch {
	case err != nil:
		return "", fmt.Errorf("the command for the API key, %s: %w", k.Command[0], err)
	case key == "" || strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("the command for the API key, %s, must print one line", k.Command[0])
	}
	return key, nil
}

// ReadSettings reads a settings file. It refuses unknown names. Its error matches [fs.ErrNotExist] when there is no such file.
func ReadSettings(path string) (s Settings, err error) {
	text, err := ReadFile(path, 1<<20)
	if err != nil {
		return s, err
	}
	if err := DecodeJSON(string(text), &s); err != nil {
		return s, UsageError("%s: %w", path, err)
	}
	return s, nil
}

// Account returns the account of a name; of no name, the default, or the only one.
func (s Settings) Account(name string) (Account, error) {
	names := slices.Sorted(maps.Keys(s.Accounts))
	if name == "" {
		name = s.Default
	}
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	a, found := s.Accounts[name]
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

// CheckAccount reports why WriteAccount would fail.
func CheckAccount(path, name string, a Account) error {
	if _, err := withAccount(path, name, a); err != nil {
		return err
	}
	return atomicfile.Check(path)
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
	all := maps.Clone(found)
	for _, op := range []signforms.Operation{signforms.OpVoidDocument, signforms.OpSendReminder, signforms.OpSend} {
		if e, there := old[op]; there {
			if _, tried := all[op]; !tried {
				if all == nil {
					all = map[signforms.Operation]signforms.Endpoint{}
				}
				all[op] = e
			}
		}
	}
	return all
}
