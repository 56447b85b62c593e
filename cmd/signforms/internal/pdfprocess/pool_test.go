package pdfprocess_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/hostile"
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

var marks = []pdf.Mark{{Page: 1, X: 0.1, Y: 0.1, Width: 0.3, Height: 0.05, Text: "Zoë 田中"}}

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
	pages, err = pdf.Inspect(finished)
	require.NoError(t, err)
	require.Len(t, pages, 2)
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

// TestABusyMachineIsNoFault of the file: only one that took processor time of its own is refused.
func TestABusyMachineIsNoFault(t *testing.T) {
	original, err := pdf.Draw("Lease", []string{"One page."})
	require.NoError(t, err)
	pool := pdfprocess.New()
	pool.Hurry()
	_, err = pool.Inspect(t.Context(), original)
	require.ErrorIs(t, err, pdf.ErrBusy)
	require.ErrorIs(t, pdfprocess.Late(4*time.Second), pdf.ErrBusy)
	require.ErrorIs(t, pdfprocess.Late(5*time.Second), pdf.ErrTooHeavy)
}

// TestOnlyItsOwnProcessEnds: the file unpacks to more than the process may have. In this process it would end the test.
func TestOnlyItsOwnProcessEnds(t *testing.T) {
	if pdfprocess.Overhead > 1 {
		t.Skip("with the race detector, the bound is far above what files need")
	}
	bomb := hostile.Page("/Contents 4 0 R", hostile.Stream("/Filter/FlateDecode", hostile.Zeros(90, ' ')))
	_, err := pdfprocess.New().Inspect(t.Context(), bomb)
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
		err := pdfprocess.Death("bounded\n" + said)
		require.ErrorIs(t, err, pdf.ErrTooHeavy)
		require.ErrorContains(t, err, want)
	}
	err := pdfprocess.Death("fatal error: runtime: cannot allocate memory\n")
	require.Nil(t, pdf.Refusal(err), "it did not have all of its memory")
	require.ErrorContains(t, err, "ulimit")
	err = pdfprocess.Death("bounded\npanic: what is this\n\ngoroutine 1")
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

// TestSharesTakeTurns: many uploads of one share delay that of another by one.
func TestSharesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := pdfprocess.New()
		many, one := pool.Share(), pool.Share()
		var busy atomic.Int64
		upload := func(p *pdfprocess.Pool) {
			leave, err := p.Enter(t.Context())
			if err != nil {
				busy.Add(1)
				return
			}
			time.Sleep(4 * time.Second)
			leave()
		}
		for range 6 {
			go upload(many)
		}
		synctest.Wait()
		start := time.Now()
		upload(one)
		require.Equal(t, 8*time.Second, time.Since(start), "after the one under way")
		time.Sleep(time.Minute)
		require.EqualValues(t, 4, busy.Load(), "those of the many that did not get their turn within 10 s")
	})
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

// TestTooLittleMemoryIsNoFault: under a limit of whoever started the sandbox, no process gets the memory that a file may take.
func TestTooLittleMemoryIsNoFault(t *testing.T) {
	if pdfprocess.Overhead > 1 || runtime.GOOS != "linux" {
		t.Skip("the race detector needs more address space than any limit leaves")
	}
	if os.Getenv("LIMITED") == "" {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -d 200000 && exec "$0" -test.run '^TestTooLittleMemoryIsNoFault$'`, "/proc/self/exe")
		self, err := os.Executable()
		require.NoError(t, err)
		cmd.Args[len(cmd.Args)-1] = self
		cmd.Env = append(os.Environ(), "LIMITED=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	_, err := pdfprocess.New().Inspect(t.Context(), hostile.Page("/Contents 4 0 R", hostile.Stream("/Filter/FlateDecode", hostile.Zeros(90, ' '))))
	require.Error(t, err)
	require.Nil(t, pdf.Refusal(err))
	require.ErrorContains(t, err, "ulimit")
}
