package serve

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/internal/refserver"
)

// standing returns the PDF of a document as it stands: the finished file once it is made, and until then the original with all that
// was entered.
func (f *finisher) standing(ctx context.Context, d refserver.DocumentState) ([]byte, error) {
	if d.Finished == refserver.FileMade {
		return f.server.FinishedPDF(ctx, d.ID)
	}
	original, err := f.server.DocumentPDF(ctx, d.ID)
	if err == nil && original == nil {
		original, err = placeholder(d)
	}
	entered := marks(d)
	if err != nil || len(entered) == 0 {
		return original, err
	}
	key, err := keyOf(original, entered)
	if err != nil {
		return nil, err
	}
	if file := f.stamped.get(key); file != nil {
		return file, nil
	}
	file, err := f.pdfs.Stamp(ctx, original, entered)
	if err == nil {
		f.stamped.add(key, file)
	}
	return file, err
}

// fileKey is a hash of what a file is made of.
type fileKey [sha256.Size]byte

func keyOf(original []byte, marks []pdf.Mark) (key fileKey, err error) {
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(marks); err != nil {
		return key, err
	}
	h.Write(original)
	return fileKey(h.Sum(nil)), nil
}

// maxKept is how many bytes of stamped files are kept together.
const maxKept = 32 << 20

// keptFiles keeps the files that were stamped last, because each view of a signing page asks for one.
type keptFiles struct {
	mu   sync.Mutex
	all  []keptFile // the oldest first
	size int
}

type keptFile struct {
	key  fileKey
	file []byte
}

func (k *keptFiles) get(key fileKey) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.all {
		if one.key == key {
			return one.file
		}
	}
	return nil
}

func (k *keptFiles) add(key fileKey, file []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, keptFile{key, file})
	k.size += len(file)
	for k.size > maxKept {
		k.size -= len(k.all[0].file)
		k.all[0] = keptFile{}
		k.all = k.all[1:]
	}
}
