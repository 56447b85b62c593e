package pdf

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// Certificate is the content of the last pages of a finished document.
type Certificate struct {
	DocumentID   string
	DocumentName string
	Original     []byte    // the file that was signed; the certificate shows its SHA-256
	Finished     time.Time // when the last signer signed
	Signers      []CertificateSigner
	Events       []CertificateEvent // in the order in which they happened

	stamped []Mark
}

// CertificateSigner is one signer of a Certificate.
type CertificateSigner struct {
	Name, Email, Role, Status string
}

// CertificateEvent is one line of a document's history.
type CertificateEvent struct {
	At      time.Time
	Who     string // empty for the service
	What    string // such as "signed"
	Address string // the IP address of the request, or empty
}

// The layout of pages that this package draws, in points.
const (
	a4Width, a4Height = 595.28, 841.89
	margin            = 56.0
	contentWidth      = a4Width - 2*margin
)

// flow writes lines from top to bottom, on as many pages as needed.
type flow struct {
	*canvas
	y float64
}

func (f *flow) page() {
	f.AddPageFormat("P", fpdf.SizeType{Wd: a4Width, Ht: a4Height})
	f.SetTextColor(20, 20, 20)
	f.y = margin
}

// line writes text, wrapped and indented by x. It starts a new page when the page is full.
func (f *flow) line(x float64, text, font string, size float64) {
	for _, line := range f.wrap(text, font, size, contentWidth-x) {
		if f.y+size*1.4 > a4Height-margin {
			f.page()
		}
		f.y += size * 1.4
		f.text(margin+x, f.y, line, font, size)
	}
}

func (f *flow) space(h float64) { f.y += h }

// pair writes a label and, to its right, a value.
func (f *flow) pair(label, value string) {
	if f.y+14 > a4Height-margin {
		f.page()
	}
	y := f.y
	f.line(110, value, fontRegular, 10)
	f.SetTextColor(90, 90, 90)
	f.text(margin, y+14, label, fontRegular, 10)
	f.SetTextColor(20, 20, 20)
}

// draw draws the pages of the certificate.
func (cert Certificate) draw(c *canvas) {
	f := &flow{canvas: c}
	f.page()
	f.line(0, "Certificate", fontBold, 22)
	f.line(0, "Made by a sandbox. Not legally binding.", fontRegular, 10)
	f.space(14)
	f.pair("Document", cert.DocumentName)
	f.pair("Document id", cert.DocumentID)
	f.pair("Finished", utc(cert.Finished))
	hash := sha256.Sum256(cert.Original)
	f.pair("SHA-256 of original", hex.EncodeToString(hash[:]))
	cert.drawSigners(f)
	cert.drawEvents(f)
	if missing := Missing(cert.everything()); len(missing) > 0 {
		f.space(14)
		f.line(0, "The embedded fonts lack these characters, shown as "+string(missingGlyph)+": "+codePoints(missing), fontRegular, 9)
	}
}

func (cert Certificate) drawSigners(f *flow) {
	f.space(18)
	f.line(0, "Signers", fontBold, 14)
	for _, s := range cert.Signers {
		f.space(6)
		f.line(0, s.Name, fontRegular, 11)
		f.SetTextColor(90, 90, 90)
		f.line(12, join(" · ", s.Email, s.Role, s.Status), fontRegular, 9)
		f.SetTextColor(20, 20, 20)
	}
}

func (cert Certificate) drawEvents(f *flow) {
	f.space(18)
	f.line(0, "History", fontBold, 14)
	f.space(4)
	for _, e := range cert.Events {
		f.line(0, utc(e.At)+"   "+join(", ", join(" ", e.Who, e.What), from(e.Address)), fontRegular, 9)
	}
}

func from(address string) string {
	if address == "" {
		return ""
	}
	return "from " + address
}

// everything returns all text of the finished document that people entered.
func (cert Certificate) everything() string {
	var b strings.Builder
	b.WriteString(cert.DocumentName)
	for _, s := range cert.Signers {
		b.WriteString(s.Name + s.Email + s.Role)
	}
	for _, e := range cert.Events {
		b.WriteString(e.Who + e.What)
	}
	for _, m := range cert.stamped {
		b.WriteString(m.Text)
	}
	return b.String()
}

func utc(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// join joins the parts that are not empty.
func join(separator string, parts ...string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, separator)
}

func codePoints(runes []rune) string {
	const most = 20
	var names []string
	for _, r := range runes[:min(len(runes), most)] {
		names = append(names, fmt.Sprintf("U+%04X", r))
	}
	if more := len(runes) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, " ")
}
