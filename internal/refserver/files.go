package refserver

import (
	"context"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TemplatePDF returns the PDF of a template, or nil when it has none of its own.
func (s *Server) TemplatePDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, "template "+id, func(tx *store.Tx) (signing.File, error) {
		t, err := tx.Template(id)
		return t.PDF, err
	})
}

// DocumentPDF returns the PDF of a document as it was before anybody signed, or nil when it has none.
func (s *Server) DocumentPDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, "document "+id, func(tx *store.Tx) (signing.File, error) {
		d, err := tx.Document(id)
		return d.PDF, err
	})
}

// images reads the pictures that were entered into a document.
func (s *Server) images(ctx context.Context, d *DocumentState, record signing.Document) (err error) {
	for i, v := range record.Values {
		if d.Values[i].Image, err = s.content(ctx, "document "+record.ID, v.Image); err != nil {
			return err
		}
	}
	return nil
}

// readImages leaves out the pictures when they cannot be read.
func (s *Server) readImages(d *DocumentState, record signing.Document) {
	_ = s.images(s.ctx, d, record) // content has logged it
}

// file returns the content of a file. It reads the Storage outside of a transaction, and looks a file up again that was replaced
// meanwhile.
func (s *Server) file(ctx context.Context, of string, find func(tx *store.Tx) (signing.File, error)) ([]byte, error) {
	for {
		var f signing.File
		err := s.store.View(func(tx *store.Tx) (err error) {
			f, err = find(tx)
			return err
		})
		if err != nil {
			return nil, s.publicError(err)
		}
		content, err := s.content(ctx, of, f)
		if err == nil || ctx.Err() != nil {
			return content, err
		}
		var now signing.File
		s.store.View(func(tx *store.Tx) (err error) {
			now, err = find(tx)
			return err
		})
		if now.SHA256 == f.SHA256 {
			return nil, &failure{err, ErrStorage}
		}
	}
}

// content returns what is in a file of the record. One that cannot be read is logged, and CheckStorage reports it.
func (s *Server) content(ctx context.Context, of string, f signing.File) ([]byte, error) {
	content, err := s.store.Content(ctx, f)
	if err == nil || ctx.Err() != nil || !s.uses(f) {
		return content, err
	}
	s.logger.Error("a file cannot be read", "of", of, "file", f.SHA256, "error", err)
	s.unread.Store(f.SHA256, of)
	return nil, unreadable(of, err)
}

func unreadable(of string, err error) error {
	return fmt.Errorf("a file of %s cannot be read: %w", of, err)
}

func (s *Server) uses(f signing.File) (used bool) {
	s.store.View(func(tx *store.Tx) error {
		used = tx.Uses(f.SHA256)
		return nil
	})
	return used
}

// checkFiles reads the files again that could not be read. It returns an error for one that still cannot, and still belongs to a record.
func (s *Server) checkFiles() (err error) {
	s.unread.Range(func(hash, of any) bool {
		f := signing.File{SHA256: hash.(string)}
		if _, bad := s.store.Content(s.ctx, f); bad != nil && s.uses(f) {
			err = &failure{unreadable(of.(string), bad), ErrStorage}
			return false
		}
		s.unread.Delete(hash)
		return true
	})
	return err
}
