package service

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// stateFile returns the path of a file that keeps state between runs of the program.
func stateFile(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" && (runtime.GOOS == "windows" || runtime.GOOS == "darwin") {
		var err error
		if dir, err = os.UserConfigDir(); err != nil {
			return "", cli.UsageError("there is no folder for what is remembered between runs: set --limit-store and --journal")
		}
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", cli.UsageError("there is no folder for what is remembered between runs: set XDG_STATE_HOME, or --limit-store and --journal")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "signforms", name), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
