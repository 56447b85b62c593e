// Command signforms runs a sandbox of the signing and forms service, and operates the service from a shell.
//
// Run signforms help for the list of commands.
package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // time zones for images and machines without them

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
)

func init() { cobra.EnableCommandSorting = false } // help lists commands in the order of the function commands

func main() {
	pdfprocess.Main()
	os.Exit(runProcess(replaced{}))
}

// runProcess executes the command line of this process until the command ends or is interrupted,
// and returns the exit code.
func runProcess(replaced replaced) int {
	log.SetOutput(withoutIdle{os.Stderr})
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) { // nohup makes processes ignore SIGHUP
		ends = append(ends, syscall.SIGHUP) // sent when the terminal is closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	secondEnds(ctx, stop)
	return run(ctx, replaced, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// withoutIdle removes a log line of net/http's client. The line reports that a server sent data on
// a connection that no request uses, as some servers do before they close it. The line concerns no
// request, and net/http has no other way to suppress it.
type withoutIdle struct{ w io.Writer }

func (o withoutIdle) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("Unsolicited response received on idle HTTP channel")) {
		return len(line), nil
	}
	return o.w.Write(line)
}

// sameSignal is the time after the first signal during which further signals count as the same one.
// The program timeout of coreutils signals the process and then its process group.
const sameSignal = time.Second

// secondEnds calls stop when sameSignal has passed since ctx ended. From then on a second Ctrl+C ends the program at
// once.
func secondEnds(ctx context.Context, stop func()) {
	context.AfterFunc(ctx, func() {
		time.Sleep(sameSignal)
		stop()
	})
}
