// Package pdfprocess inspects and finishes PDFs in separate processes, because a hostile file can
// end the process that reads it. The program starts itself for each file. The new process limits
// its memory and its processor time before it reads a byte.
//
// Start with [New] and [Main]. The work itself is in package pdf.
package pdfprocess

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// The limits of one process.
const (
	maxCPU    = 10 // seconds, on Linux
	maxTime   = time.Minute
	maxOutput = 3 * pdf.MaxSize
	maxStderr = 64 << 10
)

// maxWait is how long a job waits for a free process.
const maxWait = 10 * time.Second

// A Pool starts the processes. It is safe for concurrent use.
type Pool struct{ inspecting, finishing kind }

// kind is a kind of processes.
type kind struct {
	room   chan struct{} // has room for one value per concurrent process
	memory int           // megabytes of each process, in addition to the memory that the program needs to start
}

// New returns a pool. A program needs only one. Its processes use up to 880 MB together, in
// addition to the memory that each needs to start.
//
// Inspecting has its own processes, so that uploads do not wait for files that take long to finish.
// An inspecting process has less memory than a finishing one, so that an accepted file can be
// finished.
func New() *Pool {
	return &Pool{
		inspecting: kind{room: make(chan struct{}, 1), memory: 240 * overhead},
		finishing:  kind{room: make(chan struct{}, 2), memory: 320 * overhead},
	}
}

// Inspect is [pdf.Inspect] in another process. It waits at most 10 seconds for a free process, and
// then returns [pdf.ErrBusy]. If the file exceeds the limits of the process, Inspect returns
// [pdf.ErrTooHeavy].
func (p *Pool) Inspect(ctx context.Context, data []byte) (pdf.Content, error) {
	if len(data) > pdf.MaxSize {
		return pdf.Content{}, pdf.ErrTooLarge
	}
	a, err := p.inspecting.run(ctx, job{}, data)
	return a.Content, err
}

// Finish is [pdf.Finish] in another process. It waits for a free process as Inspect does. If the
// file exceeds the limits of the process, Finish returns [pdf.ErrTooHeavy].
func (p *Pool) Finish(ctx context.Context, original []byte, marks []pdf.Mark, cert pdf.Certificate, sealer *pdf.Sealer) ([]byte, error) {
	a, err := p.finishing.run(ctx, job{Finish: true, Marks: marks, Certificate: cert, Sealer: sealer}, original)
	return a.file, err
}

// Stamp is [pdf.Stamp] in a process that finishes files. It waits for a free process as Inspect
// does. If the file exceeds the limits of the process, Stamp returns [pdf.ErrTooHeavy].
func (p *Pool) Stamp(ctx context.Context, original []byte, marks []pdf.Mark) ([]byte, error) {
	a, err := p.finishing.run(ctx, job{Stamp: true, Marks: marks}, original)
	return a.file, err
}

// FindTooLong is [pdf.FindTooLong] in a process that finishes files.
func (p *Pool) FindTooLong(ctx context.Context, original []byte, marks []pdf.Mark) (*pdf.TooLong, error) {
	a, err := p.finishing.run(ctx, job{Measure: true, Marks: marks}, original)
	return a.TooLong, err
}

// job is the input of a process on its standard input: the job as a line of JSON, and then the PDF.
type job struct {
	Finish      bool // false: stamp, measure or inspect
	Stamp       bool
	Measure     bool
	Marks       []pdf.Mark
	Certificate pdf.Certificate
	Sealer      *pdf.Sealer
}

// answer is the output of a process on its standard output: the answer as a line of JSON, and then
// the finished or stamped file.
type answer struct {
	Refusal string // text of an error of package pdf, or empty
	Error   string // empty: the job succeeded
	Content pdf.Content
	TooLong *pdf.TooLong
	Size    int // size of the file, in bytes

	file []byte
}

// run executes one job when a process is free.
func (k kind) run(ctx context.Context, j job, content []byte) (a answer, err error) {
	leave, err := k.enter(ctx)
	if err != nil {
		return a, err
	}
	defer leave()
	return k.start(ctx, j, content)
}

