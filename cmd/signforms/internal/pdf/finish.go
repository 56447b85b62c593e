package pdf

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// Finish makes the file of a completed document: the original with the marks on it, then the pages of the certificate,
// sealed as a whole. [Inspect] must accept the original. Store the result: it differs in each call, because a seal
// contains random numbers.
func Finish(original []byte, marks []Mark, cert Certificate, sealer *Sealer) (finished []byte, err error) {
	defer damagedIfPanics(&err)
	ctx, _, err := assemble(original, marks, cert)
	if err != nil {
		return nil, err
	}
	return sealer.seal(ctx, cert.Finished)
}

// Stamp returns the original with the marks on it, as Finish draws them, without footer, certificate and seal.
// [Inspect] must accept the original.
func Stamp(original []byte, marks []Mark) (stamped []byte, err error) {
	defer damagedIfPanics(&err)
	ctx, err := read(original)
	if err != nil {
		return nil, err
	}
	sheets, err := sheets(ctx)
	if err != nil {
		return nil, err
	}
	if err := stampInto(ctx, sheets, marks, ""); err != nil {
		return nil, refused(err)
	}
	var out bytes.Buffer
	if err := writePlain(ctx, &out); err != nil {
		return nil, refused(err)
	}
	return out.Bytes(), nil
}

// assemble puts together all of a finished file but the seal.
func assemble(original []byte, marks []Mark, cert Certificate) (*model.Context, []sheet, error) {
	ctx, err := read(original)
	if err != nil {
		return nil, nil, err
	}
	sheets, err := sheets(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := stampInto(ctx, sheets, marks, "Document "+cert.DocumentID); err != nil {
		return nil, nil, refused(err)
	}
	cert.stamped, cert.Original = marks, original
	if err := appendCertificate(ctx, cert); err != nil {
		return nil, nil, fmt.Errorf("adding the certificate: %w", refused(err))
	}
	return ctx, sheets, nil
}

func appendCertificate(ctx *model.Context, cert Certificate) error {
	drawn, err := cert.draw()
	if err != nil {
		return err
	}
	other, err := readValid(drawn)
	if err != nil {
		return err
	}
	return pdfcpu.MergeXRefTables("", other, ctx, false, false)
}

// pdfDate formats a time as PDF does.
func pdfDate(t time.Time) string { return t.UTC().Format("D:20060102150405Z") }
