// Package atomicfile writes files whole: after a loss of power a file has its old content or its new one.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the content of the file at path, or makes the file, readable only by the owner. It returns when the content and
// the name are on the disk. It follows a symbolic link to a file. What is not a regular file, such as a terminal or a pipe, it
// writes to as it is. Programs that read the file meanwhile see the old content or the new one, never a part.
func Write(path string, content []byte) (err error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, content, 0o600)
	}
	if err == nil {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	folder := filepath.Dir(path)
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*") // has mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return SyncDir(folder)
}

// SyncDir makes the names in a folder survive a loss of power. On Windows, which cannot sync a folder, it does nothing.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
