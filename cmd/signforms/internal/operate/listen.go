package operate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
	"github.com/signforms/signforms-go/webhook"
)

// listener relays the deliveries of a sandbox to a URL that this machine can reach.
type listener struct {
	sandbox   target
	forwardTo string
	events    []string
	documents []string

	client         *wire.Client
	id             string
	secret         string
	stdout, stderr io.Writer
	posts          sync.WaitGroup
	end            context.CancelFunc // ends listen, as Ctrl+C does

	mu sync.Mutex // guards stdout
}

// Listen returns the command listen.
func Listen() *cobra.Command {
	var l listener
	cmd := &cobra.Command{
		Use:   "listen [--forward-to URL]",
		Short: "Forward the webhooks of a running sandbox to this machine",
		Long: `Listen gets every delivery of a running sandbox and posts it, byte for byte and with its headers, to a URL that this
machine can reach. So localhost means this machine, even if the sandbox runs in a container. Listen prints a line for
each delivery, and reports the response to the sandbox. Without --forward-to it responds with 200 itself.

If the connection is lost, listen prints that and connects again. Attempts that were not reported by then have failed.
The sandbox repeats them by its schedule, so your program may get a delivery twice. Listen adds its own webhooks to the
sandbox. It removes them when it ends, by Ctrl+C or a closed standard output, but not when it is killed.`,
		Example: "  signforms listen --forward-to http://localhost:3000/hook",
		Args:    cli.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return l.run(cmd) },
	}
	f := cmd.Flags()
	l.sandbox.addWorkspace(cmd)
	l.sandbox.addFlags(cmd)
	cli.BindEnv(sandbox.Env, cmd)
	cmd.SetFlagErrorFunc(flagError)
	f.BoolVar(&l.sandbox.json, "json", false, "print JSON, one line for each delivery")
	f.StringVar(&l.forwardTo, "forward-to", "", "`URL` to post deliveries to")
	cli.SomeOf(cmd, "families", "events", "only these families of events: %s", wire.EventFamilies(), func(all []string) error {
		l.events = append(l.events, all...)
		return nil
	})
	f.StringArrayVar(&l.documents, "document", nil, "only about the template, document or form with this `id`; may be repeated")
	return cmd
}

func (l *listener) run(cmd *cobra.Command) error {
	if err := checkTarget(l.forwardTo); err != nil {
		return err
	}
	var err error
	if l.client, err = l.sandbox.client(); err != nil {
		return err
	}
	l.id = strings.ToLower(rand.Text())
	l.stdout, l.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
	signal.Ignore(syscall.SIGPIPE) // SIGPIPE would end the program before the webhooks are removed
	ctx, end := context.WithCancel(cmd.Context())
	defer end()
	l.end = end
	if err := l.open(ctx); err != nil {
		return l.sandbox.explain(err)
	}
	err = l.listen(ctx)
	l.posts.Wait()
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if closed := l.client.Delete(within, "/relays/"+l.id); closed != nil {
		fmt.Fprintf(l.stderr, "the webhooks of this listener could not be removed: %v\n", closed)
	}
	return err
}

func checkTarget(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return cli.UsageError("--forward-to: %q is not a URL such as http://localhost:3000/hook", text)
	}
	return nil
}

// open makes the relay.
func (l *listener) open(ctx context.Context) error {
	var relay wire.RelayRecord
	in := wire.RelayInput{Events: l.events, Documents: l.documents}
	err := l.client.Post(ctx, "/relays/"+l.id, in, &relay)
	l.secret = relay.WebhookSecret
	return err
}

// pause is the wait before connecting again.
const pause = time.Second

