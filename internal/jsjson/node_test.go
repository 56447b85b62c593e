package jsjson

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No difference between Normalize and Node.js is small enough to let pass. The counts are for everyday use; .ci/nightly
// compares 200,000 documents and 1,000,000 numbers. Another seed: go test -run LikeNode -normalize.seed 7.
var (
	nodeSeed      = flag.Uint64("normalize.seed", 1, "seed of the documents that are compared with Node.js")
	nodeDocuments = flag.Int("normalize.documents", 4_000, "how many documents are compared with Node.js")
	nodeNumbers   = flag.Int("normalize.numbers", 20_000, "how many numbers are compared with Node.js")
)

func TestNormalizeLikeNodeDocuments(t *testing.T) {
	t.Parallel()
	node := startNode(t)
	made := newDocuments(*nodeSeed)
	accepted, wanted := 0, *nodeDocuments
	for done := 0; done < wanted; {
		batch := make([][]byte, min(1000, wanted-done))
		for i := range batch {
			batch[i] = made.next()
		}
		done += len(batch)
		for i, want := range node.stringify(t, batch) {
			got, err := Normalize(nil, batch[i])
			if (err == nil) != want.accepted || err == nil && !bytes.Equal(got, want.text) {
				t.Fatalf("Normalize(%q)\n got %q, %v\nwant %q, accepted %v", batch[i], got, err, want.text, want.accepted)
			}
			if want.accepted {
				accepted++
			}
		}
	}
	t.Logf("%d documents, %d of them accepted", wanted, accepted)
	require.Greater(t, accepted, wanted/3, "too few documents are JSON to test more than refusal")
	require.Less(t, accepted, wanted*9/10, "too few documents are refused")
}

func TestNormalizeLikeNodeNumbers(t *testing.T) {
	t.Parallel()
	node := startNode(t)
	made := newDocuments(*nodeSeed)
	const perDocument = maxCostly
	for done := 0; done < *nodeNumbers; {
		var batch [][]byte
		for range 20 {
			numbers := make([]string, perDocument)
			for i := range numbers {
				numbers[i] = made.number()
			}
			batch = append(batch, []byte("["+strings.Join(numbers, ",")+"]"))
			done += perDocument
		}
		for i, want := range node.stringify(t, batch) {
			got, err := Normalize(nil, batch[i])
			require.NoError(t, err)
			if !bytes.Equal(got, want.text) {
				t.Fatal(firstDifference(batch[i], got, want.text))
			}
		}
	}
}

func firstDifference(in, got, want []byte) string {
	ins, gots, wants := bytes.Split(in, []byte(",")), bytes.Split(got, []byte(",")), bytes.Split(want, []byte(","))
	for i := range min(len(ins), len(gots), len(wants)) {
		if !bytes.Equal(gots[i], wants[i]) {
			return fmt.Sprintf("Normalize(%s) = %s, want %s", ins[i], gots[i], wants[i])
		}
	}
	return fmt.Sprintf("Normalize gave %d numbers, want %d", len(gots), len(wants))
}

// nodeProcess is testdata/stringify.mjs, answering batches of documents.
type nodeProcess struct {
	in  io.Writer
	out *bufio.Reader
}

type nodeAnswer struct {
	text     []byte
	accepted bool
}

func startNode(t *testing.T) *nodeProcess {
	if testing.Short() {
		t.Skip("starting Node takes a while; the recorded vectors are tested without it")
	}
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not on PATH; the recorded vectors are tested without it")
	}
	cmd := exec.CommandContext(t.Context(), path, "testdata/stringify.mjs")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // its status does not matter: the answers have been compared
	})
	return &nodeProcess{in, bufio.NewReaderSize(out, 1<<20)}
}

func (n *nodeProcess) stringify(t *testing.T, batch [][]byte) []nodeAnswer {
	t.Helper()
	message := make([]byte, 8)
	for _, doc := range batch {
		message = binary.LittleEndian.AppendUint32(message, uint32(len(doc)))
		message = append(message, doc...)
	}
	binary.LittleEndian.PutUint32(message, uint32(len(batch)))
	binary.LittleEndian.PutUint32(message[4:], uint32(len(message)-8))
	_, err := n.in.Write(message)
	require.NoError(t, err)

	answers := make([]nodeAnswer, len(batch))
	for i := range answers {
		var size uint32
		require.NoError(t, binary.Read(n.out, binary.LittleEndian, &size))
		if size == 1<<32-1 {
			continue
		}
		answers[i] = nodeAnswer{make([]byte, size), true}
		_, err := io.ReadFull(n.out, answers[i].text)
		require.NoError(t, err)
	}
	return answers
}
