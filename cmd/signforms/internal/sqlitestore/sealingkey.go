package sqlitestore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/signforms/signforms-go/internal/atomicfile"
)

// oldKey ends the name of the file in which older versions had the key that seals.
const oldKey = ".seal.pem"

// SealingKey returns the text of the key that seals finished PDFs. When there is none yet, it keeps what choose returns. Older
// versions had the key in a file beside this one: choose gets its text, which is nil without such a file. Once the key is on the disk
// in this file, the other one is removed.
func (s *Store) SealingKey(ctx context.Context, choose func(old []byte) ([]byte, error)) ([]byte, error) {
	beside := s.path + oldKey
	key, old, there, err := s.keys(ctx)
	if err != nil {
		return nil, err
	}
	if len(key) == 0 {
		if key, err = choose(old); err != nil {
			return nil, err
		}
		if _, err := s.db.ExecContext(ctx, `update _meta set value = ? where name = 'sealing_key'`, string(key)); err != nil {
			return nil, s.refusal(err)
		}
	}
	if there && (old == nil || bytes.Equal(old, key)) {
		return key, s.removeTakenOver(ctx, beside)
	}
	return key, nil
}

// keys returns the key in this file, which is empty as long as there is none, the one in the file beside it, and whether that is there.
func (s *Store) keys(ctx context.Context) (key, old []byte, there bool, err error) {
	old, err = os.ReadFile(s.path + oldKey)
	there = err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, err
	}
	if len(bytes.Trim(old, "\x00")) == 0 { // the power failed before its content was on the disk
		old = nil
	}
	err = s.db.QueryRowContext(ctx, `select value from _meta where name = 'sealing_key'`).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, false, s.damaged(errors.New("the row of the sealing key is missing"))
	}
	return key, old, there, s.refusal(err)
}

// removeTakenOver removes a file whose content is in this one. A checkpoint syncs the data file first. When another program reads
// meanwhile, which holds up the checkpoint, the file stays until the next start.
func (s *Store) removeTakenOver(ctx context.Context, path string) error {
	var busy, frames, moved int
	if err := s.db.QueryRowContext(ctx, `pragma wal_checkpoint(truncate)`).Scan(&busy, &frames, &moved); err != nil {
		return s.refusal(err)
	}
	if busy != 0 {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("removing a key that is in the data file now: %w", err)
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}
