// Package pdfprocess inspects and finishes PDFs in processes of their own, because a hostile file can end the process
// that reads it. The program starts itself for each file, and the process bounds its memory and its processor time
// before it reads a byte.
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

// The bounds of one process.
const (
	maxCPU    = 10 // seconds, on Linux
	maxTime   = time.Minute
	maxOutput = 3 * pdf.MaxSize
	maxStderr = 64 << 10
)

// maxWait is how long a job waits for room.
const maxWait = 10 * time.Second

// A Pool starts the processes. It is safe for concurrent use.
type Pool struct{ inspecting, finishing kind }

// kind is a kind of processes.
type kind struct {
	room   chan struct{} // has space for as many values as there may be processes at a time
	memory int           // megabytes of each, on top of what the program takes to start
}

// New returns a pool. A program needs one: its processes have up to 880 MB together, besides what each takes to start.
// Inspecting has room of its own, so that uploads do not wait for files that take long to finish, and less memory, so
// that what was accepted can be finished.
func New() *Pool {
	return &Pool{
		inspecting: kind{room: make(chan struct{}, 1), memory: 240 * overhead},
		finishing:  kind{room: make(chan struct{}, 2), memory: 320 * overhead},
	}
}

// Inspect is [pdf.Inspect] in another process. It waits for others, for 10 seconds at most, and then fails with
// [pdf.ErrBusy]. A file that exceeds the bounds of the process is refused with [pdf.ErrTooHeavy].
func (p *Pool) Inspect(ctx context.Context, data []byte) (pdf.Content, error) {
	if len(data) > pdf.MaxSize {
		return pdf.Content{}, pdf.ErrTooLarge
	}
	a, err := p.inspecting.run(ctx, job{}, data)
	return a.Content, err
}

// Finish is [pdf.Finish] in another process. It waits for others as Inspect does. A file that exceeds the bounds of the
// process fails with [pdf.ErrTooHeavy].
func (p *Pool) Finish(ctx context.Context, original []byte, marks []pdf.Mark, cert pdf.Certificate, sealer *pdf.Sealer) ([]byte, error) {
	a, err := p.finishing.run(ctx, job{Finish: true, Marks: marks, Certificate: cert, Sealer: sealer}, original)
	return a.file, err
}

// Stamp is [pdf.Stamp] in another process, of those that finish files. It waits for others as Inspect does. A file that
// exceeds the bounds of the process fails with [pdf.ErrTooHeavy].
func (p *Pool) Stamp(ctx context.Context, original []byte, marks []pdf.Mark) ([]byte, error) {
	a, err := p.finishing.run(ctx, job{Stamp: true, Marks: marks}, original)
	return a.file, err
}

// FindTooLong is [pdf.FindTooLong] in another process, of those that finish files.
func (p *Pool) FindTooLong(ctx context.Context, original []byte, marks []pdf.Mark) (*pdf.TooLong, error) {
	a, err := p.finishing.run(ctx, job{Measure: true, Marks: marks}, original)
	return a.TooLong, err
}

// job is what a process gets on its standard input: this as a line of JSON, then the PDF.
type job struct {
	Finish      bool // otherwise: stamp, measure or inspect
	Stamp       bool
	Measure     bool
	Marks       []pdf.Mark
	Certificate pdf.Certificate
	Sealer      *pdf.Sealer
}

// answer is what a process writes to its standard output: this as a line of JSON, then the finished or stamped file.
type answer struct {
	Refusal string // a reason of package pdf, or empty
	Error   string // empty: done
	Content pdf.Content
	TooLong *pdf.TooLong
	Size    int // of the file, in bytes

	file []byte
}

// run has one job done when there is room.
func (k kind) run(ctx context.Context, j job, content []byte) (a answer, err error) {
	leave, err := k.enter(ctx)
	if err != nil {
		return a, err
	}
	defer leave()
	return k.start(ctx, j, content)
}

// enter waits for room.
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

// start has one job done in a process of its own.
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
		cancel() // it must not go on writing
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

// runtimeBounds keep the runtime small. Without them it has a thread for each processor, and with cgo each thread
// reserves 64 MB for C's memory, which has nothing to do with the file.
var runtimeBounds = []string{"GOMAXPROCS=2", "MALLOC_ARENA_MAX=1"}

// command returns the command that starts this program as a process for one PDF. The process gets no other variable: it
// needs none.
func (k kind) command(ctx context.Context) (*exec.Cmd, error) {
	if !handled {
		return nil, errors.New("pdfprocess: the program has not called Main")
	}
	self := "/proc/self/exe" // stays the same program when its file is replaced
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = []string{os.Args[0], "(PDF)"} // for those who list processes
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

// death returns why a process ended without an answer. stderr holds what Go prints when a program dies.
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
		{"signal: killed", "more processor time or memory than it may"}, // by the kernel, before it could say why
	} {
		if strings.Contains(stderr+err.Error(), cause.said) {
			return fmt.Errorf("%w (%s)", pdf.ErrTooHeavy, cause.means)
		}
	}
	first, _, _ := strings.Cut(stderr, "\n")
	return fmt.Errorf("the process for the PDF ended: %w: %.200s", err, first)
}

// head keeps the beginning of what is written to it.
type head struct{ text []byte }

func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), maxStderr-len(h.text))]...)
	return len(p), nil
}
