// Package pdf handles the PDFs of the sandbox. It checks uploaded PDFs and draws PDFs of its own. It finishes a signed document:
// it stamps the values on it, adds a certificate and seals the whole.
//
// Start with [Inspect], [Draw] and [Finish]. The package uses neither files nor the network. All functions are safe for concurrent
// use.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/validate"
)

// MaxSize is the size in bytes of the largest PDF that Inspect accepts: 20 MB.
const MaxSize = 20_000_000

// maxPages is the largest number of pages that Inspect accepts. It bounds the work that one upload can cause.
const maxPages = 1000

// The reasons why Inspect refuses a file. Each text is a sentence for the person who uploaded it.
var (
	ErrTooLarge  = errors.New("the file is larger than 20 MB: upload a smaller one")
	ErrNotPDF    = errors.New("the file is not a PDF: it does not begin with %PDF")
	ErrEncrypted = errors.New("the PDF is encrypted: save a copy without a password and upload that")
	ErrDamaged   = errors.New("the PDF is damaged and cannot be read: print it to a new PDF and upload that")
	ErrManyPages = errors.New("the PDF has more than 1,000 pages: upload a shorter one")
)

// Page is the size of one page in points of 1/72 inch, after cropping and rotation, as a viewer shows it.
type Page struct {
	Width, Height float64
}

func init() {
	model.ConfigPath = "disable" // otherwise pdfcpu writes its configuration into the user's home
}

// Inspect returns the pages of a PDF. It fails with one of this package's errors when the file cannot be used for signing.
func Inspect(data []byte) ([]Page, error) {
	switch {
	case len(data) > MaxSize:
		return nil, ErrTooLarge
	case !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		return nil, ErrNotPDF
	}
	ctx, err := read(data)
	if err != nil {
		return nil, err
	}
	return pages(ctx)
}

// read parses and validates a PDF. It turns panics into errors, because pdfcpu panics on some damaged files.
func read(data []byte) (ctx *model.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			ctx, err = nil, fmt.Errorf("%w (%v)", ErrDamaged, p)
		}
	}()
	ctx, err = readValid(data)
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword), ctx != nil && ctx.Encrypt != nil:
		return nil, ErrEncrypted
	case err != nil:
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	case ctx.PageCount == 0:
		return nil, ErrDamaged
	case ctx.PageCount > maxPages:
		return nil, ErrManyPages
	}
	return ctx, nil
}

// readValid reads and validates a PDF. It does not use pdfcpu's package api, because the dependencies of that package add 50 ms to
// every start of the program.
func readValid(data []byte) (*model.Context, error) {
	ctx, err := pdfcpu.Read(bytes.NewReader(data), configuration())
	if err != nil {
		return nil, err
	}
	return ctx, validate.XRefTable(ctx)
}

// configuration makes pdfcpu write plain objects and an ordinary cross-reference table, so that the seal's placeholder can be found.
func configuration() *model.Configuration {
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationRelaxed
	conf.ValidateLinks = false
	conf.Optimize = false
	conf.OptimizeBeforeWriting = false
	conf.WriteObjectStream = false
	conf.WriteXRefStream = false
	return conf
}

func pages(ctx *model.Context) ([]Page, error) {
	bounds, err := ctx.PageBoundaries(nil)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	pages := make([]Page, len(bounds))
	for i, b := range bounds {
		box := b.CropBox()
		if box == nil || box.Width() <= 0 || box.Height() <= 0 {
			return nil, fmt.Errorf("%w (page %d has no size)", ErrDamaged, i+1)
		}
		pages[i] = Page{Width: box.Width(), Height: box.Height()}
		if int(math.Abs(float64(b.Rot)))%180 == 90 {
			pages[i] = Page{Width: box.Height(), Height: box.Width()}
		}
	}
	return pages, nil
}
