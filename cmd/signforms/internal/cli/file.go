package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// PathCause returns the cause of an error without its path, because the caller adds the path.
func PathCause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// ReadFile reads a whole file of at most limit bytes. "-" does not mean stdin here.
func ReadFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, PathCause(err))
	}
	defer f.Close()
	return ReadAll(f, name, limit)
}

// ReadAll is like ReadFile, for other input than a file. name describes the input.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, PathCause(err))
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return text, nil
}

// Secret reads a secret from a file or, if file is empty, from an environment variable. The secret
// is empty if the variable is not set. If others on this machine can read the file, a line on
// stderr says so.
func Secret(stderr io.Writer, file, variable string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	text, err := ReadFile(file, 64<<10)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff")) // editors on Windows write a byte order mark
	if secret == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	if openTo(file, 0o044) {
		fmt.Fprintf(stderr, "signforms: %s holds a secret, and others on this machine can read it: chmod 600 it\n", Plain(file))
	}
	return secret, nil
}

// openTo reports whether a regular file has one of these permissions. On Windows, where permissions
// do not show access, it reports false.
func openTo(file string, permissions fs.FileMode) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&permissions != 0 && runtime.GOOS != "windows"
}

// UserFile returns the path of a file of the program in a folder of the user. The folder is the
// value of a variable of the XDG specification, if that is an absolute path. Otherwise it is the
// system's folder, or else a folder in the user's home. The path is empty if there is no home.
func UserFile(name, variable string, inHome ...string) string {
	folder := os.Getenv(variable)
	if !filepath.IsAbs(folder) { // the specification requires ignoring a relative path
		home, err := os.UserHomeDir()
		if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
			home, err = os.UserConfigDir()
			inHome = nil
		}
		if err != nil {
			return ""
		}
		folder = filepath.Join(append([]string{home}, inHome...)...)
	}
	return filepath.Join(folder, "signforms", name)
}
