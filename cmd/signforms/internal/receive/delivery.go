package receive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/webhook"
)

// Webhook returns the command webhook.
func Webhook() *cobra.Command {
	return cli.Group("webhook", "Sign, verify and diagnose single deliveries",
		newWebhookSign(), newWebhookVerify(), newWebhookDiagnose())
}

// delivery is one delivery from a file or from stdin. Its headers are given by flags or, with
// --request, by the file itself.
type delivery struct {
	secrets webhookSecrets
	headers []string
	request bool
}

func (d *delivery) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&d.headers, "header", "H", nil, "a `header` of the delivery, as in \"X-Timestamp: 1732180000\"; may be repeated")
	cmd.Flags().BoolVar(&d.request, "request", false, "what is read is a whole HTTP request, with its headers")
	d.secrets.addFlags(cmd)
}

// maxDelivery is the maximum size of a delivery, in bytes.
const maxDelivery = 10 << 20

// readInput reads the file that args name. Without a name, or with "-", it reads stdin.
func readInput(cmd *cobra.Command, args []string) ([]byte, error) {
	if len(args) == 0 || args[0] == "-" {
		text, err := cli.ReadAll(cmd.InOrStdin(), "what was typed or piped", maxDelivery)
		if err == nil && len(text) == 0 {
			err = cli.UsageError("there is no input: name a file, or pipe it")
		}
		return text, err
	}
	return cli.ReadFile(args[0], maxDelivery)
}

func (d *delivery) read(cmd *cobra.Command, args []string) (http.Header, []byte, error) {
	body, err := readInput(cmd, args)
	if err != nil {
		return nil, nil, err
	}
	header := http.Header{}
	if d.request {
		req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(body)))
		if err != nil {
			return nil, nil, fmt.Errorf("the request cannot be read: %w", err)
		}
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, nil, fmt.Errorf("the request's body ends early: %w", err)
		}
		header = req.Header
	}
	for _, line := range d.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, nil, cli.UsageError("--header %q: say Name: value", name)
		}
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return header, body, nil
}

func newWebhookSign() *cobra.Command {
	var secrets webhookSecrets
	var at time.Time
	cmd := &cobra.Command{
		Use:   "sign [FILE]",
		Short: "Print the headers that the service would send with a body",
		Long: `Sign reads a body, byte for byte as it is sent, from a file or stdin, and prints the two headers that sign it.
With curl, and the same --timestamp both times:

  curl -H "$(signforms webhook sign body.json | head -1)" -H "$(… | tail -1)" --data-binary @body.json URL`,
		Args: cli.AtMostOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := secrets.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if _, err := webhook.NewVerifier(all, nil); err != nil {
				return cli.UsageError("%w", err)
			}
			body, err := readInput(cmd, args)
			if err != nil {
				return err
			}
			if at.IsZero() {
				at = time.Now()
			}
			header := webhook.Sign(all[0], at, body)
			for _, name := range []string{webhook.TimestampHeader, webhook.SignatureHeader} {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", name, header.Get(name)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().Var(momentFlag(&at), "timestamp", "when it is signed: a time, or seconds since 1970 as in the header (default now)")
	secrets.addFlags(cmd)
	return cmd
}

func newWebhookVerify() *cobra.Command {
	var d delivery
	var tolerance time.Duration
	var json bool
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify a delivery and print its events",
		Long: `Verify reads a body, or with --request a whole HTTP request, from a file or stdin. It prints the events of a
genuine delivery and ends with exit code 1 for any other. It checks the age of a delivery only with --tolerance.`,
		Example: `  signforms webhook verify -H "X-Timestamp: 1732180000" -H "X-Signature: 0a1b…" body.json
  signforms webhook verify --request saved.http --tolerance 5m`,
		Args: cli.AtMostOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := d.secrets.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			v, err := newVerifier(all, tolerance)
			if err != nil {
				return err
			}
			header, body, err := d.read(cmd, args)
			if err != nil {
				return err
			}
			events, err := v.Events(header, body)
			if err != nil {
				text := refusal(err, header)
				if errors.Is(err, webhook.ErrSignature) || errors.Is(err, webhook.ErrHeaderMalformed) {
					text += "; signforms webhook diagnose looks for the reason"
				}
				return errors.New(text)
			}
			pr := eventPrinter(cmd, cli.Output{JSON: json})
			for _, e := range events {
				if err := pr.Print(e); err != nil {
					return err
				}
			}
			return pr.End()
		},
	}
	cmd.Flags().DurationVar(&tolerance, "tolerance", 0, "refuse deliveries whose timestamp is further off than this (default none is too old)")
	cmd.Flags().BoolVar(&json, "json", false, "print each event whole, one a line")
	d.addFlags(cmd)
	return cmd
}