// listen keeps the stream of attempts open until ctx ends, or the sandbox no longer has webhooks of
// this listener.
func (l *listener) listen(ctx context.Context) error {
	for said := ""; ; {
		began := func() {
			what := "go to " + l.forwardTo
			if l.forwardTo == "" {
				what = "are answered 200 and go no further"
			}
			fmt.Fprintf(l.stderr, "connected: deliveries of %s %s\n", cli.ShownURL(l.sandbox.url), what)
			said = ""
		}
		err := l.client.Stream(ctx, "/relays/"+l.id+"/attempts", began, func(data []byte) error { return l.take(ctx, data) })
		if ctx.Err() != nil {
			return nil
		}
		if refused, ok := errors.AsType[*wire.Error](err); ok && refused.Status == http.StatusNotFound {
			return errors.New("the sandbox was reset or replaced, and has no webhooks of this listener: start listen again")
		}
		if text := err.Error(); text != said {
			fmt.Fprintf(l.stderr, "NOT connected: %v; trying again\n", err)
			said = text
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// take posts an attempt that has arrived.
func (l *listener) take(ctx context.Context, data []byte) error {
	var attempt wire.RelayedAttempt
	if err := json.Unmarshal(data, &attempt); err != nil {
		return fmt.Errorf("an attempt cannot be read: %w", err)
	}
	l.posts.Go(func() { l.forward(context.WithoutCancel(ctx), attempt) })
	return nil
}

// forward posts an attempt, reports the response and prints a line.
func (l *listener) forward(ctx context.Context, attempt wire.RelayedAttempt) {
	began := time.Now()
	answer, cut := wire.RelayedAnswer{Status: http.StatusOK}, false
	if l.forwardTo != "" {
		answer, cut = l.post(ctx, attempt)
	}
	took := time.Since(began)
	problem := l.report(ctx, attempt.ID, answer)
	l.tell(attempt, answer, deliveryLine{TookMS: took.Milliseconds(), Reported: problem, Cut: cut})
}

// postTimeout is a little less than the time that the sandbox waits for a report.
const postTimeout = 5 * time.Second

// maxRelayed is the maximum size of a reported response, in bytes. The sandbox's log keeps less.
const maxRelayed = 64 << 10

// post posts an attempt and returns the response. cut reports that only the first maxRelayed bytes
// of the body are included.
func (l *listener) post(ctx context.Context, attempt wire.RelayedAttempt) (answer wire.RelayedAnswer, cut bool) {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.forwardTo, bytes.NewReader(attempt.Body))
	if err != nil {
		return wire.RelayedAnswer{Error: err.Error()}, false
	}
	for name, values := range attempt.Header {
		if name != "Host" && name != "Content-Length" && name != "Connection" {
			req.Header[name] = values
		}
	}
	client := &http.Client{Transport: forwarding, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return wire.RelayedAnswer{Error: l.unreachable(err)}, false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRelayed+1))
	if err != nil {
		return wire.RelayedAnswer{Error: "the response ended early"}, false
	}
	cut = len(body) > maxRelayed
	return wire.RelayedAnswer{Status: resp.StatusCode, Header: resp.Header, Body: body[:min(len(body), maxRelayed)]}, cut
}

// forwarding connects to the target directly, without a proxy. It closes idle connections early,
// because a target that shuts down may wait for them.
var forwarding = &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Second}

// unreachable returns why the target did not respond, and a remedy if nothing listens there.
func (l *listener) unreachable(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	text := fmt.Sprintf("%s does not respond: %v", l.forwardTo, err)
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		text += "; is your program running there? Within a container, localhost is the container itself: try host.docker.internal"
	}
	return text
}

// report reports the outcome of an attempt to the sandbox. It returns the problem of the report, or
// "".
func (l *listener) report(ctx context.Context, id int64, answer wire.RelayedAnswer) string {
	ctx, cancel := context.WithTimeout(ctx, postTimeout)
	defer cancel()
	err := l.client.Post(ctx, fmt.Sprintf("/relays/%s/attempts/%d", l.id, id), answer, nil)
	if refused, ok := errors.AsType[*wire.Error](err); ok && refused.Status == http.StatusNotFound {
		return "its report arrived too late"
	}
	if err != nil {
		return "its report was lost"
	}
	return ""
}

// deliveryLine is the line that is printed about a delivery.
type deliveryLine struct {
	At       time.Time           `json:"at"`
	Events   []webhook.EventType `json:"events"`
	Subjects []string            `json:"subjects"`
	Status   int                 `json:"status"` // 0: no response
	TookMS   int64               `json:"tookMs"`
	Error    string              `json:"error,omitempty"`
	Genuine  bool                `json:"genuine"`            // signed with the sandbox's secret
	Cut      bool                `json:"cut,omitempty"`      // the response's body was longer than maxRelayed
	Reported string              `json:"reported,omitempty"` // the problem of the report, or empty
}

// tell prints the line of an attempt. Its caller fills in the fields about the forwarding.
func (l *listener) tell(attempt wire.RelayedAttempt, answer wire.RelayedAnswer, line deliveryLine) {
	line.At, line.Status, line.Error = attempt.At, answer.Status, answer.Error
	if v, err := webhook.NewVerifier([]string{l.secret}, &webhook.VerifierOptions{Tolerance: -1, MaxBody: len(attempt.Body)}); err == nil {
		_, err = v.Events(attempt.Header, attempt.Body)
		line.Genuine = err == nil
	}
	if events, err := webhook.Parse(attempt.Body); err == nil {
		for _, e := range events {
			line.Events, line.Subjects = append(line.Events, e.EventType()), append(line.Subjects, e.SubjectID())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if l.sandbox.json {
		err = cli.EncodeJSON(l.stdout, line, "")
	} else {
		_, err = fmt.Fprintln(l.stdout, line.text())
	}
	if err != nil { // nobody reads the lines any longer; Stdout keeps the error
		l.end()
	}
}

// text returns the line for people.
func (d deliveryLine) text() string {
	var events []string
	for i, e := range d.Events {
		events = append(events, strings.TrimSpace(string(e)+" "+d.Subjects[i]))
	}
	status := fmt.Sprint(d.Status)
	if d.Status == 0 {
		status = "---"
	}
	text := fmt.Sprintf("%s  %s  %s  %d ms", d.At.Local().Format(time.TimeOnly), status, strings.Join(events, ", "), d.TookMS)
	for _, note := range []string{d.Error, d.Reported} {
		if note != "" {
			text += "  " + note
		}
	}
	if !d.Genuine {
		text += "  not signed with the sandbox's secret"
	}
	if d.Cut {
		text += fmt.Sprintf("  answer longer than %d KiB: the sandbox got the first %d KiB", maxRelayed>>10, maxRelayed>>10)
	}
	return cli.Plain(text)
}
