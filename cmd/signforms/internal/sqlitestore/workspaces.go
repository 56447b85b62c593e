package sqlitestore

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/internal/refserver"
)

// A file holds the records of many workspaces. Those of the first have their own ids. Before the ids of another one's stand the
// workspace's id and a slash.

// workspaceKind is the kind of the records that name the workspaces after the first.
const workspaceKind = "hosted_workspace"

// reader is a database or a transaction.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// selection says which records of a table are meant.
type selection struct {
	where string
	args  []any
}

var everyID = selection{where: `1`}

// within selects the ids that begin with a prefix, which ends with a slash.
func within(prefix string) selection {
	return selection{`id >= ? and id < ?`, []any{prefix, strings.TrimSuffix(prefix, "/") + "0"}} // "0" follows the slash in ASCII
}

// yieldFirst passes on the records of the first workspace alone.
func yieldFirst(yield func(refserver.Record) error) func(refserver.Record) error {
	return func(r refserver.Record) error {
		if r.Kind == workspaceKind || strings.Contains(r.ID, "/") {
			return nil
		}
		return yield(r)
	}
}

// workspace is the storage of one workspace after the first.
type workspace struct {
	*Store
	prefix string            // of the ids of its records: its id and a slash
	bad    func(error) error // as of Store.load
}

// Workspace returns the storage of a workspace after the first. Its id holds no slash.
func (s *Store) Workspace(id string) refserver.Storage { return workspace{s, id + "/", s.damaged} }

// Workspace is that of a Store, but reports no checksums: Load has reported those of all workspaces.
func (e *Examination) Workspace(id string) refserver.Storage {
	return workspace{e.Store, id + "/", func(error) error { return nil }}
}

// Load implements [refserver.Storage]. Only the Load of the first workspace shows that records are missing.
func (ws workspace) Load(ctx context.Context, yield func(refserver.Record) error) error {
	if err := ws.resolve(ctx); err != nil {
		return err
	}
	if err := ws.Check(); err != nil {
		return err
	}
	kinds, err := tables(ctx, ws.db)
	if err != nil {
		return ws.refusal(err)
	}
	for _, kind := range kinds {
		if kind == refserver.BlobKind {
			continue
		}
		if _, err := ws.loadKind(ctx, ws.db, kind, within(ws.prefix), func(r refserver.Record) error {
			r.ID = strings.TrimPrefix(r.ID, ws.prefix)
			return yield(r)
		}, ws.bad); err != nil {
			return err
		}
	}
	return nil
}

// Save implements [refserver.Storage].
func (ws workspace) Save(ctx context.Context, records []refserver.Record) error {
	own := make([]refserver.Record, len(records))
	for i, r := range records {
		own[i] = refserver.Record{Kind: r.Kind, ID: ws.prefix + r.ID, Data: r.Data}
	}
	return ws.Store.save(ctx, own)
}

// Blob implements [refserver.Storage].
func (ws workspace) Blob(ctx context.Context, hash string) ([]byte, error) {
	return ws.Store.Blob(ctx, ws.prefix+hash)
}

// Workspaces returns what PutWorkspace saved of each workspace, by id.
func (s *Store) Workspaces(ctx context.Context) (map[string][]byte, error) {
	all := map[string][]byte{}
	kinds, err := tables(ctx, s.db)
	if err != nil || !slices.Contains(kinds, workspaceKind) {
		return all, s.refusal(err)
	}
	_, err = s.loadKind(ctx, s.db, workspaceKind, everyID, func(r refserver.Record) error {
		all[r.ID] = r.Data
		return nil
	}, s.damaged)
	return all, err
}

// PutWorkspace saves what the program knows of a workspace after the first.
func (s *Store) PutWorkspace(ctx context.Context, id string, data []byte) error {
	return s.Save(ctx, []refserver.Record{{Kind: workspaceKind, ID: id, Data: data}})
}

// RemoveWorkspace deletes a workspace with all its records, or nothing. Nobody may use its storage any more.
func (s *Store) RemoveWorkspace(ctx context.Context, id string) error {
	kinds, err := tables(ctx, s.db)
	if err != nil {
		return s.refusal(err)
	}
	all := []refserver.Record{{Kind: workspaceKind, ID: id}}
	for _, kind := range kinds {
		own := within(id + "/")
		err := s.each(ctx, `select id from "`+kind+`" where `+own.where, func(id string) {
			all = append(all, refserver.Record{Kind: kind, ID: id})
		}, own.args...)
		if err != nil {
			return err
		}
	}
	return s.save(ctx, all)
}
