package bench_test

import (
	"bytes"
	"testing"

	"github.com/signforms/signforms-go/bench"
	"github.com/stretchr/testify/require"
)

// Before a row is timed it has to do its work: take what is genuine, decode as much of it as it says, and refuse the
// same delivery with one byte changed or with a signature made for another body.
func TestRowsAcceptOnlyGenuineDeliveries(t *testing.T) {
	for _, p := range bench.Payloads() {
		for _, row := range bench.Rows() {
			t.Run(p.Name+"/"+row.Name, func(t *testing.T) {
				receive := row.New()
				deliveries := bench.NewSender(row, p).Send(3)
				for _, d := range deliveries[:2] {
					decoded, err := receive(d)
					require.NoError(t, err)
					require.Equal(t, parts(row, p), decoded, "parts of the payload that were decoded")
				}
				tampered := deliveries[2]
				changeLetter(t, tampered.Body)
				decoded, err := receive(tampered)
				require.Error(t, err, "a delivery with one letter changed was taken")
				require.Zero(t, decoded, "a delivery with one letter changed was decoded")
			})
		}
	}
}

// parts is how many parts of the payload a row of its kind of decoding finds.
func parts(row bench.Row, p bench.Payload) int {
	if row.Work.Decode == bench.DecodesNot {
		return 0
	}
	return p.Events
}

// changeLetter changes the payload, not the envelope, and leaves it valid JSON.
func changeLetter(t *testing.T, body []byte) {
	i := bytes.Index(body, []byte("example.com"))
	require.Positive(t, i)
	body[i] = 'E'
}

func TestEventsAreNewEachTime(t *testing.T) {
	for _, p := range bench.Payloads() {
		for _, row := range bench.Rows() {
			sender := bench.NewSender(row, p)
			seen := map[string]bool{}
			for _, d := range append(sender.Send(2), sender.Send(2)...) {
				require.Len(t, d.Body, sender.Size())
				require.Equal(t, p.Events, addIDs(seen, d.Body), "new ids in a delivery of %s to %s", p.Name, row.Name)
			}
		}
	}
}

// addIDs adds the ids of events to seen and returns how many were new.
func addIDs(seen map[string]bool, body []byte) (added int) {
	for _, key := range []string{`"documentId":"`, `"formResponseId":"`} {
		for _, rest := range bytes.Split(body, []byte(key))[1:] {
			if id := string(rest[:36]); !seen[id] {
				seen[id] = true
				added++
			}
		}
	}
	return added
}

func TestPayloadSizesMatchTheirNames(t *testing.T) {
	for i, kilobytes := range []int{1, 20, 50} {
		p := bench.Payloads()[i]
		require.InEpsilon(t, kilobytes*1000, len(p.JSON), 0.05, p.Name)
	}
}
