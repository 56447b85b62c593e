package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// kept is a keeper that remembers which blobs it has.
type kept struct {
	store.Keeper
	blobs map[string]string
}

func (k *kept) Load(func(store.Write)) error { return nil }

func (k *kept) Save(_ time.Time, writes []store.Write) error {
	for _, w := range writes {
		switch {
		case w.Kind != store.KindBlob:
		case w.Value == nil:
			delete(k.blobs, w.ID)
		default:
			k.blobs[w.ID] = string(w.Value.([]byte))
		}
	}
	return nil
}

// TestFiles_keptOnce gives files to records that share them: each is kept once, and until the last record has another.
func TestFiles_keptOnce(t *testing.T) {
	k := &kept{blobs: map[string]string{}}
	st := store.New(func() time.Time { return noon })
	require.NoError(t, st.Keep(k))
	x, y := signing.NewFile([]byte("x")), signing.NewFile([]byte("y"))
	put := func(id string, f signing.File) {
		require.NoError(t, st.Update(func(tx *store.Tx) error {
			tx.PutTemplate(signing.Template{ID: id, PDF: f})
			return nil
		}))
	}
	put("a", x)
	put("b", x)
	require.Equal(t, map[string]string{x.SHA256: "x"}, k.blobs)
	require.NoError(t, st.Update(func(tx *store.Tx) error {
		c, err := signing.Create(signing.Document{PDF: x, Values: []signing.FieldValue{{Image: y}}}, signing.NewIDs(1), noon)
		tx.Apply(c)
		return err
	}))
	require.Equal(t, map[string]string{x.SHA256: "x", y.SHA256: "y"}, k.blobs)
	put("a", y)
	put("b", signing.File{})
	require.Equal(t, map[string]string{x.SHA256: "x", y.SHA256: "y"}, k.blobs, "the document has both")
	require.NoError(t, st.Update(func(tx *store.Tx) error {
		tx.Clear()
		tx.PutTemplate(signing.Template{ID: "c", PDF: y})
		return nil
	}))
	require.Equal(t, map[string]string{y.SHA256: "y"}, k.blobs)
	put("c", x)
	require.Equal(t, map[string]string{x.SHA256: "x"}, k.blobs)
	require.Error(t, st.Update(func(tx *store.Tx) error {
		tx.PutTemplate(signing.Template{ID: "c"})
		return &signing.Invalid{}
	}))
	put("d", x)
	put("c", y)
	require.Equal(t, map[string]string{x.SHA256: "x", y.SHA256: "y"}, k.blobs, "what was undone counts for nothing")
}
