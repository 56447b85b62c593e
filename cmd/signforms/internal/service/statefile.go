package service

import (
	"os"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// stateFile returns the path of a file that keeps state between runs of the program.
func stateFile(name string) (string, error) {
	path := cli.UserFile(name, "XDG_STATE_HOME", ".local", "state")
	if path == "" {
		return "", cli.UsageError("there is no folder for what is remembered between runs: set XDG_STATE_HOME, or --limit-store and --journal")
	}
	return path, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
