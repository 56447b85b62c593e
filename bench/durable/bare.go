package durable

import (
	"database/sql"
	"io"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"
)

// bare only inserts bodies into a table. It does not verify, decode or recognise repeats. Up to 128 waiting writes share a
// transaction.
type bare struct {
	waiting chan insert
	ended   chan struct{}
	db      *sql.DB
}

type insert struct {
	body []byte
	done chan error
}

func tempDir(dir string) string {
	made, err := os.MkdirTemp(dir, "row")
	if err != nil {
		panic(err)
	}
	return made
}

func openBare(dir string) (http.Handler, func() error, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bare.db")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(2)&_pragma=secure_delete(1)&_pragma=cache_size(-16000)")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL)"); err != nil {
		return nil, nil, err
	}
	statement, err := db.Prepare("INSERT INTO bodies (body) VALUES (?)")
	if err != nil {
		return nil, nil, err
	}
	b := &bare{waiting: make(chan insert, 128), ended: make(chan struct{}), db: db}
	go b.run(statement)
	return b, func() error {
		close(b.waiting)
		<-b.ended
		return db.Close()
	}, nil
}

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		one := insert{body, make(chan error, 1)}
		b.waiting <- one
		err = <-one.done
	}
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"status":"ok"}`)
}

func (b *bare) run(statement *sql.Stmt) {
	defer close(b.ended)
	for one := range b.waiting {
		batch := []insert{one}
	gather:
		for len(batch) < 128 {
			select {
			case more, ok := <-b.waiting:
				if !ok {
					break gather
				}
				batch = append(batch, more)
			default:
				break gather
			}
		}
		err := b.commit(statement, batch)
		for _, done := range batch {
			done.done <- err
		}
	}
}

func (b *bare) commit(statement *sql.Stmt, batch []insert) error {
	tx, err := b.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	inTx := tx.Stmt(statement)
	for _, one := range batch {
		if _, err := inTx.Exec(one.body); err != nil {
			return err
		}
	}
	return tx.Commit()
}
