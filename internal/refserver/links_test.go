package refserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/clienttest/servicetest"
	"github.com/signforms/signforms-go/internal/refserver"
)

// TestServer_linksAreNotPrinted prints what holds signing links in every usual way.
func TestServer_linksAreNotPrinted(t *testing.T) {
	srv := servicetest.Start(t, nil)
	doc := srv.AddDocument(refserver.Document{Name: "Lease", Signers: ann})
	state, ok := srv.FindDocument(doc)
	require.True(t, ok)
	message := srv.Messages()[0]
	require.Equal(t, state.Signers[0].Link, message.Link)
	token := path.Base(string(message.Link))
	opened, _, ok := srv.SigningLink(token)
	require.True(t, ok, "string(Link) is the URL")
	text, err := json.Marshal(state)
	require.NoError(t, err)
	require.Contains(t, string(text), token, "for those who sign")
	for _, v := range []any{state, &state, opened, state.Signers, state.Signers[0], message, &message, []refserver.Message{message}} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("seen", "value", v)
			for _, printed := range []string{log.String(), fmt.Sprint(v), fmt.Sprintf("%+v %#v %s %q", v, v, v, v)} {
				require.NotContains(t, printed, token)
			}
		})
	}
}
