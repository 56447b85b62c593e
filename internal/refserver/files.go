package refserver

import (
	"context"
	"fmt"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// TemplatePDF returns the PDF of a template, or nil if the template has no PDF of its own.
func (s *Server) TemplatePDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, "template "+id, func(tx *store.Tx) (signing.File, error) {
		t, err := tx.Template(id)
		return t.PDF, err
	})
}

// DocumentPDF returns the PDF of a document before any signature, or nil if the document has no
// PDF.
func (s *Server) DocumentPDF(ctx context.Context, id string) ([]byte, error) {
	return s.file(ctx, "document "+id, func(tx *store.Tx) (signing.File, error) {
		d, err := tx.Document(id)
		return d.PDF, err
	})
}

// images reads the images that signers entered into a document.
func (s *Server) images(ctx context.Context, d *DocumentState, record signing.Document) (err error) {
	for i, v := range record.Values {
		if d.Values[i].Image, err = s.content(ctx, "document "+record.ID, v.Image); err != nil {
			return err
		}
	}
	return nil
}

// readImages is like images, but leaves out images that cannot be read.
func (s *Server) readImages(d *DocumentState, record signing.Document) {
	_ = s.images(s.ctx, d, record) // content has logged the error
}

// file returns the content of a file. It reads the Storage outside of a transaction.
func (s *Server) file(ctx context.Context, of string, find func(tx *store.Tx) (signing.File, error)) ([]byte, error) {
	var f signing.File
	err := s.store.View(func(tx *store.Tx) (err error) {
		f, err = find(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.content(ctx, of, f)
}

// content returns the content of a file of the record. If the file cannot be read, content logs the
// error.
func (s *Server) content(ctx context.Context, of string, f signing.File) ([]byte, error) {
	content, err := s.store.Content(ctx, f)
	if err == nil || ctx.Err() != nil {
		return content, err
	}
	s.logger.Error("a file cannot be read", "of", of, "file", f.SHA256, "error", err)
	return nil, &failure{fmt.Errorf("a file of %s cannot be read: %w", of, err), ErrStorage}
}
