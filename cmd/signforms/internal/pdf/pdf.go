// Package pdf handles the PDFs of the sandbox. It checks uploaded PDFs and draws PDFs of its own. It finishes a signed
// document: it stamps the values on it, adds a certificate and seals the whole.
//
// Start with [Inspect], [Draw] and [Finish]. The package uses neither files nor the network. All functions are safe for
// concurrent use.
package pdf

import (
	"errors"
	"fmt"
)

// MaxSize is the size in bytes of the largest PDF that Inspect accepts: 20 MB.
const MaxSize = 20_000_000

// The limits of the files that Inspect accepts. They limit the work that one upload can cause.
const (
	maxPages    = 1000
	maxObjects  = 500_000
	maxUnpacked = 100_000_000 // bytes of all page contents and object streams together
	maxUpdate   = MaxSize     // bytes that are appended before the certificate
	maxSide     = 14_400      // units of the page, which are points without UserUnit
)

// The reasons why Inspect refuses a file. Each text is a sentence for the person who uploaded it.
var (
	ErrTooLarge    = fmt.Errorf("the file is larger than %d MB: upload a smaller one", MaxSize/1_000_000)
	ErrNotPDF      = errors.New("the file is not a PDF: it does not begin with %PDF")
	ErrEncrypted   = errors.New("the PDF is encrypted, perhaps only against changes: print it to a new PDF and upload that")
	ErrCertified   = errors.New("the PDF is certified, which forbids changes: print it to a new PDF and upload that")
	ErrDynamicForm = errors.New("the PDF is an XFA form, which only few programs show: print it to a new PDF and upload that")
	ErrDamaged     = errors.New("the PDF has errors, which viewers repair in different ways: print it to a new PDF and upload that")
	ErrCutShort    = errors.New("the PDF has no end: a part of it is missing, or other bytes follow it; upload it again, or print it to a new PDF")
	ErrManyPages   = errors.New("the PDF has more than 1,000 pages: upload a shorter one")
	ErrTooHeavy    = errors.New("the PDF takes too much memory or time to read: print it to a new PDF and upload that")
)

// errNoPage is the error of a mark on a page that the file does not have. Leaving the mark out
// would lose a signed value.
var errNoPage = errors.New("the PDF has too few pages")

// ErrBusy means that other files or other programs used all the processing time. The file itself
// may be valid.
var ErrBusy = errors.New("other PDFs are being read, or the machine is busy: try again")

var refusals = []error{ErrTooLarge, ErrNotPDF, ErrEncrypted, ErrCutShort, ErrManyPages, ErrTooHeavy, ErrDamaged, ErrCertified, ErrDynamicForm}

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

// Content is the result of Inspect.
type Content struct {
	Pages  []Page
	Signed bool // the file has a digital signature; see SignedNotice
}

// SignedNotice is a sentence for the person who uploaded a file with a digital signature.
const SignedNotice = "This file is signed already. Its bytes stay as they are: a signature that is valid now stays valid for them, and viewers may report that the file was changed after it."

// Inspect returns the content of a PDF. It returns one of this package's errors if the file cannot
// be used for signing; to find out, it finishes the file. A hostile file can make Inspect end the
// process, because memory or stack runs out.
func Inspect(data []byte) (content Content, err error) {
	defer damagedIfPanics(&err)
	if len(data) > MaxSize {
		return Content{}, ErrTooLarge
	}
	d, err := openDocument(data)
	if err != nil {
		return Content{}, err
	}
	content.Signed = d.isSigned(d.array(d.form().get("Fields")), "", map[int]bool{})
	if _, err := d.finish(nil, Certificate{}, nil); err != nil {
		return Content{}, err
	}
	for _, p := range d.pages {
		content.Pages = append(content.Pages, p.Page)
	}
	return content, nil
}

// damagedIfPanics turns a panic into an error, because filters of pdfcpu may panic on damaged streams.
func damagedIfPanics(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w (its parts do not fit together)", ErrDamaged)
	}
}
