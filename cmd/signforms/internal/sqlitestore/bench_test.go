package sqlitestore_test

import (
	"fmt"
	"strings"
	"testing"

	"crypto/rand"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/sqlitestore"
	"github.com/signforms/signforms-go/internal/refserver"
)

// BenchmarkSave saves what a signature changes: a document, an audit entry, a delivery and the state of the server.
func BenchmarkSave(b *testing.B) {
	for _, mode := range []sqlitestore.Sync{sqlitestore.Normal, sqlitestore.Full} {
		b.Run(string(mode), func(b *testing.B) {
			s, err := sqlitestore.Open(b.Context(), b.TempDir()+"/data.db", sqlitestore.Options{Sync: mode})
			require.NoError(b, err)
			defer s.Close()
			document, small := strings.Repeat("d", 900), strings.Repeat("s", 200)
			for i := 0; b.Loop(); i++ {
				require.NoError(b, s.Save(b.Context(), []refserver.Record{
					record("document", rand.Text(), document), record("audit", fmt.Sprint(i), small),
					record("delivery", fmt.Sprint(i), document), record("state", "state", small),
				}))
			}
		})
	}
}
