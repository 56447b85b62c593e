package store

import (
	"context"
	"errors"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// blobs are the contents of files by hash. Equal contents are stored once.
type blobs map[string]*blob

type blob struct {
	uses int    // number of records that use the blob
	data []byte // nil: the keeper has the content
}

// putFiles replaces the files before of a record with the files after. before is empty for a new
// record. putFiles takes the content out of the new files.
func (tx *Tx) putFiles(before, after []*signing.File) {
	for _, f := range after {
		if f.SHA256 != "" {
			tx.useBlob(f.SHA256, f.Data)
			f.Data = nil
		}
	}
	for _, f := range before {
		if f.SHA256 != "" {
			tx.dropBlob(f.SHA256)
		}
	}
}

func (tx *Tx) useBlob(hash string, data []byte) {
	all := tx.s.blobs
	if b := all[hash]; b != nil {
		tx.change(func() { b.uses++ }, func() { b.uses-- })
		return
	}
	b := &blob{uses: 1}
	if tx.s.keeper == nil {
		b.data = data
	}
	tx.change(func() { all[hash] = b }, func() { delete(all, hash) })
	tx.wrote(KindBlob, hash, data)
}

func (tx *Tx) dropBlob(hash string) {
	all := tx.s.blobs
	b := all[hash]
	tx.change(func() { b.uses-- }, func() { b.uses++ })
	if b.uses == 0 {
		tx.change(func() { delete(all, hash) }, func() { all[hash] = b })
		tx.wrote(KindBlob, hash, nil)
	}
}

// FilesOf returns the files of a record's value.
func FilesOf(value any) []*signing.File {
	switch v := value.(type) {
	case *signing.Template:
		return filesOfTemplate(v)
	case *signing.Document:
		return filesOfDocument(v)
	}
	return nil
}

// count counts the uses of the files of a loaded record.
func (bs blobs) count(files []*signing.File) {
	for _, f := range files {
		if f.SHA256 == "" {
			continue
		}
		if bs[f.SHA256] == nil {
			bs[f.SHA256] = &blob{}
		}
		bs[f.SHA256].uses++
	}
}

// ErrDamaged is the error for a file whose content differs from the saved content.
var ErrDamaged = errors.New("checksum mismatch: the stored file is damaged")

// Content returns the content of a file, or nil for no file. It compares the content from a keeper
// with the hash.
func (s *Store) Content(ctx context.Context, f signing.File) ([]byte, error) {
	if f.SHA256 == "" {
		return nil, nil
	}
	if s.keeper != nil {
		data, err := s.keeper.Blob(ctx, f.SHA256)
		if err == nil && signing.Hash(data) != f.SHA256 {
			return nil, ErrDamaged
		}
		return data, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.blobs[f.SHA256]; b != nil {
		return b.data, nil
	}
	return nil, &Missing{What: "file", ID: f.SHA256}
}
