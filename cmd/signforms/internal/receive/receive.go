// Package receive has the commands that sign, verify, diagnose and receive webhook deliveries.
package receive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/redact"
	"github.com/signforms/signforms-go/internal/atomicfile"
	"github.com/signforms/signforms-go/webhook"
)

// receiver prints the deliveries that it receives.
type receiver struct {
	addr      string
	tolerance time.Duration
	record    string
	json      bool
	secrets   webhookSecrets

	verifier *webhook.Verifier
	all      []string // the secrets
	stderr   io.Writer
	mu       sync.Mutex // guards the printer, stderr and the recorder
	events   *cli.Printer[webhook.Event]
	recorded int
}

// Command returns the command receive.
func Command() *cobra.Command {
	var r receiver
	cmd := &cobra.Command{
		Use:   "receive",
		Short: "Receive webhooks, verify them and print their events",
		Long: `Receive verifies webhook deliveries and prints their events, or why it refuses one. It responds to genuine
deliveries with 200 and to others with 401, 408 or 413, and runs until Ctrl+C. For a service on another machine, put a tunnel
or a proxy with TLS in front of it.

With --record it stores the body of each genuine delivery in a folder, as samples for tests. All names,
addresses, ids, links and answers are replaced, and so is everything that the documentation of the service
does not name. The signature does not match the stored body.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&r.addr, "addr", "127.0.0.1:8080", "where to listen; :8080 for every address of this machine")
	f.DurationVar(&r.tolerance, "tolerance", 5*time.Minute, "how far the timestamp of a delivery may be off")
	f.StringVar(&r.record, "record", "", "`folder` that keeps the deliveries with personal data replaced")
	f.BoolVar(&r.json, "json", false, "print each event whole, one a line")
	r.secrets.addFlags(cmd)
	return cmd
}

func (r *receiver) run(cmd *cobra.Command) error {
	if err := cli.CheckAddr(r.addr); err != nil {
		return err
	}
	var err error
	if r.all, err = r.secrets.read(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if r.verifier, err = newVerifier(r.all, r.tolerance); err != nil {
		return err
	}
	if r.record != "" {
		if err := os.MkdirAll(r.record, 0o700); err != nil {
			return err
		}
	}
	r.events, r.stderr = eventPrinter(cmd, cli.Output{JSON: r.json}), cmd.ErrOrStderr()
	l, err := net.Listen("tcp", r.addr)
	if err != nil {
		return fmt.Errorf("%w; choose another one with --addr", err)
	}
	fmt.Fprintf(r.stderr, "receiving at http://%s/, any path; Ctrl+C ends it\n", l.Addr())
	return serveUntil(cmd.Context(), l, r)
}

// readTimeout is how long a request may take to arrive.
const readTimeout = 20 * time.Second

// serveUntil serves until ctx ends. Then it waits up to 5 seconds for running requests.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{Handler: h, ReadTimeout: readTimeout, WriteTimeout: readTimeout + 10*time.Second, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if srv.Shutdown(grace) != nil { // most likely the cause is a connection without a request
		srv.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// maxBody is the maximum size of the body of a delivery, in bytes.
const maxBody = 1 << 20

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		r.refuseUnread(w, req, err)
		return
	}
	events, err := r.verifier.Events(req.Header, body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refuse(w, req, http.StatusUnauthorized, "refused", refusal(err, req.Header))
		fmt.Fprintln(r.stderr, webhook.Diagnose(r.all, req.Header, body))
		return
	}
	for _, e := range events {
		if err := r.events.Print(e); err != nil {
			fmt.Fprintln(r.stderr, err)
		}
	}
	if r.record != "" {
		if err := r.keep(events, body); err != nil {
			fmt.Fprintln(r.stderr, "not recorded:", err)
		}
	}
	io.WriteString(w, `{"status":"ok"}`)
}

// refuseUnread refuses a delivery whose body could not be read to its end.
func (r *receiver) refuseUnread(w http.ResponseWriter, req *http.Request, err error) {
	status, word, reason := http.StatusRequestTimeout, "body incomplete", "the body did not arrive whole: the connection broke"
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		status, word, reason = http.StatusRequestEntityTooLarge, "too large", fmt.Sprintf("the body is larger than %d bytes", maxBody)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		reason = fmt.Sprintf("the body did not arrive within %v", readTimeout)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse(w, req, status, word, reason)
}

// refuse responds to a request and prints the reason.
func (r *receiver) refuse(w http.ResponseWriter, req *http.Request, status int, word, reason string) {
	fmt.Fprintf(r.stderr, "%s refused %s %s: %s\n",
		time.Now().Format(time.TimeOnly), cli.Plain(req.Method), cli.Plain(req.URL.Path), reason)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"status":%q}`, word)
}

// keep writes a delivery into the folder, with personal data replaced.
func (r *receiver) keep(events []webhook.Event, body []byte) error {
	text, err := redact.New().JSON(body)
	if err != nil {
		return err
	}
	kind := "event"
	if len(events) > 0 {
		if _, unknown := events[0].(*webhook.UnknownEvent); !unknown {
			kind = string(events[0].EventType())
		}
	}
	r.recorded++
	name := fmt.Sprintf("%s-%03d-%s.json", time.Now().UTC().Format("20060102T150405"), r.recorded, kind)
	return atomicfile.Write(filepath.Join(r.record, name), text)
}
