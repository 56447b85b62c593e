package refserver

import (
	"context"

	"github.com/signforms/signforms-go/internal/refserver/store"
)

// Storage keeps the state of a server over restarts. The server keeps all records in memory. It loads them at its
// start, and saves each change before anybody sees it.
//
// The server makes one call of Load or Save at a time, and may call Blob concurrently with everything.
type Storage interface {
	// Load calls yield with every record but blobs, in any order. When yield returns an error, Load returns it at once.
	// Load must not use a record's Data after yield got it.
	Load(ctx context.Context, yield func(Record) error) error

	// Save adds, replaces and deletes all of these records or none, and returns when that is durable. No two of them have
	// the same Kind and ID. Their Data may be changed once Save has returned. An error that matches [ErrRolledBack] means
	// that nothing was changed. After any other the service stops, and Save is not called again. With an ended context
	// Save changes nothing; when the context ends later, it may go on, for seconds at most, or end with an error.
	Save(ctx context.Context, records []Record) error

	// Blob returns the content of the blob with this hash, which was saved as a record of the kind [BlobKind].
	Blob(ctx context.Context, hash string) ([]byte, error)
}

// Record is one piece of the server's state, for a [Storage] to keep. Its Data is JSON, except for blobs, in a form
// that only the server reads. It has a version, so that a newer server can read it.
type Record struct {
	Kind string // lower-case letters and underscores, beginning with a letter; there are less than 20 kinds
	ID   string // not empty, less than 200 bytes, unique in its kind
	Data []byte // nil: delete the record, if there is one
}

// BlobKind is the kind of records that hold a file. Data is the file's content, and ID its SHA-256 in 64 lower-case
// hexadecimal digits. Load leaves them out because they may be large.
const BlobKind = "blob"

// ErrRolledBack is matched by an error of [Storage].Save when nothing was changed, as on a full disk.
var ErrRolledBack = store.ErrRolledBack

// Keep is how much a server keeps of what grows with use. Zero fields take the defaults. Deliveries that are pending or
// under way are kept whatever the number.
type Keep struct {
	Requests   int // newest API requests; default 100,000
	Deliveries int // newest webhook deliveries; default 20,000
	Messages   int // newest messages; default 100,000
	Audit      int // newest audit entries; default 1,000,000
}
