package signformstest

import (
	"context"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TemplatePDF returns the PDF of a template, or nil when it has none of its own.
func (s *Server) TemplatePDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, func(tx *store.Tx) (signing.File, error) {
		t, err := tx.Template(id)
		return t.PDF, err
	})
}

// DocumentPDF returns the PDF of a document as it was before anybody signed, or nil when it has none.
func (s *Server) DocumentPDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, func(tx *store.Tx) (signing.File, error) {
		d, err := tx.Document(id)
		return d.PDF, err
	})
}

// FinishedPDF returns the finished file of a document, or nil when there is none.
func (s *Server) FinishedPDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, func(tx *store.Tx) (signing.File, error) {
		d, err := tx.Document(id)
		return d.Finished, err
	})
}

// images reads the pictures that were entered into a document.
func (s *Server) images(ctx context.Context, d *DocumentState, record signing.Document) (err error) {
	for i, v := range record.Values {
		if d.Values[i].Image, err = s.store.Content(ctx, v.Image); err != nil {
			return err
		}
	}
	return nil
}

// readImages leaves out the pictures when they cannot be read.
func (s *Server) readImages(d *DocumentState, record signing.Document) {
	if err := s.images(s.ctx, d, record); err != nil {
		s.logger.Error("reading a signature", "document", d.ID, "error", err)
	}
}

// file returns the content of a file. It reads the Storage outside of a transaction, and looks a file up again that was replaced
// meanwhile.
func (s *Server) file(ctx context.Context, find func(tx *store.Tx) (signing.File, error)) ([]byte, error) {
	for {
		var f signing.File
		err := s.store.View(func(tx *store.Tx) (err error) {
			f, err = find(tx)
			return err
		})
		if err != nil {
			return nil, s.publicError(err)
		}
		content, err := s.store.Content(ctx, f)
		if err == nil || ctx.Err() != nil {
			return content, err
		}
		var now signing.File
		s.store.View(func(tx *store.Tx) (err error) {
			now, err = find(tx)
			return err
		})
		if now.SHA256 == f.SHA256 {
			return nil, &failure{fmt.Errorf("reading a file: %w", err), ErrStorage}
		}
	}
}
