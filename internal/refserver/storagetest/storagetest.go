package storagetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/signforms/signforms-go/internal/refserver"
)

// Run checks that a storage does what the interface says. open returns an empty storage for each subtest, and a function that
// opens what that has saved once more, as after a restart, and returns it in place of the first. What they open is closed with
// the subtest.
func Run(t *testing.T, open func(t *testing.T) (storage refserver.Storage, reopen func() refserver.Storage)) {
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
			s := &storageTest{T: t}
			s.storage, s.reopen = open(t)
			c.test(s)
		})
	}
}

type storageTest struct {
	*testing.T
	storage refserver.Storage
	reopen  func() refserver.Storage
}

func record(kind, id, data string) refserver.Record {
	return refserver.Record{Kind: kind, ID: id, Data: []byte(data)}
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
