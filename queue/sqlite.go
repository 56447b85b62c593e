package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteStore is a SQLite file. All writes of a process go through one connection and one goroutine.
type sqliteStore struct {
	path    string
	file    [2]os.FileInfo // the file and its log as they were opened
	header  *header
	seen    uint32    // the version in the header at the last read
	stamped time.Time // when this process raised the version last
	lost    bool      // the file was replaced
	readers *sql.DB
	writers *sql.DB
	conn    *sql.Conn // the only connection that writes; only the group's goroutine uses it
	ready   map[string]*sql.Stmt
	full    int // the value of synchronous for commits that must be on the disk
	current int // the current value of synchronous
	synced  time.Time
	sync    func() // called before each commit that must be on the disk; may be nil
	group   *group
}

// applicationID marks a file as one of this package: "sfq1".
const applicationID = 0x73667131

var sqliteDialect = dialect{
	due: `SELECT id, low, token, head, 0, '' FROM signforms_ordering_keys
		WHERE max(due, lease) <= $1 AND max(due, lease) >= $2 AND id NOT IN (SELECT value FROM json_each($3)) AND $4 > 0 ORDER BY max(due, lease)`,
	next: `SELECT max(due, lease), 0 FROM signforms_ordering_keys
		WHERE max(due, lease) >= $1 AND id NOT IN (SELECT value FROM json_each($2)) ORDER BY max(due, lease) LIMIT 1`,
	fence: `SELECT low, 0, '' FROM signforms_ordering_keys WHERE id = $1 AND token = $2`,
	first: `SELECT id, dedupe, ordering_key, type, subject, attempts, received, error, note, body
		FROM signforms_events WHERE (ordering_key_id, id) >= ($1, $2) AND ordering_key_id <= $1 AND state = 0 ORDER BY ordering_key_id, id LIMIT 1`,
	tries:         `SELECT state, attempts FROM signforms_events WHERE id = $1`,
	extend:        `UPDATE signforms_ordering_keys SET due = max($2, lease), token = 0, head = 0, since = $3 WHERE id = $1`,
	ahead:         `SELECT id, due, lease, since, '' FROM signforms_ordering_keys WHERE max(due, lease) > $1 AND since > $2 LIMIT 500`,
	locks:         `SELECT id FROM signforms_ordering_keys WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id`,
	clock:         `SELECT seen, trusted, '' FROM signforms_queue_clock`,
	body:          `SELECT body FROM signforms_events WHERE id = $1`,
	silent:        `SELECT ''`,
	expiredBodies: `SELECT id FROM signforms_events WHERE state = 1 AND body IS NOT NULL AND settled < $1 ORDER BY state, settled LIMIT 500`,
	expiredFailed: `SELECT id FROM signforms_events WHERE state > 0 AND state = 2 AND settled < $1 ORDER BY state, settled LIMIT 500`,
	expiredKeys:   `SELECT id FROM signforms_events WHERE state > 0 AND state IN (1, 3) AND settled < $1 ORDER BY state, settled LIMIT 500`,
	dueCount:      `SELECT count(*) FROM (SELECT 1 FROM signforms_ordering_keys WHERE max(due, lease) <= $1 LIMIT 10000) AS counted`,
	lag:           `SELECT max(due, lease) FROM signforms_ordering_keys WHERE max(due, lease) <= $1 ORDER BY max(due, lease) LIMIT 1`,
	oldest: `SELECT coalesce(min(received), 0) FROM (SELECT (SELECT e.received FROM signforms_events AS e
		WHERE (e.ordering_key_id, e.id) >= (l.id, l.low) AND e.ordering_key_id <= l.id AND e.state = 0
		AND e.id <> CASE WHEN l.lease > $1 THEN abs(l.head) ELSE 0 END ORDER BY e.ordering_key_id, e.id LIMIT 1) AS received
		FROM (SELECT id, low, lease, head FROM signforms_ordering_keys ORDER BY max(due, lease) LIMIT 10000) AS l) AS firsts`,
	blocked: `SELECT id, low, due, count(*) OVER () FROM (SELECT id, low, max(due, lease) AS due
		FROM signforms_ordering_keys WHERE max(due, lease) > $1 AND token = 0 LIMIT 10000) AS some_keys ORDER BY low LIMIT 10`,
	bytes: func(column string) string { return column },
	in:    func(column, param string) string { return column + " IN (SELECT value FROM json_each(" + param + "))" },
	holds: func(column, param string) string {
		return "EXISTS (SELECT 1 FROM json_each(" + param + ") AS one WHERE instr(" + column + ", one.value) > 0)"
	},
	list: func(values any) any {
		text, _ := json.Marshal(values) // Marshal cannot fail for numbers and texts
		return string(text)
	},
}

