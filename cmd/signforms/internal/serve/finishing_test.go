package serve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/signformstest"
)

func TestSealOutlivesTheProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandbox.db")
	first, err := newFinisher(file)
	require.NoError(t, err)
	again, err := newFinisher(file)
	require.NoError(t, err)
	one, err := first.sealer.MarshalText()
	require.NoError(t, err)
	other, err := again.sealer.MarshalText()
	require.NoError(t, err)
	require.Equal(t, one, other)
	info, err := os.Stat(file + ".seal.pem")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, os.WriteFile(file+".seal.pem", []byte("damaged"), 0o600))
	_, err = newFinisher(file)
	require.ErrorContains(t, err, "move the file away")
}

// A file that is made again later says what the first one said.
func TestCertificateEndsWithTheDocument(t *testing.T) {
	service := signformstest.NewServer(t, nil)
	id := service.AddDocument(signformstest.Document{Name: "Lease", Signers: []signformstest.Signer{{Email: "ann@example.com"}}})
	require.NoError(t, service.Signer(id, "ann@example.com").Sign())
	require.NoError(t, service.TryAdvance(time.Hour))
	require.NoError(t, service.Pay(id))
	f, err := newFinisher("")
	require.NoError(t, err)
	f.begin(service)
	d, ok := service.FindDocument(id)
	require.True(t, ok)
	events := f.certificate(d).Events
	require.Equal(t, "signed as the last", events[len(events)-1].What)
	require.Len(t, service.Audit(id), len(events)+1, "one thing happened later")
}

func TestMarksOfEachKind(t *testing.T) {
	field := func(name string, kind signformstest.FieldKind) signformstest.TemplateField {
		return signformstest.TemplateField{Name: name, Kind: kind, Page: 2, X: 0.1, Y: 0.2, Width: 0.3, Height: 0.04}
	}
	d := signformstest.DocumentState{
		Fields: []signformstest.TemplateField{
			field("Signature", signformstest.SignatureField), field("City", signformstest.TextField),
			field("Insured", signformstest.CheckboxField), field("Sold", signformstest.CheckboxField),
		},
	}
	for _, value := range []signformstest.FieldValue{
		{Name: "Signature", Value: "Ann"}, {Name: "City", Value: "Rome"}, {Name: "Insured", Value: "true"}, {Name: "Sold", Value: "false"}, {Name: "No field", Value: "x"},
	} {
		d.Values = append(d.Values, signformstest.SignedValue{FieldValue: value})
	}
	box := pdf.Mark{Page: 2, X: 0.1, Y: 0.2, Width: 0.3, Height: 0.04}
	signature, city, insured, sold := box, box, box, box
	signature.Text, signature.Italic = "Ann", true
	city.Text = "Rome"
	insured.Tick = true
	require.Equal(t, []pdf.Mark{signature, city, insured, sold}, marks(d))
}
