package outbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBox_sendsOnceAndFollows(t *testing.T) {
	eachStore(t, func(f *fixture) {
		f.add("1", "Ann@Example.com", "bob@example.com")
		f.add("1", "Ann@Example.com", "bob@example.com")
		require.Equal(f, []string{"1 pending"}, f.states())
		f.work()
		require.Equal(f, []string{"1 sent"}, f.states())
		e := f.entry("1")
		require.Len(f, f.srv.Documents(), 1)
		require.Equal(f, f.srv.Documents()[0].ID, e.DocumentID)
		require.Len(f, e.SignerIDs, 2)
		require.NoError(f, f.srv.Signer(e.DocumentID, "Ann@Example.com").Decline(""))
		f.pass(25 * time.Hour)
		require.Equal(f, []string{"1 ended"}, f.states())
		require.Equal(f, []string{"1 sent", "1 ended DECLINED"}, f.told())
	})
}

func TestBox_settlesLostResponses(t *testing.T) {
	for name, afterWork := range map[string]bool{"after the work": true, "before the work": false} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(f *fixture) {
				f.lose(1, afterWork)
				f.add("1", "ann@example.com")
				f.work()
				require.Equal(f, []string{"1 sending"}, f.states())
				f.pass(2 * time.Minute)
				require.Equal(f, []string{"1 sending"}, f.states())
				f.pass(5 * time.Minute)
				require.Equal(f, []string{"1 sent"}, f.states())
				require.Len(f, f.srv.Documents(), 1)
				require.Equal(f, f.srv.Documents()[0].ID, f.entry("1").DocumentID)
			})
		})
	}
}