func openSQLite(path string, o *settings, c *clock) (*sqliteStore, error) {
	path, err := createFile(path)
	if err != nil {
		return nil, err
	}
	s := &sqliteStore{path: path, ready: map[string]*sql.Stmt{}, full: synchronousFull, sync: o.sync}
	if o.unsynced {
		s.full = synchronousNormal
	}
	s.current = s.full
	s.writers, err = openFile(path, s.full, "busy_timeout(0)")
	if err != nil {
		return nil, err
	}
	s.readers, err = openFile(path, s.full, "busy_timeout(5000)", "query_only(1)")
	if err != nil {
		return nil, errors.Join(err, s.writers.Close())
	}
	s.writers.SetMaxOpenConns(1)
	s.readers.SetMaxOpenConns(5) // one of them is used by watch
	s.readers.SetMaxIdleConns(5)
	if err := s.prepare(c, o.Exclusive); err != nil {
		return nil, errors.Join(err, s.closeFile())
	}
	s.group = newGroup(s.commit, isShared)
	return s, nil
}

// createFile makes the file, readable for its owner only, and makes its name durable. It does not
// open an existing file, because closing the file would drop the locks that SQLite holds on it in
// this process.
func createFile(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return "", errors.New("want the path of a file: events in memory would not outlive the process")
	}
	path, err := realPath(path)
	if err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	dir.Sync() // Sync fails on systems that cannot sync folders; these systems make names durable by themselves
	return path, nil
}

// realPath follows symbolic links, because SQLite keeps the log next to the real file. The file
// need not exist yet.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 { // otherwise another process has made the file in the meantime
		return "", errors.New("it is a symbolic link to a file that does not exist: give the path of the file itself")
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// openFile opens connections with their settings:
//
//   - fullfsync is for macOS, where a plain sync may leave data in the drive's cache.
//   - secure_delete overwrites erased data.
//   - temp_store keeps copies of rows out of temporary files.
func openFile(path string, synchronous int, pragmas ...string) (*sql.DB, error) {
	pragmas = append(pragmas, "synchronous("+strconv.Itoa(synchronous)+")", "fullfsync(1)", "secure_delete(1)", "temp_store(2)", "cache_size(-16000)", "wal_autocheckpoint(4000)")
	uri := url.URL{Path: filepath.ToSlash(path)}
	connector, err := sqlite.NewConnector("file:" + uri.EscapedPath() + "?" + url.Values{"_pragma": pragmas}.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// prepare checks the file, makes the tables of a new file, and checks the settings that durability
// depends on.
func (s *sqliteStore) prepare(c *clock, alone bool) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	before, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if s.header, err = openHeader(s.path, alone); err != nil {
		return err
	}
	err = patiently(ctx, func() error {
		s.conn, err = s.writers.Conn(ctx)
		return err
	})
	if err != nil {
		return err
	}
	err = patiently(ctx, func() error {
		return s.want("journal_mode = wal", "wal")
	})
	if err != nil {
		return err
	}
	if err := s.want("synchronous", strconv.Itoa(s.full)); err != nil {
		return err
	}
	if err := s.want("secure_delete", "1"); err != nil {
		return err
	}
	err = s.transaction(ctx, func(t *tx) (err error) {
		if s.file, err = identify(s.path); err != nil {
			return err
		}
		if !os.SameFile(before, s.file[0]) || !os.SameFile(before, s.header.info) {
			return errReplaced
		}
		if s.seen, err = s.header.version(); err != nil {
			return err
		}
		if err := s.makeTables(t); err != nil {
			return err
		}
		return setClock(t, c)
	}, false)
	if err != nil {
		return err
	}
	// A killed process may have written events without a sync. They are visible now, so a repeat
	// would get the response for a duplicate. Therefore prepare syncs them first.
	_, err = s.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}

func (s *sqliteStore) want(pragma, want string) error {
	var got string
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA "+pragma).Scan(&got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the file does not take PRAGMA %s, it stays %s: is it on a network file system?", pragma, got)
	}
	return nil
}

