package hosting

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

const (
	smallBody  = 1 << 20 // in bytes; a body up to this size does not wait for its turn
	maxUploads = 2       // large bodies that are processed at the same time, because each is in memory several times
)

// upload is the body of a request that may be large. Its first Read stores the whole body in a
// file, so that a slow client delays nobody. Then it waits for its turn, which lasts until the
// request ends.
type upload struct {
	io.ReadCloser
	ctx   context.Context
	turns chan struct{}
	dir   string
	file  *os.File // nil before the first Read
	err   error
	holds bool
}

func (u *upload) Read(p []byte) (int, error) {
	if u.file == nil && u.err == nil {
		u.err = u.arrive()
	}
	if u.err != nil {
		return 0, u.err
	}
	return u.file.Read(p)
}

func (u *upload) arrive() (err error) {
	if u.file, err = os.CreateTemp(u.dir, "upload-*.tmp"); err != nil {
		return err
	}
	os.Remove(u.file.Name()) // on Windows, the file is removed when the upload ends
	size, err := io.Copy(u.file, u.ReadCloser)
	if err == nil {
		_, err = u.file.Seek(0, io.SeekStart)
	}
	if err != nil || size <= smallBody {
		return err
	}
	select {
	case u.turns <- struct{}{}:
		u.holds = true
		return nil
	case <-u.ctx.Done():
		return u.ctx.Err()
	}
}

func (u *upload) end() {
	if u.holds {
		<-u.turns
	}
	if u.file != nil {
		u.file.Close()
		os.Remove(u.file.Name())
	}
}

// uploadDir returns the folder of uploads, which is that of the data file, because a container can
// write there.
func (ws *Workspaces) uploadDir() string {
	if ws.data == nil {
		return os.TempDir()
	}
	return filepath.Dir(ws.data.first.Path())
}
