package service

import (
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

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
	conn := connection{baseURL: s.URL, apiKey: s.APIKey, workspace: s.WorkspaceID, attemptTimeout: time.Second, maxAttempts: 4}
	b := &batch{journal: j, intents: &intents{journal: j, next: http.DefaultTransport}, todo: []*item{{key: "a"}, {key: "b"}}}
	client, err := conn.client(signforms.Options{HTTPClient: &http.Client{Transport: b.intents}})
	require.NoError(t, err)
	for _, it := range b.todo {
		it.do = (&sendCommand{form: true, id: survey}).send(client, mailing{Receivers: []signforms.Receiver{{Name: "Ann", Email: "ann@example.com"}}})
	}
	p := cli.NewPrinter(&cobra.Command{}, cli.Output{JSON: true}, batchColumns, func(r batchRecord) any { return r }, 1)
	b.work(t.Context(), p, io.Discard)
	require.ErrorIs(t, b.verdict(), errNoIntent)
	require.Equal(t, cli.ExitFailure, cli.ExitCode(b.verdict()))
	require.Empty(t, s.Requests())
}

// The order of columns is not content, and neither is the spelling of an address.
func TestContentHasNoOrder(t *testing.T) {
	variables := []signforms.CustomVariable{{Name: "[fee]", Value: "1"}, {Name: "[price]", Value: "2"}}
	ann, ben := signforms.Receiver{Name: "Ann", Email: "Ann@Example.com", RoleTitle: "Buyer"}, signforms.Receiver{Name: "Ben", Email: "ben@example.com", RoleTitle: "Seller"}
	one, err := content(mailing{Receivers: []signforms.Receiver{ann, ben}, Variables: variables})
	require.NoError(t, err)
	ann.Email = "ann@example.com"
	other, err := content(mailing{Receivers: []signforms.Receiver{ben, ann}, Variables: []signforms.CustomVariable{variables[1], variables[0]}})
	require.NoError(t, err)
	require.Equal(t, one, other)
	ann.Name = "Anna"
	changed, err := content(mailing{Receivers: []signforms.Receiver{ann, ben}, Variables: variables})
	require.NoError(t, err)
	require.NotEqual(t, one, changed)
}
