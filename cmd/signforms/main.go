// Command signforms runs a sandbox of the signing and forms service, and operates the service from a shell.
//
// Run signforms help for the list of commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdfprocess"
	"github.com/signforms/signforms-go/cmd/signforms/internal/service"
)

func init() { cobra.EnableCommandSorting = false } // help lists commands in the order of commands

func main() {
	pdfprocess.Main()
	os.Exit(runProcess(service.Commands{}))
}

// runProcess carries out the command line of this process until it ends or is interrupted, and returns the exit code.
func runProcess(onService service.Commands) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ends = append(ends, syscall.SIGHUP) // the terminal was closed
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl+C ends the program at once
	return run(ctx, onService, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}
