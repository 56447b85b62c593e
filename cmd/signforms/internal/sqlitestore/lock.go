package sqlitestore

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/filelock"
)

// takeLock locks a file, making it when it is missing, until it is closed or the process ends. The file tells the process id
// of whoever has it.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.Try(f); err != nil {
		defer f.Close()
		if id := holder(f); id != "" {
			return nil, fmt.Errorf("%w, %s", err, id)
		}
		return nil, err
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holder is the process that the file names, as far as it does.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	id := strings.TrimSpace(string(text))
	if _, bad := strconv.Atoi(id); err != nil || bad != nil {
		return ""
	}
	return "process " + id
}
