// Package pdf handles the PDFs of the sandbox. It checks uploaded PDFs and draws PDFs of its own. It finishes a signed
// document: it stamps the values on it, adds a certificate and seals the whole.
//
// Start with [Inspect], [Draw] and [Finish]. The package uses neither files nor the network. All functions are safe for
// concurrent use.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/validate"
)

// MaxSize is the size in bytes of the largest PDF that Inspect accepts: 20 MB.
const MaxSize = 20_000_000

// The bounds of what Inspect accepts. They bound the work that one upload can cause.
const (
	maxPages    = 1000
	maxObjects  = 500_000
	maxUnpacked = 100_000_000 // bytes of all streams together but pictures, whose pixels only viewers unpack
	maxSide     = 14_400      // points; the largest page of PDF without UserUnit
)

// The reasons why Inspect refuses a file. Each text is a sentence for the person who uploaded it.
var (
	ErrTooLarge  = fmt.Errorf("the file is larger than %d MB: upload a smaller one", MaxSize/1_000_000)
	ErrNotPDF    = errors.New("the file is not a PDF: it does not begin with %PDF")
	ErrEncrypted = errors.New("the PDF is encrypted: save a copy without a password and upload that")
	ErrDamaged   = errors.New("the PDF is damaged and cannot be read: print it to a new PDF and upload that")
	ErrCutShort  = errors.New("the PDF has no end: a part of it is missing, so upload it again")
	ErrManyPages = errors.New("the PDF has more than 1,000 pages: upload a shorter one")
	ErrTooHeavy  = errors.New("the PDF takes too much memory or time to read: print it to a new PDF and upload that")
)

// errNoPage is the error of a mark on a page that the file does not have. To leave it out would lose what somebody
// signed.
var errNoPage = errors.New("the PDF has too few pages")

// ErrBusy is no reason to refuse a file: other files, or other programs, took all the time there was.
var ErrBusy = errors.New("other PDFs are being read, or the machine is busy: try again")

var refusals = []error{ErrTooLarge, ErrNotPDF, ErrEncrypted, ErrCutShort, ErrManyPages, ErrTooHeavy, ErrDamaged}

// Refusal returns the reason of this package that an error matches, or nil.
func Refusal(err error) error {
	for _, reason := range refusals {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return nil
}

// RefusalOf returns the reason of this package with the text, or nil.
func RefusalOf(text string) error {
	for _, reason := range refusals {
		if reason.Error() == text {
			return reason
		}
	}
	return nil
}

// Page is the size of one page in points of 1/72 inch, after cropping and rotation, as a viewer shows it.
type Page struct {
	Width, Height float64
}

func init() {
	model.ConfigPath = "disable" // otherwise pdfcpu writes its configuration into the user's home
}

// Inspect returns the pages of a PDF. It fails with one of this package's errors when the file cannot be used for
// signing: it finishes the file to find out. A hostile file can make it end the process, for lack of memory or of
// stack.
func Inspect(data []byte) (pages []Page, err error) {
	defer damagedIfPanics(&err)
	if len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	ctx, sheets, err := assemble(data, nil, Certificate{})
	if err != nil {
		return nil, err
	}
	if err := write(ctx, io.Discard, time.Time{}); err != nil {
		return nil, refused(err)
	}
	for _, s := range sheets {
		pages = append(pages, s.Page)
	}
	return pages, nil
}

// damagedIfPanics turns a panic into an error, because pdfcpu panics on some damaged files.
func damagedIfPanics(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w (its parts do not fit together)", ErrDamaged)
	}
}

// refused gives an error of pdfcpu its reason.
func refused(err error) error {
	if Refusal(err) != nil || errors.Is(err, errNoPage) {
		return err
	}
	if errors.Is(err, filter.ErrDecodeLimitExceeded) {
		return fmt.Errorf("%w (%w)", ErrTooHeavy, err)
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

// tail is how many bytes may stand behind the last startxref of a file. Viewers look for it there.
const tail = 2048

// read parses and validates a PDF.
func read(data []byte) (*model.Context, error) {
	start := bytes.Index(data[:min(len(data), 1024)], []byte("%PDF-"))
	if start < 0 {
		return nil, ErrNotPDF
	}
	if !bytes.Contains(data[max(start, len(data)-tail):], []byte("startxref")) {
		return nil, ErrCutShort
	}
	ctx, err := readValid(data[start:])
	switch {
	case errors.Is(err, pdfcpu.ErrWrongPassword):
		return nil, ErrEncrypted
	case err != nil:
		return nil, refused(err)
	case ctx.PageCount == 0:
		return nil, ErrDamaged
	case ctx.PageCount > maxPages:
		return nil, ErrManyPages
	}
	return ctx, unpackable(ctx)
}

// readValid does the work of read. It does not use pdfcpu's package api, because the dependencies of that package add
// 50 ms to every start of the program.
func readValid(data []byte) (*model.Context, error) {
	ctx, err := pdfcpu.Read(bytes.NewReader(data), configuration())
	if err != nil {
		return nil, err
	}
	if ctx.Encrypt != nil {
		return nil, ErrEncrypted
	}
	if err := wholeStreams(ctx, data); err != nil {
		return nil, err
	}
	orderCorners(ctx)
	return ctx, validate.XRefTable(ctx)
}

// configuration makes pdfcpu write plain objects and an ordinary cross-reference table, so that the seal's placeholder
// can be found.
func configuration() *model.Configuration {
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode = model.ValidationRelaxed
	conf.ValidateLinks = false
	conf.CreateBookmarks = false // merging would add one for the certificate, and panics on some files with bookmarks of their own
	conf.Optimize = false
	conf.OptimizeBeforeWriting = false
	conf.WriteObjectStream = false
	conf.WriteXRefStream = false
	conf.Limits.MaxStreamBytes = MaxSize
	conf.Limits.MaxDecodeBytes = maxUnpacked
	conf.Limits.MaxObjectCount, conf.Limits.MaxXRefEntries = maxObjects, maxObjects
	return conf
}

// sheet is a page as it is stored.
type sheet struct {
	Page
	box    types.Rectangle // what a viewer shows of it
	rotate int             // clockwise: 0, 90, 180 or 270 degrees
}

func sheets(ctx *model.Context) ([]sheet, error) {
	bounds, err := ctx.PageBoundaries(nil)
	if err != nil {
		return nil, refused(err)
	}
	sheets := make([]sheet, len(bounds))
	for i, b := range bounds {
		box := shown(b.MediaBox(), b.CropBox())
		if box == nil || !isSide(box.Width()) || !isSide(box.Height()) {
			return nil, fmt.Errorf("%w (page %d is not between 0 and %d points wide and high)", ErrDamaged, i+1, maxSide)
		}
		s := sheet{Page: Page{Width: box.Width(), Height: box.Height()}, box: *box, rotate: (b.Rot%360 + 360) % 360}
		if s.rotate%180 == 90 {
			s.Page = Page{Width: box.Height(), Height: box.Width()}
		}
		sheets[i] = s
	}
	return sheets, nil
}
