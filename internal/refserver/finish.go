package refserver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// finishing makes finished files on demand. Concurrent requests for the same file share one call.
type finishing struct {
	mu       sync.Mutex
	underWay map[string]*making // files being made, by id of the document
	calls    sync.WaitGroup
	closed   bool
}

// making is a file that is being made.
type making struct {
	done    chan struct{} // closed when the file is saved, or could not be made
	content []byte
	err     error
}

// finishWithin is how long making a file may take.
const finishWithin = 20 * time.Second

// FinishedPDF returns the finished file of a document. It returns nil if the document is not
// completed, or if [Options].Finish is nil.
//
// The first call makes the file with [Options].Finish and saves it. All calls get the same bytes.
// If the file cannot be made now, the error matches [ErrNotMade]. The audit trail then has the
// reason, and the next call tries again.
func (s *Server) FinishedPDF(ctx context.Context, id string) ([]byte, error) {
	d, err := s.document(id)
	if err != nil {
		return nil, err
	}
	if !s.toFinish(d) {
		return s.content(ctx, "document "+d.ID, d.Finished)
	}
	m := s.finishing.join(id, func() ([]byte, error) { return s.finish(id) })
	select {
	case <-m.done:
		return m.content, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// toFinish reports whether the finished file of the document must still be made.
func (s *Server) toFinish(d signing.Document) bool {
	return s.options.Finish != nil && d.Completed() && d.Finished.SHA256 == ""
}

func (s *Server) document(id string) (d signing.Document, err error) {
	err = s.store.View(func(tx *store.Tx) error {
		d, err = tx.Document(id)
		return err
	})
	return d, err
}

// join starts to make the file. If the file is already being made, join returns the running call.
func (f *finishing) join(id string, finish func() ([]byte, error)) *making {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.underWay[id]; m != nil {
		return m
	}
	m := &making{done: make(chan struct{})}
	if f.closed {
		m.err = store.ErrClosed
		close(m.done)
		return m
	}
	if f.underWay == nil {
		f.underWay = map[string]*making{}
	}
	f.underWay[id] = m
	f.calls.Go(func() {
		m.content, m.err = finish()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.underWay, id)
		close(m.done)
	})
	return m
}

// close waits for the running calls and starts no more.
func (f *finishing) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.calls.Wait()
}

// finish makes a file and saves it. It returns why the file could not be made.
func (s *Server) finish(id string) ([]byte, error) {
	d, err := s.document(id)
	if err != nil {
		return nil, err
	}
	if !s.toFinish(d) { // another call has made the file in the meantime
		return s.content(s.ctx, "document "+d.ID, d.Finished)
	}
	content, err := s.callFinish(d)
	if err != nil {
		return nil, s.notMade(id, err)
	}
	err = s.store.Update(func(tx *store.Tx) error {
		d, err := tx.Document(id)
		if err == nil {
			tx.Apply(d.Finish(signing.NewFile(content), tx.Now))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// notMade records in the audit trail why a file could not be made. If further tries fail for the
// same reason, it records the reason once.
func (s *Server) notMade(id string, why error) error {
	if s.ctx.Err() != nil {
		return store.ErrClosed
	}
	s.logger.Error("making a finished file", "document", id, "error", why)
	s.store.Update(func(tx *store.Tx) error {
		d, err := tx.Document(id)
		if err != nil {
			return err
		}
		c := d.FinishFailed(why.Error(), tx.Now)
		for last := range tx.Audit(id).Newest() {
			if last.Note == c.Audit[0].Note {
				return nil
			}
			break
		}
		tx.Apply(c)
		return nil
	})
	return &failure{fmt.Errorf("the finished file could not be made: %w", why), ErrNotMade}
}

// callFinish calls Options.Finish, and returns an error if the call takes too long.
func (s *Server) callFinish(d signing.Document) ([]byte, error) {
	ctx, cancel := context.WithTimeout(s.ctx, finishWithin)
	defer cancel()
	type file struct {
		content []byte
		err     error
	}
	result := make(chan file, 1)
	go func() {
		content, err := s.makeFile(ctx, d)
		result <- file{content, err}
	}()
	select {
	case f := <-result:
		return f.content, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// makeFile calls Options.Finish with the document and its PDF.
func (s *Server) makeFile(ctx context.Context, d signing.Document) (content []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	public := s.publicDocument(d)
	if public.PDF, err = s.content(ctx, "document "+d.ID, d.PDF); err != nil {
		return nil, fmt.Errorf("reading the document's PDF: %w", err)
	}
	if err := s.images(ctx, &public, d); err != nil {
		return nil, fmt.Errorf("reading a signature: %w", err)
	}
	content, err = s.options.Finish(ctx, public)
	if err == nil && len(content) == 0 {
		err = errors.New("the file is empty")
	}
	return content, err
}
