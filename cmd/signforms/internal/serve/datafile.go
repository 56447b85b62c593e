package serve

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// dataFile returns the default file for the state. It is in the folder where the system keeps the data of the user's programs.
func dataFile() (file string, err error) {
	folder := os.Getenv("XDG_DATA_HOME")
	switch {
	case runtime.GOOS == "windows":
		folder = os.Getenv("LocalAppData")
	case runtime.GOOS == "darwin":
		folder = inHome("Library", "Application Support")
	case !filepath.IsAbs(folder): // the XDG specification says to ignore a relative path
		folder = inHome(".local", "share")
	}
	if folder == "" {
		return "", errors.New("the user has no folder for data: name a file for the state with --data, or use --memory")
	}
	return filepath.Join(folder, "signforms", "sandbox.db"), nil
}

// inHome returns a path in the user's home folder, or "" when there is none.
func inHome(parts ...string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(append([]string{home}, parts...)...)
}
