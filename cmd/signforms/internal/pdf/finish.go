package pdf

import (
	"fmt"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// Finish makes the file of a completed document: the original with the marks on it, then the pages of the certificate, sealed as a
// whole. [Inspect] must accept the original. Store the result: it differs in each call, because a seal contains random numbers.
func Finish(original []byte, marks []Mark, cert Certificate, sealer *Sealer) (finished []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			finished, err = nil, fmt.Errorf("pdf: finishing: %v", p)
		}
	}()
	ctx, removed, err := read(original)
	if err != nil {
		return nil, err
	}
	sheets, err := sheets(ctx)
	if err != nil {
		return nil, err
	}
	cert.Original, cert.removed = original, removed
	if err := stampInto(ctx, sheets, marks, "Document "+cert.DocumentID); err != nil {
		return nil, fmt.Errorf("pdf: stamping: %w", err)
	}
	if err := appendCertificate(ctx, cert); err != nil {
		return nil, fmt.Errorf("pdf: adding the certificate: %w", err)
	}
	return sealer.seal(ctx, cert.Finished)
}

func appendCertificate(ctx *model.Context, cert Certificate) error {
	drawn, err := cert.draw()
	if err != nil {
		return err
	}
	other, _, err := readValid(drawn)
	if err != nil {
		return err
	}
	return pdfcpu.MergeXRefTables("", other, ctx, false, false)
}

// pdfDate formats a time as PDF does.
func pdfDate(t time.Time) string { return t.UTC().Format("D:20060102150405Z") }
