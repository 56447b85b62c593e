package refserver

import (
	"context"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Storage keeps the state of a server over restarts. The server keeps all records in memory. It
// loads the records at its start, and saves each change before anybody sees the change.
//
// The server makes one call of Load or Save at a time, and may call Blob concurrently with
// everything.
type Storage interface {
	// Load calls yield with every record except blobs, in any order. If yield returns an error,
	// Load returns it at once. Load must not use a record's Data after it has passed the record to
	// yield.
	Load(ctx context.Context, yield func(Record) error) error

	// Save adds, replaces and deletes all of these records or none, and returns when the change is
	// durable. No two of the records have the same Kind and ID. Their Data may be changed after
	// Save has returned.
	//
	// An error that matches [ErrRolledBack] means that nothing was changed. After any other error
	// the service stops, and Save is not called again.
	//
	// If ctx has ended already, Save changes nothing. If ctx ends later, Save may continue for some
	// seconds, or return an error.
	Save(ctx context.Context, records []Record) error

	// Blob returns the content of the blob with this hash, which was saved as a record of the kind [BlobKind].
	Blob(ctx context.Context, hash string) ([]byte, error)
}

// Record is one piece of the server's state, for a [Storage] to keep. Its Data is JSON, except for
// blobs. Only the server reads the JSON, which contains a version so that a newer server can read
// it.
type Record struct {
	Kind string // lower-case letters and underscores, beginning with a letter; there are fewer than 20 kinds
	ID   string // not empty, fewer than 200 bytes, unique among the records of its kind
	Data []byte // nil: delete the record, if there is one
}

// BlobKind is the kind of records that hold a file. Data is the file's content, and ID its SHA-256
// in 64 lower-case hexadecimal digits. Load leaves these records out because they may be large.
const BlobKind = "blob"

// ErrRolledBack is matched by an error of [Storage].Save if nothing was changed, as on a full disk.
var ErrRolledBack = store.ErrRolledBack

// Keep limits how many requests, deliveries, messages and audit entries a server keeps. A zero
// field takes its default. Deliveries that are pending or being sent are kept whatever the number.
type Keep struct {
	Requests   int // newest API requests; default 100,000
	Deliveries int // newest webhook deliveries; default 20,000
	Messages   int // newest messages; default 100,000
	Audit      int // newest audit entries; default 1,000,000
}
