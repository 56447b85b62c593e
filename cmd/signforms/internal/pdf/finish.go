package pdf

import (
	"time"
	"unicode/utf8"
)

// Finish makes the file of a completed document. The file has the bytes of the original, followed
// by an update with the marks, the pages of the certificate, and a seal of the whole file.
// [Inspect] must accept the original. Store the result, because it differs in each call: a seal
// contains random numbers.
func Finish(original []byte, marks []Mark, cert Certificate, sealer *Sealer) (finished []byte, err error) {
	defer damagedIfPanics(&err)
	d, err := openDocument(original)
	if err != nil {
		return nil, err
	}
	return d.finish(marks, cert, sealer)
}

// Stamp returns the original with the marks on it, as Finish draws them, without footer, certificate and seal.
// [Inspect] must accept the original.
func Stamp(original []byte, marks []Mark) (stamped []byte, err error) {
	defer damagedIfPanics(&err)
	d, err := openDocument(original)
	if err != nil || len(marks) == 0 {
		return original, err
	}
	u := newUpdate(d)
	drawing, err := u.draw(marks, "", nil)
	if err != nil {
		return nil, err
	}
	u.layOver(drawing, marks)
	u.put(u.catalogAt, u.permissions().text())
	u.end()
	return u.out, u.err
}

// TooLong describes a text that does not fit into its box.
type TooLong struct {
	Text string
	Fits int // how many of its characters fit
}

// FindTooLong returns the first text of marks that does not fit into its box in the smallest size, or nil.
func FindTooLong(original []byte, marks []Mark) (found *TooLong, err error) {
	defer damagedIfPanics(&err)
	d, err := openDocument(original)
	if err != nil {
		return nil, err
	}
	c := newCanvas()
	for _, m := range marks {
		if m.Page < 1 || m.Page > len(d.pages) {
			return nil, errNoPage
		}
		page := d.pages[m.Page-1]
		if fits := c.fitting(m.Text, m.font(), m.Width*page.Width, m.Height*page.Height); fits < utf8.RuneCountInString(m.Text) {
			return &TooLong{Text: m.Text, Fits: fits}, nil
		}
	}
	return nil, nil
}

// finish does the work of Finish. Without a sealer it only writes the placeholder of the seal and
// returns nothing. Callers that check whether a file can be finished need no seal, because the
// result of that check does not depend on it.
func (d *document) finish(marks []Mark, cert Certificate, sealer *Sealer) ([]byte, error) {
	cert.stamped, cert.Original = marks, d.data
	u := newUpdate(d)
	drawing, err := u.draw(marks, "Document "+cert.DocumentID, &cert)
	if err != nil {
		return nil, err
	}
	u.layOver(drawing, marks)
	field := object{number: u.number()}
	page := u.addCertificate(drawing, referenceTo(field.number, 0))
	seal := u.putSeal(cert.Finished, page, field)
	u.put(u.catalogAt, u.putForm(u.permissions(), field).text())
	if u.end(); u.err != nil || sealer == nil {
		return nil, u.err
	}
	return u.out, seal.fill(u.out, sealer)
}

// pdfDate formats a time as PDF does.
func pdfDate(t time.Time) string { return t.UTC().Format("D:20060102150405Z") }
