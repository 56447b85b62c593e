package hosting

import (
	"context"
	"io"
	"os"
	"path/filepath"
)

const (
	smallBody  = 1 << 20 // bytes; one that is not larger waits for no turn
	maxUploads = 2       // large bodies that are worked on at once: each is in memory several times
)

// upload is the body of a request that may be large. Its first Read puts all of it into a file, so that a slow client
// holds nobody up, and waits for a turn, which the request has until end.
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
	os.Remove(u.file.Name()) // or at its end, on Windows
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

// uploadDir is where uploads are until they are read: beside the data file, which a container can write to.
func (ws *Workspaces) uploadDir() string {
	if ws.data == nil {
		return os.TempDir()
	}
	return filepath.Dir(ws.data.first.Path())
}
