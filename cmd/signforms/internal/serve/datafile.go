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
	if local := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && local != "" { // the others go to other machines with the user
		return filepath.Join(local, "signforms", "sandbox.db"), nil
	}
	file = cli.UserFile("sandbox.db", "XDG_DATA_HOME", ".local", "share")
	if file == "" {
		err = errors.New("the user has no folder for data: name a file for the state with --data, or use --memory")
	}
	return file, err
}