// refusal returns why a delivery was refused, without terms of Go.
func refusal(err error, header http.Header) string {
	switch headers := []string{webhook.SignatureHeader, webhook.TimestampHeader}; {
	case errors.Is(err, webhook.ErrHeaderMissing):
		missing := slices.IndexFunc(headers, func(name string) bool { return len(header.Values(name)) == 0 })
		return "header missing: " + headers[max(missing, 0)] + "; the request is not a delivery, or a proxy removed the header"
	case errors.Is(err, webhook.ErrHeaderRepeated):
		repeated := slices.IndexFunc(headers, func(name string) bool { return len(header.Values(name)) > 1 })
		return "header given more than once: " + headers[max(repeated, 0)] + "; if the request is a delivery, a proxy added one"
	case errors.Is(err, webhook.ErrHeaderMalformed) && !hexadecimal(header.Get(webhook.SignatureHeader)):
		return "header malformed: " + webhook.SignatureHeader + " is not 64 lower-case hexadecimal digits"
	case errors.Is(err, webhook.ErrHeaderMalformed):
		return "header malformed: " + webhook.TimestampHeader + " is neither 10-digit Unix seconds, nor 13-digit Unix milliseconds, nor RFC 3339 ending in Z"
	case errors.Is(err, webhook.ErrSignature):
		return "signature does not match"
	case errors.Is(err, webhook.ErrTimestamp): // the text begins with that of ErrTimestamp, and the difference follows
		return "genuine, but its timestamp is not within --tolerance" + strings.TrimPrefix(err.Error(), webhook.ErrTimestamp.Error())
	}
	return withoutPackage(err)
}

func hexadecimal(signature string) bool {
	return len(signature) == 64 && strings.Trim(signature, "0123456789abcdef") == ""
}

// withoutPackage returns the text of an error without the name of the package at its beginning.
func withoutPackage(err error) string { return strings.TrimPrefix(err.Error(), "webhook: ") }

// newVerifier returns a verifier. With a tolerance of 0 it does not compare timestamps with the clock.
func newVerifier(secrets []string, tolerance time.Duration) (*webhook.Verifier, error) {
	if tolerance == 0 {
		tolerance = -1
	}
	v, err := webhook.NewVerifier(secrets, &webhook.VerifierOptions{Tolerance: tolerance, MaxBody: maxDelivery})
	if err != nil {
		return nil, cli.UsageError("%w", err)
	}
	return v, nil
}

func newWebhookDiagnose() *cobra.Command {
	var d delivery
	cmd := &cobra.Command{
		Use:   "diagnose [FILE]",
		Short: "Say why a delivery is refused",
		Long: `Diagnose tries known mistakes of senders and receivers, and says which of them explains the delivery, if one does.
It ends with exit code 0 when the delivery is genuine, else with 1. It prints no secrets.`,
		Args: cli.AtMostOne("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := d.secrets.read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			header, body, err := d.read(cmd, args)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), webhook.Diagnose(all, header, body)); err != nil {
				return err
			}
			v, err := newVerifier(all, 0)
			if err == nil {
				_, err = v.Events(header, body)
			}
			if err != nil {
				return errors.New("the delivery is not genuine")
			}
			return nil
		},
	}
	d.addFlags(cmd)
	return cmd
}

// eventRecord is an event as --json prints it.
type eventRecord struct {
	Type     webhook.EventType `json:"type"`
	Inferred bool              `json:"inferred,omitempty"`
	Subject  string            `json:"subject"`
	Event    any               `json:"event"`
}

func eventPrinter(cmd *cobra.Command, o cli.Output) *cli.Printer[webhook.Event] {
	return cli.NewPrinter(cmd, o, eventColumns, func(e webhook.Event) any {
		return eventRecord{e.EventType(), e.Inferred(), e.SubjectID(), e.Raw()}
	}, 1)
}

var eventColumns = []cli.Column[webhook.Event]{
	{Name: "event", Value: func(e webhook.Event) string { return string(e.EventType()) }},
	{Name: "subject", Value: webhook.Event.SubjectID},
	{Name: "about", Value: eventText},
}

// eventText returns a short description of an event.
func eventText(e webhook.Event) string {
	switch e := e.(type) {
	case *webhook.FormResponse:
		return strings.TrimSuffix(fmt.Sprintf("%q answered by %s", e.FormTitle, e.RespondentEmail), " by ") // the respondent may be unknown
	case *webhook.SignatureViewed:
		return fmt.Sprintf("%q viewed by %s", e.DocumentName, e.ViewedBy.Email)
	case *webhook.SignatureSigned:
		return fmt.Sprintf("%q signed by %s", e.DocumentName, e.SignedBy.Email)
	case *webhook.SignatureCompleted:
		return fmt.Sprintf("%q signed by all %d", e.DocumentName, len(e.Signers))
	case *webhook.TemplateViewed:
		return fmt.Sprintf("%q viewed by %s (%s)", e.DocumentName, e.ViewedBy.Email, e.ViewedBy.RoleTitle)
	case *webhook.TemplateSigned:
		return fmt.Sprintf("%q signed by %s (%s)", e.DocumentName, e.SignedBy.Email, e.SignedBy.RoleTitle)
	case *webhook.TemplateResponse:
		return fmt.Sprintf("%q signed by all %d", e.DocumentName, len(e.Signers))
	case *webhook.UnknownEvent:
		if e.Err != nil {
			return "cannot be read: " + withoutPackage(e.Err)
		}
	}
	return "is of a type that this program does not know"
}

// momentFlag returns a flag for a time, a day, or seconds since 1970 as in the header of a
// delivery.
func momentFlag(at *time.Time) pflag.Value {
	day := cli.DayFlag(at, false)
	return cli.FuncFlag(day.Type(), func(text string) error {
		if seconds, err := strconv.ParseInt(text, 10, 64); err == nil && seconds > 0 {
			*at = time.Unix(seconds, 0)
			return nil
		}
		if day.Set(text) != nil {
			return errors.New("must be seconds since 1970 such as 1732180000, a time such as 2026-11-21T09:00:00Z, or a day such as 2026-11-21")
		}
		return nil
	})
}
