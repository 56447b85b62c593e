package seedfile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/seedfile"
	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestRead(t *testing.T) {
	name := write(t, `
templates:
  - key: offer
    name: 2026
    roles: [Buyer, {title: Seller, colour: "#1F6FEB"}]
    signingOrder: true
    variables: ["[fee]"]
    expiresFor: 7d
    pdf: offer.pdf
    fields:
      - {name: Signature, role: Buyer, kind: signature, required: true, page: 1, x: 0.1, y: 0.8, width: 0.3, height: 0.05}
forms:
  - key: intake
    title: Intake
    fields:
      - {question: Name, required: true}
      - {question: Colour, kind: choice, choices: [red, blue]}
documents:
  - {name: Lease, signers: &people [{name: Ann, email: ann@example.com}]}
  - {name: Rent, signers: *people, draft: true}
webhooks:
  - {url: "http://localhost:3000/hook", event: new_template_response, documents: [offer]}
`)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(name), "offer.pdf"), []byte("%PDF-1.4"), 0o600))
	f, err := seedfile.Read(name)
	require.NoError(t, err)
	ann := []refserver.Signer{{Name: "Ann", Email: "ann@example.com"}}
	require.Equal(t, &wire.Seed{
		Templates: []wire.Template{{
			Key: "offer", Template: refserver.Template{Name: "2026", Roles: []refserver.Role{{Title: "Buyer"}, {Title: "Seller", Colour: "#1F6FEB"}}, SigningOrder: true,
				Variables: []string{"[fee]"}, PDF: []byte("%PDF-1.4"),
				Fields: []refserver.TemplateField{{Name: "Signature", Role: "Buyer", Kind: "signature", Required: true, Page: 1, X: 0.1, Y: 0.8, Width: 0.3, Height: 0.05}},
			}, ExpiresFor: wire.Duration(7 * 24 * time.Hour),
		}},
		Forms: []wire.Form{{Key: "intake", Form: refserver.Form{Title: "Intake", Fields: []refserver.Field{
			{Question: "Name", Required: true}, {Question: "Colour", Kind: "choice", Choices: []string{"red", "blue"}},
		}}}},
		Documents: []wire.Document{{Document: refserver.Document{Name: "Lease", Signers: ann}}, {Document: refserver.Document{Name: "Rent", Signers: ann, Draft: true}}},
		Webhooks:  []refserver.Webhook{{URL: "http://localhost:3000/hook", Event: "new_template_response", Documents: []string{"offer"}}},
	}, f.Seed)
}

func TestMistakesNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"templates:\n- nam: x\n":                                   `:2: templates[0]: there is no "nam" here; there are authorEmail`,
		"templats: []\n":                                           `:1: there is no "templats" here; there are documents, forms, templates, webhooks`,
		"documents:\n- name: x\n  name: y\n":                       `:3: documents[0]: "name" is given twice`,
		"documents:\n- name: x\n  draft: perhaps\n":                `:3: documents[0].draft: "perhaps" is not true or false`,
		"documents:\n- name: x\n  expiresFor: soon\n":              `:3: documents[0].expiresFor: "soon" is not a length of time`,
		"documents:\n- name: x\n  pdf: missing.pdf\n":              `:3: documents[0].pdf: open `,
		"documents:\n- name: [x]\n":                                `:2: documents[0].name: expected a single value`,
		"documents:\n  name: x\n":                                  `:2: documents: expected a list`,
		"documents: [x]\n":                                         `:1: documents[0]: expected a mapping`,
		"templates:\n- roles: [A]\n  fields:\n  - {page: first}\n": `:4: templates[0].fields[0].page: "first" is not a whole number`,
		"a: b: c\n":                   `yaml: `,
		"forms: []\n---\nforms: []\n": `: only one YAML document is read`,
	} {
		name := write(t, text)
		_, err := seedfile.Read(name)
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, name)
	}
	_, err := seedfile.Read("nowhere.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	f, err := seedfile.Read(write(t, "# nothing\n"))
	require.NoError(t, err)
	require.Equal(t, &wire.Seed{}, f.Seed)
}

// Mistakes that only the service finds are reported with their line too, and then nothing is added.
func TestMistakesOfTheServiceNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"forms:\n- {title: A, fields: [{question: q}]}\n- title: B\n":                                            ":3: forms[1]: ",
		"templates:\n- {name: A, roles: [X, X]}\n":                                                               ":2: templates[0]: ",
		"webhooks:\n- {url: nowhere, event: new_form_response}\n":                                                ":2: webhooks[0]: ",
		"forms:\n- {key: a, title: A, fields: [{question: q}]}\n- {key: a, title: B, fields: [{question: q}]}\n": `:3: forms[1]: the key "a" is used twice`,
	} {
		f, err := seedfile.Read(write(t, text))
		require.NoError(t, err)
		server := servicetest.Start(t, nil)
		_, err = control.New(control.Config{Server: server.Server}).Apply(t.Context(), f.Seed)
		require.ErrorContains(t, f.Explain(err), want, text)
		require.Empty(t, server.Forms())
	}
}
