package sqlitestore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver"
)

// endsOnceAsked is a context that ends right after the first call of Err, which still returns nil.
type endsOnceAsked struct {
	context.Context
	end context.CancelFunc
}

func (c endsOnceAsked) Err() error {
	defer c.end()
	return c.Context.Err()
}

// TestASaveThatHasBegunIsCarriedOut: the end of its context leaves no doubt whether it was carried out.
func TestASaveThatHasBegunIsCarriedOut(t *testing.T) {
	s := open(t, newPath(t))
	ctx, end := context.WithCancel(t.Context())
	defer end()
	require.NoError(t, s.Save(endsOnceAsked{ctx, end}, []refserver.Record{record("document", "1", "saved")}))
	require.Error(t, ctx.Err())
	require.Equal(t, map[string]string{"document 1": "saved"}, contents(t, s))
}
