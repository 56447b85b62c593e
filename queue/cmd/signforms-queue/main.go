// Command signforms-queue lists, retries and erases the events of package queue, and shows the state of a queue.
//
// Run signforms-queue help for its commands and flags.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes of the program. The program signforms uses the same codes.
const (
	exitOK      = 0
	exitFailure = 1 // the command failed, or was executed only in part
	exitUsage   = 2 // the command line is wrong
)

const help = `signforms-queue looks after the events of package queue.

Usage:

	signforms-queue list  [flags]   print the events that are selected, oldest first
	signforms-queue retry [flags]   make failed events, and those that wait for a next try, due now
	signforms-queue erase [flags]   erase events, wherever they are; what runs is waited for
	signforms-queue stats [flags]   print how many events wait, failed and are due
	signforms-queue create [flags]  make the tables in a Postgres database

Where the queue is:

	-db FILE          a SQLite file
	-postgres DSN     a Postgres database, as in "postgres://user@host/database"; better set in the
	                  environment as SIGNFORMS_QUEUE_POSTGRES, where other users do not see it

Which events (list, retry, erase); what is given must all hold:

	-failed           events that failed
	-pending          events that are not settled
	-done             events that were processed; retry takes those whose JSON is kept. Of -failed,
	                  -pending and -done several may be given: events in any of these states
	-document ID      events of a document; of a template, by the template's id
	-response ID      events of a form response
	-signer ID        events of a template that name the signer; may be repeated
	-type TYPE        events of one type, such as new_form_response
	-since TIME       received then or later: RFC 3339, or how long ago, as in 24h;
	                  not ahead
	-before TIME      received before
	-id N             the event with this number; may be repeated

How to create:

	-sql              print the SQL instead, to run it by other means; needs no database

Flags of all commands:

	-json             print JSON: list prints one object a line

retry and erase refuse to select everything: say -failed, -pending or what else.

Exit codes: 0 done, even when nothing was selected; 1 failed; 2 the command line is wrong.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// errUsage is matched by errors about the command line.
var errUsage = errors.New("see signforms-queue help")

func usage(format string, args ...any) error {
	return fmt.Errorf("%s; %w", fmt.Sprintf(format, args...), errUsage)
}

// run runs one command line and returns the exit code. Data goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, getenv, stdout)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "signforms-queue:", err)
		return exitUsage
	}
	fmt.Fprintln(stderr, "signforms-queue:", err)
	return exitFailure
}

func dispatch(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) error {
	if len(args) == 0 {
		return usage("no command: use list, retry, erase, stats or create")
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(stdout, help)
		return err
	}
	do, known := commands[name]
	if !known && name != "create" {
		return usage("unknown command %q: use list, retry, erase, stats or create", name)
	}
	c := &command{name: name, out: stdout}
	if err := c.parse(rest, getenv); errors.Is(err, flag.ErrHelp) {
		_, err := io.WriteString(stdout, help)
		return err
	} else if err != nil {
		return err
	}
	if name == "create" {
		return c.create(ctx)
	}
	return c.run(ctx, do)
}
