package hostile_test

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/hostile"
)

func TestFiles(t *testing.T) {
	files, names := hostile.Files(), map[string]bool{}
	for _, f := range files {
		require.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		require.Less(t, len(f.Data), 20_000_000, f.Name)
	}
	require.Len(t, files, 200)
}

func TestZerosUnpack(t *testing.T) {
	r, err := zlib.NewReader(bytes.NewReader(hostile.Zeros(3, 'x')))
	require.NoError(t, err)
	n, err := io.Copy(io.Discard, r)
	require.NoError(t, err)
	require.EqualValues(t, 3<<20, n)
}
