package hosting

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func TestMain(m *testing.M) {
	pdfprocess.Main()
	os.Exit(m.Run())
}

// keyIn opens a data file as serve does, and returns the sealing key.
func keyIn(t *testing.T, file string) (string, error) {
	t.Helper()
	store, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	require.NoError(t, err)
	defer store.Close()
	f, err := newFinisher(t.Context(), store, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	text, err := f.sealer.MarshalText()
	require.NoError(t, err)
	return string(text), nil
}

func TestSealOutlivesTheProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.db")
	first, err := keyIn(t, file)
	require.NoError(t, err)
	again, err := keyIn(t, file)
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := keyIn(t, filepath.Join(t.TempDir(), "other.db"))
	require.NoError(t, err)
	require.NotEqual(t, first, other)
}

func TestDamagedKeyIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.db")
	store, err := sqlitestore.Open(t.Context(), file, sqlitestore.Options{})
	require.NoError(t, err)
	require.NoError(t, store.SetValue(t.Context(), keyValue, "damaged"))
	require.NoError(t, store.Close())
	_, err = keyIn(t, file)
	require.ErrorContains(t, err, "the key that seals finished PDFs")
}

// A file that is made again later says what the first one said.
func TestCertificateEndsWithTheDocument(t *testing.T) {
	service := servicetest.Start(t, nil)
	id := service.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, service.Signer(id, "ann@example.com").Sign())
	require.NoError(t, service.Server.Advance(t.Context(), time.Hour))
	require.NoError(t, service.Pay(id))
	f, err := newFinisher(t.Context(), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	f.server = service.Server
	d, ok := service.FindDocument(id)
	require.True(t, ok)
	events := f.certificate(d).Events
	require.Equal(t, "signed as the last", events[len(events)-1].What)
	require.Len(t, service.Audit(id), len(events)+1, "one thing happened later")
}

// TestCheckValues: the API refuses a text that is too long for its field, and says how much of it fits.
func TestCheckValues(t *testing.T) {
	f, err := newFinisher(t.Context(), nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	service := servicetest.Start(t, &refserver.Options{CheckValues: f.checkValues})
	f.server = service.Server
	id := service.AddDocument(refserver.Document{Name: "Lease", Signers: []refserver.Signer{{Email: "ann@example.com"}}, Fields: []refserver.TemplateField{
		{Name: "City", Role: "ann@example.com", Kind: refserver.TextField, Page: 1, X: 0.1, Y: 0.1, Width: 0.05, Height: 0.005},
	}})
	ann := service.Signer(id, "ann@example.com")
	err = ann.Sign(refserver.FieldValue{Name: "City", Value: strings.Repeat("Lausanne ", 22)})
	require.ErrorIs(t, err, refserver.ErrInvalid)
	require.ErrorContains(t, err, "is too long for its field: ")
	require.ErrorContains(t, err, " of its 198 characters fit")
	require.NoError(t, ann.Sign(refserver.FieldValue{Name: "City", Value: "Lausanne"}))
}

func TestMarksOfEachKind(t *testing.T) {
	field := func(name string, kind refserver.FieldKind) refserver.TemplateField {
		return refserver.TemplateField{Name: name, Kind: kind, Page: 2, X: 0.1, Y: 0.2, Width: 0.3, Height: 0.04}
	}
	d := refserver.DocumentState{
		Fields: []refserver.TemplateField{
			field("Signature", refserver.SignatureField), field("City", refserver.TextField),
			field("Insured", refserver.CheckboxField), field("Sold", refserver.CheckboxField),
		},
	}
	for _, value := range []refserver.FieldValue{
		{Name: "Signature", Value: "Ann"}, {Name: "City", Value: "Rome"}, {Name: "Insured", Value: "true"}, {Name: "Sold", Value: "false"}, {Name: "No field", Value: "x"},
	} {
		d.Values = append(d.Values, refserver.SignedValue{FieldValue: value})
	}
	box := pdf.Mark{Page: 2, X: 0.1, Y: 0.2, Width: 0.3, Height: 0.04}
	signature, city, insured, sold := box, box, box, box
	signature.Text, signature.Italic = "Ann", true
	city.Text = "Rome"
	insured.Tick = true
	require.Equal(t, []pdf.Mark{signature, city, insured, sold}, marks(d))
}
