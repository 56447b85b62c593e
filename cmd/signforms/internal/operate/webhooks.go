package operate

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Webhooks returns the command webhooks.
func Webhooks() *cobra.Command {
	return cli.Group("webhooks", "Webhooks of a running sandbox", newWebhooksAdd(), newWebhooksList(), newWebhooksTest(), newWebhooksResend())
}

func newWebhooksAdd() *cobra.Command {
	var w refserver.Webhook
	cmd := newSandboxCommand(&cobra.Command{
		Use:     "add URL --event FAMILY",
		Short:   "Add a webhook to a running sandbox",
		Long:    "Add a webhook to a running sandbox and print its id. It gets the events that happen from now on.",
		Example: "  signforms webhooks add http://localhost:3000/hook --event new_signature_completed",
		Args:    cli.ExactlyOne("URL that gets the deliveries"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		if w.Event == "" {
			return nil, nil, cli.UsageError("say with --event which events it gets: %s", strings.Join(wire.EventFamilies(), ", "))
		}
		w.URL = args[0]
		return newID(cmd, c, "/webhooks", w)
	})
	f := cmd.Flags()
	cli.OneOf(cmd, "family", "event", "family of events: %s", wire.EventFamilies(), func(family string) error {
		if w.Event != "" {
			return errors.New("a webhook gets one family of events: add another webhook for it")
		}
		w.Event = refserver.EventFamily(family)
		return nil
	})
	f.StringArrayVar(&w.Documents, "document", nil, "`id` of a template, document or form that it is about (default: all); may be repeated")
	f.BoolVar(&w.Object, "object", false, "deliver one JSON object instead of an array of one")
	return cmd
}

func newWebhooksList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the webhooks of a running sandbox"}
	return newSandboxList(inWorkspace(cmd), cmd, "/webhooks", webhookColumns)
}

var webhookColumns = []cli.Column[refserver.WebhookState]{
	{Name: "id", Value: func(w refserver.WebhookState) string { return w.ID }},
	{Name: "event", Value: func(w refserver.WebhookState) string { return string(w.Event) }},
	{Name: "state", Value: func(w refserver.WebhookState) string {
		if w.Disabled {
			return "off"
		}
		return "on"
	}},
	{Name: "url", Value: func(w refserver.WebhookState) string { return w.URL }},
}

func newWebhooksTest() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "test ID",
		Short: "Send a sample to a webhook of a running sandbox",
		Long: "Do what the service's Test Webhook button does: send one array with a sample event per tracked record,\n" +
			"and print the delivery's id.",
		Args: cli.ExactlyOne("ID of a webhook"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		return newID(cmd, c, "/webhooks/"+url.PathEscape(args[0])+"/test", nil)
	})
}

func newWebhooksResend() *cobra.Command {
	var since wire.Duration
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "resend WEBHOOK|DELIVERY",
		Short: "Send deliveries of a running sandbox again",
		Long: "Send one delivery again, or with a webhook's id all of its deliveries that failed. The body is the same;\n" +
			"timestamp and signature are new.",
		Example: "  signforms webhooks resend 8d8ac610-566d-4ef0-9c22-186b2a5ed793 --since 2h",
		Args:    cli.ExactlyOne("ID of a webhook or a delivery"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		id := url.PathEscape(args[0])
		var delivery wire.Delivery
		if err := c.Get(cmd.Context(), "/deliveries/"+id, nil, &delivery); err == nil {
			if since != 0 {
				return nil, nil, cli.UsageError("--since goes with the ID of a webhook, and this is that of one delivery")
			}
			err := c.Post(cmd.Context(), "/deliveries/"+id+"/resend", nil, nil)
			return wire.Resent{Resent: 1}, func(w io.Writer) { fmt.Fprintln(w, "1 delivery is sent again") }, err
		}
		in, err := sinceAgo(cmd, c, since)
		if err != nil {
			return nil, nil, err
		}
		var out wire.Resent
		err = c.Post(cmd.Context(), "/webhooks/"+id+"/resend", in, &out)
		return out, func(w io.Writer) {
			fmt.Fprintln(w, cli.Count(out.Resent, "delivery is", "deliveries are"), "sent again")
		}, err
	})
	cli.DurationVar(cmd.Flags(), &since, "since", "only of events within this time, by the sandbox's clock (default: all)")
	return cmd
}

// sinceAgo returns the time that was ago before the sandbox's time, because its clock may be days
// ahead of the wall clock.
func sinceAgo(cmd *cobra.Command, c *wire.Client, ago wire.Duration) (in wire.Since, err error) {
	if ago == 0 {
		return in, nil
	}
	var now wire.Clock
	err = c.Get(cmd.Context(), "/clock", nil, &now)
	in.Since = now.Now.Add(-time.Duration(ago))
	return in, err
}
