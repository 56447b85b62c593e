package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/queue"
	"github.com/signforms/signforms-go/webhook"
)

// maxPDF bounds a download, in bytes.
const maxPDF = 100 << 20

// archive keeps finished PDFs in a folder, one for each document.
type archive struct {
	dir    string
	client *http.Client
	hosts  []string
	max    int64
}

// newArchive makes the folder. PDFs are downloaded only from hosts. A link in an event is untrusted data, and may point into your
// own network.
func newArchive(dir string, hosts []string) (*archive, error) {
	for i, host := range hosts {
		hosts[i] = strings.ToLower(strings.TrimSpace(host))
		if hosts[i] == "" {
			return nil, errors.New("archive: no hosts: name those that the service's links to PDFs have, with -hosts")
		}
	}
	a := &archive{dir: dir, hosts: hosts, max: maxPDF}
	// A separate client: it has no API key and no cookies, and follows redirects only to allowed hosts.
	a.client = &http.Client{CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 {
			return errRedirects
		}
		return a.check(r.URL)
	}}
	return a, os.MkdirAll(dir, 0o700)
}

var errRedirects = webhook.Permanent(errors.New("archive: too many redirects"))

func (a *archive) funcs() webhook.Funcs {
	return webhook.Funcs{
		SignatureCompleted: func(ctx context.Context, e *webhook.SignatureCompleted) error {
			return a.save(ctx, "document-"+e.DocumentID, e.FinishedPDFURL)
		},
		// Events of a template carry the template's id, not the document's. The line is different for each document.
		TemplateResponse: func(ctx context.Context, e *webhook.TemplateResponse) error {
			entry, _ := queue.EntryFrom(ctx)
			return a.save(ctx, entry.Line, e.FinishedPDFURL)
		},
		FormResponse: func(ctx context.Context, e *webhook.FormResponse) error {
			if e.FinishedPDFURL == "" {
				return nil // a form without a PDF
			}
			return a.save(ctx, "response-"+e.FormResponseID, e.FinishedPDFURL)
		},
	}
}

// save downloads the PDF unless it exists. Errors that a retry cannot cure are permanent.
func (a *archive) save(ctx context.Context, name, link string) error {
	path := a.path(name)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	target, err := url.Parse(link)
	if err != nil {
		return webhook.Permanent(errors.New("archive: the event's link is not a URL"))
	}
	if err := a.check(target); err != nil {
		return err
	}
	pdf, err := a.download(ctx, target)
	if err != nil {
		return err
	}
	return write(path, pdf)
}

// path returns the path of a PDF. No id can make it point outside the folder.
func (a *archive) path(name string) string {
	plain := func(r rune) bool { return strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) }
	if len(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return filepath.Join(a.dir, name+".pdf")
}

// check refuses links that are not HTTPS links to one of the hosts. Its error does not quote the link, because anyone with the link
// can read the document.
func (a *archive) check(u *url.URL) error {
	if u.Scheme != "https" || u.User != nil || !slices.Contains(a.hosts, strings.ToLower(u.Host)) {
		return webhook.Permanent(fmt.Errorf("archive: a link to %q is not allowed: it must be https, to one of the hosts of -hosts", u.Host))
	}
	return nil
}

func (a *archive) download(ctx context.Context, target *url.URL) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.client.Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		err := fmt.Errorf("archive: the download was answered %d", resp.StatusCode)
		if seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")); seconds > 0 {
			return nil, queue.RetryAfter(err, min(time.Duration(seconds)*time.Second, time.Hour))
		}
		return nil, err
	}
	pdf, err := io.ReadAll(io.LimitReader(resp.Body, a.max+1))
	switch {
	case err != nil:
		return nil, withoutURL(err)
	case int64(len(pdf)) > a.max:
		return nil, webhook.Permanent(fmt.Errorf("archive: the PDF has more than %d bytes", a.max))
	case !bytes.HasPrefix(pdf, []byte("%PDF-")):
		return nil, errors.New("archive: what was downloaded is not a PDF") // it may be a page that says "not ready yet"
	}
	return pdf, nil
}

// withoutURL removes the link from an error of net/http.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// write makes the file appear complete or not at all. If several processes write it, the first one wins.
func write(path string, pdf []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(pdf)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
