package pdfprocess_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
)

func TestMain(m *testing.M) {
	pdfprocess.Main()
	os.Exit(m.Run())
}

var day = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func sealer(t testing.TB) *pdf.Sealer {
	t.Helper()
	s, err := pdf.NewSealer(day)
	require.NoError(t, err)
	return s
}

var marks = []pdf.Mark{{Page: 1, X: 0.1, Y: 0.1, Width: 0.3, Height: 0.05, Text: "Zoë"}}

func TestAnotherProcessDoesTheSame(t *testing.T) {
	original, err := pdf.Draw("Lease", []string{"One page."})
	require.NoError(t, err)
	pages, err := pdfprocess.New().Inspect(t.Context(), original)
	require.NoError(t, err)
	want, err := pdf.Inspect(original)
	require.NoError(t, err)
	require.Equal(t, want, pages)

	cert := pdf.Certificate{DocumentID: "d1", DocumentName: "Lease", Finished: day}
	finished, err := pdfprocess.New().Finish(t.Context(), original, marks, cert, sealer(t))
	require.NoError(t, err)
	require.Contains(t, string(finished), "/SubFilter/ETSI.CAdES.detached")
	content, err := pdf.Inspect(finished)
	require.NoError(t, err)
	require.Len(t, content.Pages, 2)
	require.True(t, content.Signed)
}

func TestReasonsComeBack(t *testing.T) {
	encrypted, err := os.ReadFile("../pdf/testdata/encrypted.pdf")
	require.NoError(t, err)
	for want, data := range map[error][]byte{
		pdf.ErrNotPDF: []byte("hello"), pdf.ErrEncrypted: encrypted, pdf.ErrCutShort: []byte("%PDF-1.7\n"), pdf.ErrDamaged: []byte("%PDF-1.7\nstartxref\n"), pdf.ErrTooLarge: make([]byte, pdf.MaxSize+1),
	} {
		_, err := pdfprocess.New().Inspect(t.Context(), data)
		require.ErrorIs(t, err, want)
		_, direct := pdf.Inspect(data)
		require.EqualError(t, err, direct.Error())
	}
}

// TestOnlyItsOwnProcessEnds: the file unpacks to more than the process may have. In this process it would end the test.
func TestOnlyItsOwnProcessEnds(t *testing.T) {
	if pdfprocess.Overhead > 1 || pdfprocess.Stacks > 0 {
		t.Skip("with the race detector, or with cgo's room for stacks, the bound is above what this file needs: use CGO_ENABLED=0")
	}
	bomb, err := os.ReadFile("testdata/hostile/content-of-90-mb.pdf")
	require.NoError(t, err)
	_, err = pdfprocess.New().Inspect(t.Context(), bomb)
	require.ErrorIs(t, err, pdf.ErrTooHeavy)
	require.ErrorContains(t, err, "more than 240 MB of memory")
}

// TestMainMustBeCalled: a program that does not call Main would start itself, which would start itself.
func TestMainMustBeCalled(t *testing.T) {
	defer pdfprocess.Forget()()
	_, err := pdfprocess.New().Inspect(t.Context(), []byte("hello"))
	require.ErrorContains(t, err, "has not called Main")
}

// TestWhyAProcessEnded reads what Go prints.
func TestWhyAProcessEnded(t *testing.T) {
	memory := fmt.Sprintf("more than %d MB of memory", 240*pdfprocess.Overhead)
	for said, want := range map[string]string{
		"runtime: out of memory: cannot allocate 4194304-byte block (8388608 in use)\nfatal error: out of memory\n": memory,
		"fatal error: runtime: cannot allocate memory\n":                                                            memory,
		"runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow\n":                       "nested too deeply",
		"SIGXCPU: cpu limit exceeded\nPC=0x46c5a1 m=0 sigcode=128\n":                                                "more than 10 s of processor time",
	} {
		err := pdfprocess.Death(said)
		require.ErrorIs(t, err, pdf.ErrTooHeavy)
		require.ErrorContains(t, err, want)
	}
	err := pdfprocess.Death("panic: what is this\n\ngoroutine 1")
	require.Nil(t, pdf.Refusal(err), "nobody knows whether it was the file")
	require.ErrorContains(t, err, "panic: what is this")
}

func TestNoMoreProcessesThanThereIsRoomFor(t *testing.T) {
	p := pdfprocess.New()
	release := p.Fill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Inspect(ctx, []byte("hello"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = p.Finish(ctx, []byte("hello"), nil, pdf.Certificate{}, sealer(t))
	require.ErrorIs(t, err, context.Canceled)
	release()
	_, err = p.Inspect(t.Context(), []byte("hello"))
	require.ErrorIs(t, err, pdf.ErrNotPDF)
}

// TestUploadsDoNotWaitForever: one file after another may take all of its time.
func TestUploadsDoNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pdfprocess.New()
		p.Fill()
		start := time.Now()
		_, err := p.Inspect(t.Context(), []byte("hello"))
		require.ErrorIs(t, err, pdf.ErrBusy)
		require.Equal(t, 10*time.Second, time.Since(start))
	})
}
