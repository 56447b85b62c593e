package batch

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
	"github.com/signforms/signforms-go/signformstest"
)

func TestJournalThatCannotBeWrittenSendsNothing(t *testing.T) {
	s := signformstest.NewServer(t, nil)
	survey := s.AddForm(signformstest.Form{Title: "Survey", Fields: []signformstest.Field{{Question: "How was it?"}}})
	j, err := journal.Open(filepath.Join(t.TempDir(), "journal"))
	require.NoError(t, err)
	require.NoError(t, j.Close())
	b := &Batch{journal: j, intents: &intents{journal: j, next: http.DefaultTransport}, todo: []*Item{{Key: "a"}, {Key: "b"}}}
	client, err := signforms.New(s.URL, s.APIKey, &signforms.Options{WorkspaceID: s.WorkspaceID, HTTPClient: &http.Client{Transport: b.intents}})
	require.NoError(t, err)
	for _, it := range b.todo {
		it.Do = func(ctx context.Context, _ *Record) error {
			_, err := client.Forms.Send(ctx, signforms.FormSendParams{FormID: survey, Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
			return err
		}
	}
	p := cli.NewPrinter(&cobra.Command{}, cli.Output{JSON: true}, nil, func(r Record) any { return r }, 1)
	b.work(t.Context(), Screen{Printer: p, Stderr: io.Discard})
	require.ErrorIs(t, b.verdict(), errNoIntent)
	require.Equal(t, cli.ExitFailure, cli.ExitCode(b.verdict()))
	require.Empty(t, s.Requests())
}

// The order of columns is not content, and neither is the spelling of an address.
func TestContentHasNoOrder(t *testing.T) {
	variables := []signforms.CustomVariable{{Name: "[fee]", Value: "1"}, {Name: "[price]", Value: "2"}}
	ann, ben := signforms.Receiver{Name: "Ann", Email: "Ann@Example.com", RoleTitle: "Buyer"}, signforms.Receiver{Name: "Ben", Email: "ben@example.com", RoleTitle: "Seller"}
	one, err := content(Mailing{Receivers: []signforms.Receiver{ann, ben}, Variables: variables})
	require.NoError(t, err)
	ann.Email = "ann@example.com"
	other, err := content(Mailing{Receivers: []signforms.Receiver{ben, ann}, Variables: []signforms.CustomVariable{variables[1], variables[0]}})
	require.NoError(t, err)
	require.Equal(t, one, other)
	ann.Name = "Anna"
	changed, err := content(Mailing{Receivers: []signforms.Receiver{ann, ben}, Variables: variables})
	require.NoError(t, err)
	require.NotEqual(t, one, changed)
}
