package hosting

import (
	"context"
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// finisher makes the finished PDFs of completed documents, and PDFs with the current values of
// other documents.
type finisher struct {
	sealer *pdf.Sealer
	pdfs   *pdfprocess.Pool
	log    *slog.Logger
	server *refserver.Server
}

// newFinisher reads the sealing key from the data file, in which the first start has stored it.
// Without a data file it makes a new key each time.
func newFinisher(ctx context.Context, store *sqlitestore.Store, log *slog.Logger) (_ *finisher, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("the key that seals finished PDFs: %w", err)
		}
	}()
	var sealer *pdf.Sealer
	if store != nil {
		sealer, err = storedKey(ctx, store)
	}
	if err == nil && sealer == nil {
		sealer, err = newKey(ctx, store)
	}
	if err != nil {
		return nil, err
	}
	return &finisher{sealer: sealer, pdfs: pdfprocess.New(), log: log}, nil
}

// keyValue is the name of the sealing key in the data file.
const keyValue = "sealing_key"

// storedKey returns the key in the data file, or nil if there is none.
func storedKey(ctx context.Context, store *sqlitestore.Store) (*pdf.Sealer, error) {
	text, err := store.Value(ctx, keyValue)
	if err != nil || text == "" {
		return nil, err
	}
	sealer := &pdf.Sealer{}
	if err := sealer.UnmarshalText([]byte(text)); err != nil {
		return nil, fmt.Errorf("the data file %s: the value %q: %w", store.Path(), keyValue, err)
	}
	return sealer, nil
}

// newKey makes a key and stores it in the data file, if there is one.
func newKey(ctx context.Context, store *sqlitestore.Store) (*pdf.Sealer, error) {
	sealer, err := pdf.NewSealer(time.Now())
	if err != nil || store == nil {
		return sealer, err
	}
	text, err := sealer.MarshalText()
	if err == nil {
		err = store.SetValue(ctx, keyValue, string(text))
	}
	return sealer, err
}

// inspect returns the content of an uploaded PDF. It logs why one is refused.
func (f *finisher) inspect(ctx context.Context, data []byte) (pdf.Content, error) {
	content, err := f.pdfs.Inspect(ctx, data)
	if err != nil && ctx.Err() == nil {
		f.log.Warn("a PDF was refused", "bytes", len(data), "reason", err)
	}
	return content, err
}

// finish makes a finished PDF. It implements [refserver.Options].Finish.
func (f *finisher) finish(ctx context.Context, d refserver.DocumentState) ([]byte, error) {
	original := d.PDF
	if original == nil {
		var err error
		if original, err = placeholder(d); err != nil {
			return nil, err
		}
	}
	return f.pdfs.Finish(ctx, original, marks(d), f.certificate(d), f.sealer)
}

// standing returns the current PDF of a document: the finished file if the document is completed,
// and otherwise the original with all entered values.
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

// checkValues refuses a text that is too long for its field. It implements
// [refserver.Options].CheckValues. If all processes are busy it refuses nothing, because stamping
// makes such a text as small as necessary.
func (f *finisher) checkValues(d refserver.DocumentState) error {
	var texts []pdf.Mark
	for _, m := range marks(d) {
		if m.Text != "" {
			texts = append(texts, m)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	ctx := context.Background()
	original, err := f.server.DocumentPDF(ctx, d.ID)
	if err == nil && original == nil {
		original, err = placeholder(d)
	}
	if err != nil {
		return err
	}
	long, err := f.pdfs.FindTooLong(ctx, original, texts)
	if err != nil {
		f.log.Warn("the length of values was not checked", "document", d.ID, "reason", err)
		return nil
	}
	if long != nil {
		return &refserver.InvalidError{Problem: fmt.Sprintf("%.60q is too long for its field: %d of its %d characters fit", long.Text, long.Fits, utf8.RuneCountInString(long.Text))}
	}
	return nil
}

// placeholder returns a page for a document without a PDF. It is the same each time.
func placeholder(d refserver.DocumentState) ([]byte, error) {
	return pdf.Draw(d.Name, []string{"This document was made without a PDF."})
}

// marks returns the signers' values with their positions on the pages. Values without a field have
// no position and are left out.
func marks(d refserver.DocumentState) (all []pdf.Mark) {
	for _, v := range d.Values {
		for _, field := range d.Fields {
			if v.Name != field.Name {
				continue
			}
			m := pdf.Mark{Page: field.Page, X: field.X, Y: field.Y, Width: field.Width, Height: field.Height, Text: v.Value, Image: v.Image}
			switch field.Kind {
			case refserver.SignatureField, refserver.InitialsField:
				m.Italic = true
			case refserver.CheckboxField:
				m.Text, m.Tick = "", v.Value == "true"
			}
			all = append(all, m)
		}
	}
	return all
}

func (f *finisher) certificate(d refserver.DocumentState) pdf.Certificate {
	c := pdf.Certificate{DocumentID: d.ID, DocumentName: d.Name, Finished: d.CompletedAt}
	for _, s := range d.Signers {
		name := s.Name
		if name == "" {
			name = s.Email
		}
		c.Signers = append(c.Signers, pdf.CertificateSigner{Name: name, Email: s.Email, Role: s.Role, Status: string(s.Status)})
	}
	for _, e := range f.server.Audit(d.ID) {
		if e.At.After(d.CompletedAt) || e.Action == "finish" {
			continue // the certificate covers the time until the last signature, whenever it is made
		}
		what := actions[string(e.Action)]
		if what == "" {
			what = string(e.Action)
		}
		if e.Note != "" {
			what += " (" + e.Note + ")"
		}
		c.Events = append(c.Events, pdf.CertificateEvent{At: e.At, Who: e.Actor, What: what, Address: e.IP})
	}
	return c
}

// actions are the certificate's words for actions of the audit trail.
var actions = map[string]string{
	"create": "made the document", "send": "sent it", "view": "viewed it", "sign": "signed", "complete": "signed as the last", "remind": "sent reminders",
}
