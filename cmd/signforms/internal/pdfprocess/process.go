package pdfprocess

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// variable is an environment variable of the processes that a Pool starts. Its value is the number
// of megabytes of memory that each process may use.
const variable = "SIGNFORMS_PDF_PROCESS"

// maxStack is the maximum size of the stack of a goroutine, in bytes. It limits how deeply a file
// may be nested.
const maxStack = 64 << 20

// handled is set by Main. Without Main, each process of a Pool would run the whole program and
// start further processes.
var handled bool

// Main executes the job of a process that a [Pool] has started, and ends the process. In any other
// process it returns at once. A program that uses a Pool must call Main before it does anything
// else, and so must the TestMain of a test.
func Main() {
	handled = true
	memory := os.Getenv(variable)
	if memory == "" {
		return
	}
	err := prepare(memory)
	if err == nil {
		err = work(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// prepare limits the memory and the time of this process.
func prepare(memory string) error {
	signal.Ignore(os.Interrupt) // Ctrl+C is for the parent, which waits for running jobs
	megabytes, err := strconv.ParseUint(memory, 10, 16)
	if err != nil {
		return fmt.Errorf("%s: %w", variable, err)
	}
	bytes := megabytes << 20
	debug.SetMemoryLimit(int64(bytes / 4 * 3)) // makes the runtime collect garbage before the limit is reached
	debug.SetMaxStack(maxStack)
	if err := bound(bytes); err != nil {
		return fmt.Errorf("bounding the process: %w", err)
	}
	return nil
}

// work reads a job, executes it and writes the answer.
func work(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(line, &j); err != nil {
		return err
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	a := j.do(content)
	a.Size = len(a.file)
	line, err = json.Marshal(a)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(line, '\n')); err != nil {
		return err
	}
	_, err = out.Write(a.file)
	return err
}

func (j job) do(content []byte) (a answer) {
	var err error
	switch {
	case j.Finish:
		a.file, err = pdf.Finish(content, j.Marks, j.Certificate, j.Sealer)
	case j.Stamp:
		a.file, err = pdf.Stamp(content, j.Marks)
	case j.Measure:
		a.TooLong, err = pdf.FindTooLong(content, j.Marks)
	default:
		a.Content, err = pdf.Inspect(content)
	}
	if err == nil {
		return a
	}
	a = answer{Error: err.Error()}
	if reason := pdf.Refusal(err); reason != nil {
		a.Refusal = reason.Error()
	}
	return a
}

// readAnswer reads the output of work.
func readAnswer(out io.Reader) (a answer, err error) {
	r := bufio.NewReader(io.LimitReader(out, maxOutput))
	line, err := r.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	if a.Size < 0 || a.Size > maxOutput {
		return a, fmt.Errorf("the finished file has %d bytes, and may have %d at most", a.Size, maxOutput)
	}
	if a.Size > 0 {
		a.file = make([]byte, a.Size)
		_, err = io.ReadFull(r, a.file)
	}
	return a, err
}
