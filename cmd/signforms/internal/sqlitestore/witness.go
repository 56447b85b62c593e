package sqlitestore

import (
	"fmt"
	"io"
	"os"
)

// witness is what the lock file says about the last Save. It is outside the data file and its WAL, so it shows that Saves are missing from
// them, or that they do not belong together.
type witness struct {
	saves        int64  // number of the last Save
	seen, newest uint32 // SQLite's schema version in the data file is from seen on, and at most slack above newest
}

// The lock file has the id of its process on the first line and the witness on the second. Both have a fixed length.
const (
	processLine = "%-20d\n"
	witnessLine = "saves %19d versions %10d %10d\n"
	witnessAt   = 21
)

func (w witness) write(lock *os.File) error {
	_, err := fmt.Fprintf(io.NewOffsetWriter(lock, witnessAt), witnessLine, w.saves, w.seen, w.newest)
	return err
}

// readWitness returns nil when a lock file has none: it is new or an older version's.
func readWitness(lock io.ReaderAt) *witness {
	w := &witness{}
	line := io.NewSectionReader(lock, witnessAt, 128)
	if n, _ := fmt.Fscanf(line, witnessLine, &w.saves, &w.seen, &w.newest); n < 3 {
		return nil
	}
	return w
}

// isOf reports whether a data file with that schema version can be the one of the last Save, or a copy from the minute before.
func (w *witness) isOf(version uint32) bool { return version-w.seen <= w.newest-w.seen+slack }
