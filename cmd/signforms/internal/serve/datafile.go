package serve

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// dataFile returns the default file for the state. It is in the folder where the system keeps the data of the user's
// programs.
func dataFile() (file string, err error) {
	if local := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && local != "" { // other folders follow the user to other machines
		return filepath.Join(local, "signforms", "sandbox.db"), nil
	}
	file = cli.UserFile("sandbox.db", "XDG_DATA_HOME", ".local", "share")
	if file == "" {
		err = errors.New("the user has no folder for data: name a file for the state with --data, or use --memory")
	}
	return file, err
}
