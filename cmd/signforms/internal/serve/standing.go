package serve

import (
	"context"

	"github.com/signforms/signforms-go/internal/refserver"
)

// standing returns the PDF of a document as it stands: the finished file once it is completed, and until then the original with all that
// was entered.
func (f *finisher) standing(ctx context.Context, d refserver.DocumentState) ([]byte, error) {
	if !d.CompletedAt.IsZero() {
		if file, err := f.server.FinishedPDF(ctx, d.ID); err == nil && file != nil {
			return file, nil
		}
	}
	original, err := f.server.DocumentPDF(ctx, d.ID)
	if err == nil && original == nil {
		original, err = placeholder(d)
	}
	entered := marks(d)
	if err != nil || len(entered) == 0 {
		return original, err
	}
	return f.pdfs.Stamp(ctx, original, entered)
}
