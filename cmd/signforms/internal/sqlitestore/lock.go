package sqlitestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signforms/signforms-go/internal/filelock"
)

// onlyName follows the symbolic links of a path, so that every path to a file leads to the same lock. It refuses a file with hard
// links, because they cannot be followed to one name. The file may be missing, but its folder must exist.
func onlyName(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, linked := os.Lstat(path); linked == nil {
			return "", fmt.Errorf("%s is a link to a file that is not there: remove it, or name the file itself", path)
		}
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(folder, filepath.Base(path)), err
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", real)
	}
	n, err := filelock.Names(real)
	if err == nil && n > 1 {
		err = fmt.Errorf("%s has %d names (hard links), and another program could open it by another name: remove all names but one", real, n)
	}
	return real, err
}

// takeLock locks a file, and makes it if it is missing. The lock lasts until the file is closed or the process ends.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// tryLock locks an open lock file. Its error names the process that has the lock.
func tryLock(f *os.File) error {
	err := filelock.Try(f)
	if id := holder(f); errors.Is(err, ErrInUse) && id != "" {
		return fmt.Errorf("%w, %s", err, id)
	}
	return err
}

// nameHolder writes the id of this process into a lock file that it has locked.
func nameHolder(f *os.File) error {
	_, err := fmt.Fprintf(io.NewOffsetWriter(f, 0), processLine, os.Getpid())
	return err
}

// holder returns the process that the lock file names, as in "process 123", or "".
func holder(f *os.File) string {
	var id int
	if n, _ := fmt.Fscanln(io.NewSectionReader(f, 0, witnessAt), &id); n < 1 {
		return ""
	}
	return fmt.Sprintf("process %d", id)
}
