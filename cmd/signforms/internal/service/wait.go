package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// The first and the longest wait between two checks of a document, and the time limit of the last
// check, which is made when the wait ends.
const (
	firstLook   = time.Second
	longestLook = 30 * time.Second
	lastLook    = time.Second
)

// looks waits until a document has one of some statuses.
type looks struct {
	look    func(context.Context) (signforms.DocumentStatus, any, error) // returns the status, and the value that --json prints
	want    []signforms.DocumentStatus
	timeout time.Duration
	stderr  io.Writer
}

func newDocumentsWait() *cobra.Command {
	var conn Connection
	var asJSON bool
	w := looks{want: []signforms.DocumentStatus{signforms.StatusSigned}}
	cmd := &cobra.Command{
		Use:   "wait ID",
		Short: "Wait until a document has a status",
		Long: `Wait checks a document until it has a status of --for, and prints its status. ID is a documentId or, for a document
made from a template, its createdDocumentId. The time between two checks grows from 1 to 30 seconds, unless the service
asks for another. If the service does not respond, reports an error of its own or reports too many requests, wait prints
that and checks again. If the document is not found, wait ends at once.

The exit code is 0 if the status is reached. It is 1 if the status is not reached within --timeout; the last check may
take a second more. It is 3 if the document has another final status: SIGNED, PAID, DECLINED, EXPIRED, DELETED or VOID.
With --for paid, SIGNED is not final.`,
		Example: "  signforms documents wait 3f0c1c9e-7f1d-4f7b-9c62-0a4ad2a3b3b1 --for signed --timeout 10m",
		Args:    cli.ExactlyOne("ID of a document"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.timeout <= 0 {
				return cli.UsageError("--timeout must be more than 0")
			}
			client, err := conn.Connect()
			if err != nil {
				return err
			}
			w.look, w.stderr = lookAt(client, args[0]), cmd.ErrOrStderr()
			status, record, err := w.run(cmd.Context())
			if record == nil {
				return err
			}
			if asJSON {
				return errors.Join(err, cli.EncodeJSON(cmd.OutOrStdout(), record, ""))
			}
			_, printed := fmt.Fprintln(cmd.OutOrStdout(), cli.Plain(string(status)))
			return errors.Join(err, printed)
		},
	}
	cli.SomeOf(cmd, "status", "for", "the status, or several with commas: %s (default signed)", documentStatuses, func(all []signforms.DocumentStatus) error {
		w.want = all
		return nil
	})
	cmd.Flags().DurationVar(&w.timeout, "timeout", 10*time.Minute, "how long to wait in all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the document as one line of JSON")
	conn.AddFlags(cmd)
	return cmd
}

// lookAt returns a function that checks a document. A document made from a template has an id of 24
// hexadecimal digits.
func lookAt(client *signforms.Client, id string) func(context.Context) (signforms.DocumentStatus, any, error) {
	if len(id) == 24 {
		return func(ctx context.Context) (signforms.DocumentStatus, any, error) {
			r, err := client.Respondents.Get(ctx, id)
			if err != nil {
				return "", nil, err
			}
			return r.Status, respondentShape(r), nil
		}
	}
	return func(ctx context.Context) (signforms.DocumentStatus, any, error) {
		d, err := client.Documents.Get(ctx, id)
		if err != nil {
			return "", nil, err
		}
		return d.Status, documentShape(d), nil
	}
}

// run returns the status that ended the wait and its record, or no record.
func (w *looks) run(ctx context.Context) (signforms.DocumentStatus, any, error) {
	deadline := time.Now().Add(w.timeout)
	said := "" // the last status printed on stderr
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		var asked time.Duration // the Retry-After of the service
		bounded, cancel := context.WithTimeout(ctx, max(time.Until(deadline), lastLook))
		status, record, err := w.look(bounded)
		late := bounded.Err() != nil
		cancel()
		status = signforms.DocumentStatus(strings.ToUpper(string(status))) // in upper case, as the values of --for
		is := "the document is " + cli.Plain(string(status))
		switch {
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case err != nil && late:
			return "", nil, w.late(said)
		case err == nil && slices.Contains(w.want, status):
			return status, record, nil
		case err == nil && w.ended(status):
			return status, record, cli.ExitWith(cli.ExitPartial, fmt.Errorf("%s, which no longer changes", is))
		case err != nil:
			e, ok := errors.AsType[*signforms.Error](err)
			if !ok || !errors.Is(err, signforms.ErrUnavailable) && !errors.Is(err, signforms.ErrRateLimited) {
				return "", nil, err
			}
			is, asked = InFlags(err).Error(), e.RetryAfter
		}
		if is != said {
			fmt.Fprintln(w.stderr, is)
		}
		said = is
		left := time.Until(deadline)
		if left <= 0 {
			return "", nil, w.late(said)
		}
		select {
		case <-ctx.Done():
			return "", nil, ctx.Err()
		case <-time.After(min(max(pause, asked), left)):
		}
		if asked > left {
			return "", nil, w.late(said)
		}
	}
}

// ended reports whether a document with this status can no longer get one of the wanted statuses.
func (w *looks) ended(status signforms.DocumentStatus) bool {
	switch status {
	case signforms.StatusSigned:
		return !slices.Contains(w.want, signforms.StatusPaid) // the document may be paid later (not documented by the service)
	case signforms.StatusPaid, signforms.StatusDeclined, signforms.StatusExpired, signforms.StatusDeleted, signforms.StatusVoid:
		return true
	}
	return false
}

func (w *looks) late(said string) error {
	if said == "" {
		said = "there was no answer"
	}
	return fmt.Errorf("not %s within %v: %s", strings.Join(cli.Texts(w.want), " or "), w.timeout, said)
}
