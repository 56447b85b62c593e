package store

import (
	"context"
	"errors"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

// blobs are the contents of files by hash, each once.
type blobs map[string]*blob

type blob struct {
	uses int    // by records
	data []byte // nil: the keeper has it
}

// putFiles changes which files a record has: before may be that of no record. It takes the content out of the new ones.
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

// count counts the files of a record that was loaded.
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

// ErrDamaged is the error for a file whose content is not what was saved.
var ErrDamaged = errors.New("it is damaged: its SHA-256 is another one than when it was saved")

// Content returns what is in a file, or nil for none. What a keeper returns is compared with the hash.
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
