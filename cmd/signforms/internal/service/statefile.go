package service

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// stateFile returns the path of a file that keeps state between runs of the program.
func stateFile(name string) (string, error) {
	folder := cli.UserFolder("XDG_STATE_HOME", ".local", "state")
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		own, err := os.UserConfigDir()
		if given := os.Getenv("XDG_STATE_HOME"); !filepath.IsAbs(given) && err == nil {
			folder = own
		}
	}
	if folder == "" {
		return "", cli.UsageError("there is no folder for what is remembered between runs: set XDG_STATE_HOME, or --limit-store and --journal")
	}
	return filepath.Join(folder, "signforms", name), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
