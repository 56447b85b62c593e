// Package atomicfile writes files atomically. After a loss of power, a file has either its old
// content or its new content.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write replaces the content of the file at path, or makes the file, readable by the owner only. It
// returns when the content and the name are on the disk. Write follows a symbolic link to a file.
// If path is not a regular file, such as a terminal or a pipe, Write writes to it directly. A
// concurrent reader sees either the old content or the new content.
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

// Check reports why Write cannot write to path. For instance, the folder does not exist or is not
// writable.
func Check(path string) error {
	f, _, err := create(path)
	if f == nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// create makes an empty file in the folder of target, which is the file that path leads to. If
// target is not a regular file, f is nil.
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
	f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // the new file has mode 0600
	return f, path, err
}

// SyncDir makes the names in a folder survive a loss of power. On Windows, which cannot sync a
// folder, it does nothing.
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
