// Package atomicfile writes files whole: after a loss of power a file has its old content or its new one.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write replaces the content of the file at path, or makes the file, readable only by the owner. It returns when
// content and name are on the disk. It follows a symbolic link to a file. What is not a regular file, such as a
// terminal or pipe, it writes to as it is. Readers meanwhile see the old content or the new one, never a part.
func Write(path string, content []byte) (err error) {
	f, path, err := create(path)
	if err != nil {
		return err
	}
	if f == nil {
		return os.WriteFile(path, content, 0o600)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Check reports why Write cannot write to path: there is no such folder, for instance, or it may not be written to.
func Check(path string) error {
	f, _, err := create(path)
	if f == nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// create makes an empty file beside target, to which path leads. f is nil where target is not a regular file.
func create(path string) (f *os.File, target string, err error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, path, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case err == nil && !info.Mode().IsRegular():
		return nil, path, nil
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, path, err
		}
	}
	f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // has mode 0600
	return f, path, err
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
