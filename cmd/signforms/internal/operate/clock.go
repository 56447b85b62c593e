package operate

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// Clock returns the command clock.
func Clock() *cobra.Command {
	return cli.Group("clock", "Read and move the clock of a running sandbox", newClockShow(), newClockAdvance(), newClockSettle())
}

func newClockShow() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "show",
		Short: "Show the sandbox's time",
		Args:  cli.NoArgs,
	}, func(cmd *cobra.Command, _ []string, c *control.Client) (any, func(io.Writer), error) {
		var now control.Clock
		err := c.Get(cmd.Context(), "/clock", nil, &now)
		return now, printClock(&now), err
	})
}

func newClockAdvance() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "advance DURATION",
		Short: "Move the sandbox's clock forward, as in 72h or 3d",
		Long: "Move the sandbox's clock forward. What falls due on the way happens in order before the command returns:\n" +
			"retries of webhooks, documents that expire, reminders that leave the limit's window. A receiver that gives\n" +
			"an attempt no answer for 10 seconds is not waited for again until it answers. When the command is\n" +
			"interrupted, the clock stays where it is by then, and what is not due yet stays due at its time.",
		Example: "  signforms clock advance 72h",
		Args:    cli.ExactlyOne("DURATION, as in 72h or 3d"),
	}, func(cmd *cobra.Command, args []string, c *control.Client) (any, func(io.Writer), error) {
		by, err := control.ParseDuration(args[0])
		if err != nil {
			return nil, nil, cli.UsageError("%w", err)
		}
		if time.Duration(by) < control.LeastAdvance {
			return nil, nil, cli.UsageError("%q would not move the clock forward: give 1ms or more, as in 72h or 3d", args[0])
		}
		var now control.Clock
		stop := showAdvance(cmd, c, time.Duration(by))
		err = c.Post(cmd.Context(), "/clock/advance", control.Advance{By: by}, &now)
		stop()
		return now, printClock(&now), err
	})
}

// showAdvance shows how far an advance has come while it lasts. The caller calls stop.
func showAdvance(cmd *cobra.Command, c *control.Client, by time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(cmd.Context())
	var asking sync.WaitGroup
	asking.Go(func() {
		var began, now control.Clock
		if c.Get(ctx, "/clock", nil, &began) != nil {
			return // the advance itself says why
		}
		shown := cli.NewProgress(cmd.ErrOrStderr(), "minutes", int(by.Minutes()))
		defer shown.End()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if c.Get(ctx, "/clock", nil, &now) == nil {
				shown.At(int(time.Duration(now.Ahead - began.Ahead).Minutes()))
			}
		}
	})
	return func() {
		cancel()
		asking.Wait()
	}
}

func newClockSettle() *cobra.Command {
	wait := control.Duration(30 * time.Second)
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "settle",
		Short: "Wait until no webhook delivery is due or under way",
		Args:  cli.NoArgs,
	}, func(cmd *cobra.Command, _ []string, c *control.Client) (any, func(io.Writer), error) {
		var now control.Clock
		err := c.Post(cmd.Context(), "/clock/settle", control.Wait{Timeout: wait}, &now)
		return now, printClock(&now), err
	})
	cmd.Flags().Var(&wait, "timeout", "how long to wait at most")
	return cmd
}

func printClock(c *control.Clock) func(io.Writer) {
	return func(w io.Writer) {
		fmt.Fprintln(w, c.Now.Format(time.RFC3339)+sandbox.ClockNote(c))
		for _, id := range c.Unanswering {
			fmt.Fprintf(w, "webhook %s does not answer in time: what is due to it is still being delivered\n", id)
		}
	}
}
