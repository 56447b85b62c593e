package sqlitestore_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestStorage checks that the store does what [refserver.Storage] says.
func TestStorage(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *storageTest)
	}{
		{"empty at first", emptyAtFirst},
		{"what was saved is loaded", savedIsLoaded},
		{"deleted records are gone", deletedIsGone},
		{"odd ids and contents", oddContents},
		{"many records in one save", manyRecords},
		{"blobs are read, not loaded", blobsAreRead},
		{"Data may be changed after Save", dataIsCopied},
		{"an error of yield ends Load", yieldEndsLoad},
		{"an ended context ends Load and Save", contextEnds},
		{"a context that ends during Save", contextEndsDuring},
		{"any order of saves", anyOrder},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := newPath(t)
			s := &storageTest{T: t, storage: open(t, path)}
			s.reopen = func() refserver.Storage {
				require.NoError(t, s.storage.(*sqlitestore.Store).Close())
				return open(t, path)
			}
			c.test(s)
		})
	}
}

type storageTest struct {
	*testing.T
	storage refserver.Storage
	reopen  func() refserver.Storage
}

func (t *storageTest) save(records ...refserver.Record) {
	t.Helper()
	if err := t.storage.Save(t.Context(), records); err != nil {
		t.Fatalf("Save = %v", err)
	}
}

// holds checks what is loaded, from the storage as it is and after it was opened again.
func (t *storageTest) holds(want map[string]string) {
	t.Helper()
	t.loads(want)
	t.storage = t.reopen()
	t.loads(want)
}

