package signformstest

import (
	"context"
	"errors"
)

// Storage keeps the state of a server over restarts. The server keeps all records in memory and reads them from there; a
// Storage is asked for them once, at the start, and told of each change before anybody sees it.
//
// The server calls Save one at a time and never beside Load. Blob is called beside everything. Package storagetest checks an
// implementation.
type Storage interface {
	// Load calls yield with every record but blobs, in any order, and returns yield's error at once when there is one. The
	// Data is yield's from then on. Load is called again when it is not known whether a Save was carried out.
	Load(ctx context.Context, yield func(Record) error) error

	// Save adds, replaces and deletes all of these records or none, and returns when that is durable. They are those of one change,
	// or of several that came together. No two of them have the same Kind and ID. An error says that nothing was changed, unless it matches [ErrSaveUnknown].
	Save(ctx context.Context, records []Record) error

	// Blob returns the content of the blob with this hash, which was saved as a record of the kind [BlobKind].
	Blob(ctx context.Context, hash string) ([]byte, error)
}

// Record is one piece of the server's state, for a [Storage] to keep. What Data holds is the server's business: it is
// JSON, except for blobs, and carries a version, so that a newer server can read it.
type Record struct {
	Kind string // lower-case letters and underscores, beginning with a letter; there are less than 20 kinds
	ID   string // not empty, less than 200 bytes, unique in its kind
	Data []byte // nil: delete the record, if there is one
}

// BlobKind is the kind of records whose Data is the content of a file, as it is, and whose ID is the SHA-256 of that in 64
// lower-case hexadecimal digits. Load leaves them out, as they may be large.
const BlobKind = "blob"

// ErrSaveUnknown is what an error of [Storage].Save matches, by errors.Is, when the records may have been saved all the same: when a
// connection broke during the commit, for one. The server then changes nothing until it has loaded its state again.
var ErrSaveUnknown = errors.New("the records may have been saved")

// Keep is how much a server keeps of what grows with use. Zero fields take the defaults. Deliveries that are pending or
// under way are kept whatever the number.
type Keep struct {
	Requests   int // newest API requests; default 100,000
	Deliveries int // newest webhook deliveries; default 20,000
	Messages   int // newest messages; default 100,000
	Audit      int // newest audit entries; default 1,000,000
}
