package api

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/internal/refserver/signing"
)

func TestEachVersionIsEncodedOnce(t *testing.T) {
	var e encoded
	calls := 0
	encode := func(d *signing.Document) ([]byte, error) {
		calls++
		return []byte(d.Name), nil
	}
	old, changed := &signing.Document{ID: "d", Name: "old"}, &signing.Document{ID: "d", Name: "changed"}
	for range 3 {
		for _, d := range []*signing.Document{old, changed} {
			body, err := e.of(d, encode)
			require.NoError(t, err)
			require.Equal(t, d.Name, string(body))
		}
	}
	require.Equal(t, 2, calls)
	_, err := e.of(&signing.Document{}, func(*signing.Document) ([]byte, error) { return nil, fmt.Errorf("no") })
	require.EqualError(t, err, "no")
}

func TestWhatIsEncodedIsBounded(t *testing.T) {
	var e encoded
	calls, record := 0, make([]byte, 1<<20)
	encode := func(*signing.Document) ([]byte, error) {
		calls++
		return record, nil
	}
	often := &signing.Document{}
	for range 100 {
		_, err := e.of(&signing.Document{}, encode)
		require.NoError(t, err)
		_, err = e.of(often, encode)
		require.NoError(t, err)
		require.LessOrEqual(t, len(e.younger)+len(e.older), 2*maxEncoded>>20)
	}
	require.Equal(t, 101, calls, "what is asked for all the time is not forgotten")
}
