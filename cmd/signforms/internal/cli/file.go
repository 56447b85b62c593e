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

// PathCause returns the cause of an error without its path, which the caller names itself.
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

// ReadAll is ReadFile for what is not a file. name says what it is.
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

// Secret reads a secret from a file or, without one, from a variable. The secret is empty when the variable is not set.
// A file that others on this machine can read is named on stderr.
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

// openTo reports whether a regular file has one of these permissions. On Windows, where access is not in them, it
// reports false.
func openTo(file string, permissions fs.FileMode) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&permissions != 0 && runtime.GOOS != "windows"
}

// UserFile returns the path of a file of the program in the user's folder that a variable of the XDG specification
// names or, without an absolute path in it, in that of the system or else in a folder of the user's home. It is empty
// when there is no home.
func UserFile(name, variable string, inHome ...string) string {
	folder := os.Getenv(variable)
	if !filepath.IsAbs(folder) { // the specification says to ignore a relative path
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
