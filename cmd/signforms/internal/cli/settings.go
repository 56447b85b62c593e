package cli

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signforms/signforms-go"
)

// Settings is the content of the file that --settings names. It contains no keys, only the location
// of each key.
type Settings struct {
	Default  string             `json:"default,omitempty"` // the account that is used if no account is named
	Accounts map[string]Account `json:"accounts"`

	folder string // folder of the settings file
}

// Account is one account at a service.
type Account struct {
	BaseURL   string                                     `json:"baseURL"`
	Workspace string                                     `json:"workspace,omitempty"`
	APIKey    KeySource                                  `json:"apiKey"`
	Endpoints map[signforms.Operation]signforms.Endpoint `json:"endpoints,omitempty"`
}

// KeySource is the location of an API key. Exactly one of its fields is set, which ReadSettings
// checks.
type KeySource struct {
	File     string `json:"file,omitempty"` // a relative path is relative to the folder of the settings file
	Variable string `json:"variable,omitempty"`
}

// UnmarshalJSON refuses everything except the two sources. Its error does not contain the refused
// text, because that may be a key.
func (k *KeySource) UnmarshalJSON(text []byte) error {
	type plain KeySource
	if err := DecodeJSON(string(text), (*plain)(k)); err != nil {
		return errSource
	}
	return nil
}

var errSource = errors.New(`apiKey must be {"file": PATH} or {"variable": NAME}: settings hold no key`)

func (k KeySource) check() error {
	if (k.File == "") == (k.Variable == "") {
		return errSource
	}
	return nil
}

// String returns the location of the key.
func (k KeySource) String() string {
	if k.File != "" {
		return "file " + k.File
	}
	return "variable " + k.Variable
}

// Read returns the key. If others on this machine can read the file, a line on stderr says so.
func (k KeySource) Read(stderr io.Writer) (string, error) {
	if k.File != "" {
		return Secret(stderr, k.File, "")
	}
	if key := strings.TrimSpace(os.Getenv(k.Variable)); key != "" {
		return key, nil
	}
	return "", UsageError("the variable %s, which should hold the API key, is empty", k.Variable)
}

// DefaultSettings returns the path of the settings file that is read if no other is named. It is in
// the folder where the system keeps the settings of the user's programs. The path is empty if there
// is no such folder.
func DefaultSettings() string {
	return UserFile("accounts.json", "XDG_CONFIG_HOME", ".config")
}

// ReadSettings reads a settings file. It refuses unknown names and unusable accounts. It also
// refuses a file that others own or may write to, because they could have the key sent to
// themselves. If the file does not exist, the error matches [fs.ErrNotExist].
func ReadSettings(path string) (s Settings, err error) {
	text, err := ReadFile(path, 1<<20)
	if err != nil {
		return s, UsageError("%w", err)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // editors on Windows write a byte order mark
	if info, err := os.Stat(path); err == nil && othersMayChange(info) {
		return s, UsageError("%s: another user of this machine may write to it or owns it, and so may change where "+
			"your key is sent:"+
			" chmod go-w it, or use a file of your own", path)
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

// check refuses settings that no client would accept. It also refuses an address with a password,
// which would be displayed.
func (a Account) check() error {
	if err := a.APIKey.check(); err != nil { // apiKey may be missing
		return err
	}
	_, err := signforms.New(a.BaseURL, "key", &signforms.Options{WorkspaceID: a.Workspace, Endpoints: a.Endpoints})
	if e, ok := errors.AsType[*signforms.Error](err); ok && len(e.Fields) > 0 {
		return errors.New(strings.TrimPrefix(e.Fields[0].String(), "Options."))
	}
	return err
}

// Current returns the name of the account that is used if no account is named: the default account,
// or the only account. It is empty if there is neither.
func (s Settings) Current() string {
	names := slices.Collect(maps.Keys(s.Accounts))
	if s.Default == "" && len(names) == 1 {
		return names[0]
	}
	return s.Default
}

// Account returns the account with this name. The path of its key is absolute.
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