func (t *storageTest) loads(want map[string]string) {
	t.Helper()
	got := t.load()
	for name, data := range want {
		if got, ok := got[name]; !ok || got != data {
			t.Fatalf("Load passed %s as %.100q (there: %v), want %.100q", name, got, ok, data)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("Load passed %d records, want %d", len(got), len(want))
	}
}

// has reports whether these records are loaded, and no others.
func (t *storageTest) has(want map[string]string) bool {
	t.Helper()
	return maps.Equal(t.load(), want)
}

func (t *storageTest) load() map[string]string {
	t.Helper()
	got := map[string]string{}
	err := t.storage.Load(t.Context(), func(r refserver.Record) error {
		name := r.Kind + "/" + r.ID
		if _, twice := got[name]; twice {
			t.Errorf("Load passed %s twice", name)
		}
		got[name] = string(r.Data)
		return nil
	})
	if err != nil {
		t.Fatalf("Load = %v", err)
	}
	return got
}

func emptyAtFirst(t *storageTest) { t.holds(nil) }

func savedIsLoaded(t *storageTest) {
	t.save(record("document", "a", "1"), record("document", "b", "2"), record("form", "a", "3"))
	t.holds(map[string]string{"document/a": "1", "document/b": "2", "form/a": "3"})
	t.save(record("document", "b", "2, changed"))
	t.save(record("form_link", "c", "4"))
	t.holds(map[string]string{"document/a": "1", "document/b": "2, changed", "form/a": "3", "form_link/c": "4"})
}

func deletedIsGone(t *storageTest) {
	t.save(record("document", "a", "1"), record("form", "a", "2"))
	t.save(refserver.Record{Kind: "document", ID: "a"}, refserver.Record{Kind: "document", ID: "never there"},
		refserver.Record{Kind: "never_there", ID: "a"})
	t.holds(map[string]string{"form/a": "2"})
	t.save(record("document", "a", "again"))
	t.holds(map[string]string{"form/a": "2", "document/a": "again"})
}

func oddContents(t *storageTest) {
	want := map[string]string{}
	for i, text := range []string{"a'b\"c", "%_", "ä €\u2028", "a\x00b", strings.Repeat("x", 199), "A", "a", "-1", "1e3", "null"} {
		t.save(record("document", text, text), record("form", fmt.Sprint(i), strings.Repeat(text, 1000)))
		want["document/"+text], want["form/"+fmt.Sprint(i)] = text, strings.Repeat(text, 1000)
	}
	large := strings.Repeat("0123456789abcdef", 1<<16)
	t.save(record("document", "large", large))
	want["document/large"] = large
	t.holds(want)
}

func manyRecords(t *storageTest) {
	var records []refserver.Record
	want := map[string]string{}
	for i := range 5000 {
		id := fmt.Sprint(i)
		records = append(records, record("document", id, id))
		want["document/"+id] = id
	}
	t.save(records...)
	t.holds(want)
	t.save()
	t.loads(want)
}

func blobsAreRead(t *storageTest) {
	content := bytes.Repeat([]byte("a page\x00"), 1<<18)
	blob := refserver.Record{Kind: refserver.BlobKind, ID: hash(content), Data: content}
	empty := refserver.Record{Kind: refserver.BlobKind, ID: hash(nil), Data: []byte{}}
	t.save(record("document", "a", "1"), blob, empty)
	t.holds(map[string]string{"document/a": "1"})
	t.reads(blob)
	t.reads(empty)
	t.save(blob) // once more
	t.reads(blob)
	t.save(refserver.Record{Kind: refserver.BlobKind, ID: blob.ID})
	t.storage = t.reopen()
	if _, err := t.storage.Blob(t.Context(), blob.ID); err == nil {
		t.Fatal("Blob of what was deleted = nil, want an error")
	}
	t.reads(empty)
}

func (t *storageTest) reads(blob refserver.Record) {
	t.Helper()
	got, err := t.storage.Blob(t.Context(), blob.ID)
	if err != nil || !bytes.Equal(got, blob.Data) {
		t.Fatalf("Blob = %d bytes, %v, want the %d that were saved", len(got), err, len(blob.Data))
	}
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func dataIsCopied(t *storageTest) {
	r := record("document", "a", "before")
	t.save(r)
	copy(r.Data, "after!")
	t.holds(map[string]string{"document/a": "before"})
}

func yieldEndsLoad(t *storageTest) {
	t.save(record("document", "a", "1"), record("document", "b", "2"), record("form", "a", "3"))
	end, calls := errors.New("enough"), 0
	err := t.storage.Load(t.Context(), func(refserver.Record) error {
		calls++
		return end
	})
	if !errors.Is(err, end) || calls != 1 {
		t.Fatalf("Load = %v after %d calls, want yield's error after the first", err, calls)
	}
	t.loads(map[string]string{"document/a": "1", "document/b": "2", "form/a": "3"})
}

// anyOrder saves at random, beside a model of what is there.
func anyOrder(t *storageTest) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	want := map[string]string{}
	for i := range 200 {
		batch := map[string]refserver.Record{}
		for range 1 + rng.IntN(8) {
			r := refserver.Record{Kind: []string{"document", "form", "audit"}[rng.IntN(3)], ID: fmt.Sprint(rng.IntN(40))}
			if rng.IntN(3) > 0 {
				r.Data = fmt.Append(nil, i, rng.Uint64())
			}
			batch[r.Kind+"/"+r.ID] = r
		}
		var records []refserver.Record
		for name, r := range batch {
			records = append(records, r)
			if delete(want, name); r.Data != nil {
				want[name] = string(r.Data)
			}
		}
		t.save(records...)
	}
	t.holds(want)
}

// contextEnds gives Load and Save a context that has ended.
func contextEnds(t *storageTest) {
	t.save(record("document", "a", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := t.storage.Load(ctx, func(refserver.Record) error { return nil }); err == nil {
		t.Error("Load with an ended context = nil, want an error")
	}
	err := t.storage.Save(ctx, []refserver.Record{record("document", "a", "2")})
	if !errors.Is(err, refserver.ErrRolledBack) {
		t.Errorf("Save with an ended context = %v, want an error that says that nothing was changed", err)
	}
	t.holds(map[string]string{"document/a": "1"})
}

// contextEndsDuring ends a Save's context at the moments at which the storage looks at it, one after the other. Whatever the Save
// makes of it: all records are there or none, and its error says which. The next Save is not disturbed.
func contextEndsDuring(t *storageTest) {
	saved := func(v string) map[string]string {
		return map[string]string{"document/a": v, "document/b": v, "form/a": v}
	}
	save := func(ctx context.Context, v string) error {
		return t.storage.Save(ctx, []refserver.Record{record("document", "a", v), record("document", "b", v), record("form", "a", v)})
	}
	const looks = 20
	for n := range looks {
		before, after := fmt.Sprint("before ", n), fmt.Sprint("after ", n)
		if err := save(t.Context(), before); err != nil {
			t.Fatalf("Save = %v after one whose context had ended", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err := save(&lookedAt{Context: ctx, cancel: cancel, most: int64(n + 1)}, after)
		cancel()
		switch {
		case err == nil:
			t.loads(saved(after))
		case errors.Is(err, refserver.ErrRolledBack):
			t.loads(saved(before))
		case !t.has(saved(after)):
			t.loads(saved(before))
		}
	}
}

// lookedAt is a context that ends after it was looked at so often.
type lookedAt struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
	most   int64
}

func (c *lookedAt) Err() error {
	defer c.look()
	return c.Context.Err()
}

func (c *lookedAt) Done() <-chan struct{} {
	defer c.look()
	return c.Context.Done()
}

func (c *lookedAt) look() {
	if c.looks.Add(1) == c.most {
		c.cancel()
	}
}
