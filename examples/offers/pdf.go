package offers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// pdfs has the hosts from which PDFs may be downloaded.
type pdfs struct {
	Hosts []string          // such as "https://files.example.com"
	files http.RoundTripper // nil: http.DefaultTransport
}

// maxPDF is the maximum size of a download, in bytes.
const maxPDF = 100 << 20

// KeepPDFs downloads the PDFs of signed offers into their rows. Call it at intervals: a PDF that
// cannot be downloaded is tried again. KeepPDFs requests the link again each time, because links
// expire.
func (a *Offers) KeepPDFs(ctx context.Context) error {
	signed, err := a.Find(ctx, "status IN ('SIGNED', 'PAID') AND pdf IS NULL")
	for _, o := range signed {
		r, pdfErr := a.client.Respondents.Get(ctx, o.Document)
		if pdfErr == nil {
			var pdf []byte
			if pdf, pdfErr = a.download(ctx, r.FinishedPDFURL); pdfErr == nil {
				_, pdfErr = a.db.ExecContext(ctx, "UPDATE offers SET pdf = ? WHERE ref = ?", pdf, o.Ref)
			}
		}
		if pdfErr != nil {
			err = errors.Join(err, fmt.Errorf("the PDF of %s: %w", o.Ref, pdfErr))
		}
	}
	return err
}

// PDF returns the signed PDF of an offer. The error is sql.ErrNoRows if there is none yet.
func (a *Offers) PDF(ctx context.Context, ref string) (pdf []byte, err error) {
	err = a.db.QueryRowContext(ctx, "SELECT pdf FROM offers WHERE ref = ? AND pdf IS NOT NULL", ref).Scan(&pdf)
	return pdf, err
}

var errNotListed = errors.New("the link to the PDF, or what it redirects to, does not begin with one of Hosts")

// listed refuses a request to a host that is not in Hosts, and too many redirects. A link is
// untrusted data, and may point into your own network.
func (a *Offers) listed(r *http.Request, before []*http.Request) error {
	allowed := func(host string) bool { return strings.HasPrefix(r.URL.String(), strings.TrimRight(host, "/")+"/") }
	if len(before) > 5 || !slices.ContainsFunc(a.Hosts, allowed) {
		return errNotListed
	}
	return nil
}

// bounded reports whether a response declares the end of its body, so that reading a body that was
// cut off returns an error.
func bounded(answer *http.Response) bool {
	return answer.ContentLength >= 0 || len(answer.TransferEncoding) > 0 || answer.Uncompressed || answer.ProtoMajor > 1
}

// download downloads a whole PDF from one of the hosts. The response declares the end of its body,
// and the PDF has a mark at its end. Its errors do not quote the link, because anyone with the link
// can read the document.
func (a *Offers) download(ctx context.Context, link string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil || a.listed(r, nil) != nil {
		return nil, errNotListed
	}
	client := http.Client{Transport: a.files, CheckRedirect: a.listed} // has no API key and no cookies
	answer, err := client.Do(r)
	if err != nil {
		return nil, errors.Unwrap(err) // removes the link from the error
	}
	defer answer.Body.Close()
	pdf, err := io.ReadAll(io.LimitReader(answer.Body, maxPDF+1))
	whole := bounded(answer) && bytes.HasPrefix(pdf, []byte("%PDF-")) && bytes.Contains(pdf[max(0, len(pdf)-1024):], []byte("%%EOF"))
	if err == nil && (answer.StatusCode != http.StatusOK || len(pdf) > maxPDF || !whole) {
		err = fmt.Errorf("the download was answered %d, with %d bytes that are not a whole PDF", answer.StatusCode, len(pdf))
	}
	return pdf, err
}