func (s *sqliteStore) makeTables(t *tx) error {
	var owner, version, tables int
	for pragma, value := range map[string]*int{"application_id": &owner, "user_version": &version} {
		if _, err := t.first([]any{value}, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	if _, err := t.first([]any{&tables}, "SELECT count(*) FROM sqlite_schema"); err != nil {
		return err
	}
	if owner != applicationID && (owner != 0 || tables > 0) {
		return errors.New("the file is another program's database: give a new path")
	}
	if done, err := there(version); done || err != nil {
		return err
	}
	if _, err := t.exec(sqliteSchema); err != nil {
		return err
	}
	_, err := t.exec(fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion))
	return err
}

// setClock sets c by the base of this start of the machine. If the file has no base for this start,
// setClock makes one. So all processes use one time even if the wall clock jumps.
func setClock(t *tx, c *clock) error {
	var boot string
	var base int64
	if _, err := t.first([]any{&boot, &base}, "SELECT boot, base FROM signforms_queue_clock"); err != nil {
		return err
	}
	if boot != "" && boot == c.bootID {
		c.set(base)
		return nil
	}
	base = millis(c.wall()) - c.boot().Milliseconds()
	c.set(base)
	_, err := t.exec("UPDATE signforms_queue_clock SET boot = $1, base = $2", c.bootID, base)
	return err
}

func (s *sqliteStore) reader() *sql.DB { return s.readers }

func (s *sqliteStore) text() *dialect { return &sqliteDialect }

func (s *sqliteStore) clock(context.Context, *clock) error { return nil }

func (s *sqliteStore) close() error {
	s.group.close()
	return s.closeFile()
}

func (s *sqliteStore) closeFile() error {
	var err error
	for _, stmt := range s.ready {
		err = errors.Join(err, stmt.Close())
	}
	if s.conn != nil {
		err = errors.Join(err, s.conn.Close())
	}
	return errors.Join(err, s.readers.Close(), s.writers.Close(), s.header.close())
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isShared reports whether an error is about the file. Other writes would then fail too.
func isShared(err error) bool {
	if errors.Is(err, errReplaced) {
		return true
	}
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

// identify returns the identities of the file and its log on the disk.
func identify(path string) (files [2]os.FileInfo, err error) {
	for i, suffix := range []string{"", "-wal"} {
		if files[i], err = os.Stat(path + suffix); err != nil {
			return files, err
		}
	}
	return files, nil
}

// intact returns an error if the file or its log on the disk is not the open one, or if its
// contents were replaced. SQLite does not detect this and continues to write. After the first
// error, intact always returns that error, because a later checkpoint may make the header look
// right.
func (s *sqliteStore) intact() error {
	if s.lost {
		return errReplaced
	}
	now, err := identify(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !(os.SameFile(now[0], s.file[0]) && os.SameFile(now[1], s.file[1])) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	version, err := s.header.version()
	if err != nil || version == s.seen {
		s.lost = errors.Is(err, errReplaced)
		return err
	}
	// A checkpoint may have written a newer version. No version on the disk is newer than the
	// version that SQLite reads now.
	var newest int32
	if err := s.conn.QueryRowContext(context.Background(), "PRAGMA schema_version").Scan(&newest); err != nil {
		return err
	}
	if version-s.seen > uint32(newest)-s.seen {
		s.lost = true
		return errReplaced
	}
	s.seen = version
	return nil
}

// stampEvery is how often a process that writes raises the version. So a backup that is older than
// stampEvery has an older version.
const stampEvery = time.Minute

// stamp begins a transaction: it checks the file and, at intervals, raises the version in the
// header of the file. It adds a number so that no other file has the same version. The version is
// SQLite's schema_version. A change of it only makes connections read the schema again.
func (s *sqliteStore) stamp() error {
	if s.file[0] != nil {
		if err := s.intact(); err != nil {
			return err
		}
	}
	if !s.stamped.IsZero() && time.Since(s.stamped) < stampEvery {
		return nil
	}
	ctx := context.Background()
	var version int32
	if err := s.conn.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version); err != nil {
		return err
	}
	if version < 1<<10 { // the version of a new file, or of a file of an older version of this package
		version += rand.Int32N(1 << 30)
	}
	version += 1 + rand.Int32N(1<<12) // it may wrap around after some years
	if _, err := s.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA schema_version = %d", version)); err != nil {
		return err
	}
	s.stamped = time.Now()
	return nil
}
