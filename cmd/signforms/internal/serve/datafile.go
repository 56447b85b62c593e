package serve

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// dataFile returns the default file for the state. It is in the folder where the system keeps the data of the user's programs.
func dataFile() (file string, err error) {
	folder := cli.UserFolder("XDG_DATA_HOME", ".local", "share")
	switch runtime.GOOS {
	case "windows":
		folder = os.Getenv("LocalAppData")
	case "darwin":
		folder = cli.UserFolder("", "Library", "Application Support")
	}
	if folder == "" {
		return "", errors.New("the user has no folder for data: name a file for the state with --data, or use --memory")
	}
	return filepath.Join(folder, "signforms", "sandbox.db"), nil
}