// enter waits for a free process.
func (k kind) enter(ctx context.Context) (leave func(), err error) {
	waited := time.NewTimer(maxWait)
	defer waited.Stop()
	select {
	case k.room <- struct{}{}:
		return func() { <-k.room }, nil
	case <-waited.C:
		return nil, pdf.ErrBusy
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start executes one job in a new process.
func (k kind) start(ctx context.Context, j job, content []byte) (a answer, err error) {
	line, err := json.Marshal(j)
	if err != nil {
		return a, err
	}
	bounded, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	cmd, err := k.command(bounded)
	if err != nil {
		return a, err
	}
	cmd.Stdin = io.MultiReader(bytes.NewReader(line), strings.NewReader("\n"), bytes.NewReader(content))
	stderr := &head{}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return a, err
	}
	if err := cmd.Start(); err != nil {
		return a, fmt.Errorf("starting a process for a PDF: %w", err)
	}
	a, readErr := readAnswer(stdout)
	if readErr != nil {
		cancel() // the process must not continue to write
	}
	switch waitErr := cmd.Wait(); {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case waitErr != nil && bounded.Err() == context.DeadlineExceeded:
		return answer{}, fmt.Errorf("%w (more than %v)", pdf.ErrTooHeavy, maxTime)
	case waitErr != nil || readErr != nil:
		return answer{}, k.death(errors.Join(waitErr, readErr), string(stderr.text))
	}
	return a, a.err()
}

// runtimeBounds reduce the memory of the runtime. Without them the runtime has a thread for each
// processor, and with cgo each thread reserves 64 MB for C's memory, whatever the file is.
var runtimeBounds = []string{"GOMAXPROCS=2", "MALLOC_ARENA_MAX=1"}

// command returns the command that starts this program as a process for one PDF. The process gets
// no other environment variables, because it needs none.
func (k kind) command(ctx context.Context) (*exec.Cmd, error) {
	if !handled {
		return nil, errors.New("pdfprocess: the program has not called Main")
	}
	self := "/proc/self/exe" // remains the same program if its file is replaced
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{os.Args[0], "(PDF)"} // shown in lists of processes
	cmd.Env = slices.Concat([]string{variable + "=" + strconv.Itoa(k.memory)}, runtimeBounds, environment)
	cmd.WaitDelay = time.Second
	return cmd, nil
}

// err returns the error of an answer, so that errors.Is finds the reasons of package pdf.
func (a answer) err() error {
	if reason := pdf.RefusalOf(a.Refusal); reason != nil {
		return fmt.Errorf("%w%s", reason, strings.TrimPrefix(a.Error, a.Refusal))
	}
	if a.Error != "" {
		return errors.New(a.Error)
	}
	return nil
}

// death returns why a process ended without an answer. stderr is the text that Go prints when a
// program dies.
func (k kind) death(err error, stderr string) error {
	memory := fmt.Sprintf("more than %d MB of memory", k.memory)
	for _, cause := range []struct{ said, means string }{
		{"SIGXCPU", fmt.Sprintf("more than %d s of processor time", maxCPU)},
		{"stack exceeds", "nested too deeply"},
		{"stack overflow", "nested too deeply"},
		{"out of memory", memory},
		{"cannot allocate memory", memory},
		{"cannot map pages", memory},
		{"pthread_create failed", memory},
		{"signal: killed", "more processor time or memory than it may"}, // killed by the kernel before it could report the reason
	} {
		if strings.Contains(stderr+err.Error(), cause.said) {
			return fmt.Errorf("%w (%s)", pdf.ErrTooHeavy, cause.means)
		}
	}
	first, _, _ := strings.Cut(stderr, "\n")
	return fmt.Errorf("the process for the PDF ended: %w: %.200s", err, first)
}

// head keeps the beginning of the text that is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxStderr-len(h.text))]...)
	return len(p), nil
}
