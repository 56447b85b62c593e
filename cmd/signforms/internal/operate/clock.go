package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
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
	}, func(cmd *cobra.Command, _ []string, c *wire.Client) (any, func(io.Writer), error) {
		var now wire.Clock
		err := c.Get(cmd.Context(), "/clock", nil, &now)
		return now, printClock(&now), err
	})
}

func newClockAdvance() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "advance DURATION",
		Short: "Move the sandbox's clock forward, as in 72h or 3d",
		Long: "Move the sandbox's clock forward. Everything that falls due happens in order before the command returns:\n" +
			"retries of webhooks, documents that expire, and the release of the reminder limit. If a receiver does not\n" +
			"respond within 10 seconds, the clock stops waiting for it until it responds. If the command is interrupted,\n" +
			"the clock keeps the time that it has reached.",
		Example: "  signforms clock advance 72h",
		Args:    cli.ExactlyOne("DURATION, as in 72h or 3d"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		by, err := wire.ParseDuration(args[0])
		if err != nil {
			return nil, nil, cli.UsageError("%w", err)
		}
		if time.Duration(by) < wire.LeastAdvance {
			return nil, nil, cli.UsageError("%q would not move the clock forward: give 1ms or more, as in 72h or 3d", args[0])
		}
		var began, now wire.Clock
		if err := c.Get(cmd.Context(), "/clock", nil, &began); err != nil {
			return nil, nil, err
		}
		stop := showAdvance(cmd, c, began, time.Duration(by))
		err = c.Post(cmd.Context(), "/clock/advance", wire.Advance{By: by}, &now)
		stop()
		return now, printClock(&now), cutShort(cmd.Context(), c, began, by, err)
	})
}

// cutShort returns the error of an advance that was interrupted, together with the time of the
// clock. If the end of the sandbox interrupted the advance, the error says so. Other errors are
// returned unchanged.
func cutShort(ctx context.Context, c *wire.Client, began wire.Clock, by wire.Duration, err error) error {
	if refused, ok := errors.AsType[*wire.Error](err); ok && refused.Code == "stopping" {
		return cli.ExitWith(cli.ExitPartial, err)
	}
	if err == nil || ctx.Err() == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	now, unseen := standing(ctx, c)
	if unseen != nil {
		return cli.ExitWith(cli.ExitPartial, fmt.Errorf("interrupted: it is unknown how far the clock has moved: %w", unseen))
	}
	moved := max(now.Ahead-began.Ahead, 0)
	return cli.ExitWith(cli.ExitPartial, fmt.Errorf("interrupted: the clock is at %s and continues from there; it has moved by %v, and %v is left",
		now.Now.Format(time.RFC3339), moved, max(by-moved, 0)))
}

// standing returns the clock after the running advance has ended. An interrupted advance ends when
// the sandbox notices the interruption.
func standing(ctx context.Context, c *wire.Client) (*wire.Clock, error) {
	for {
		var now wire.Clock
		if err := c.Get(ctx, "/clock", nil, &now); err != nil || !now.Advancing {
			return &now, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("an advance is still running")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// showAdvance shows the progress of an advance while it is running. The caller calls stop.
func showAdvance(cmd *cobra.Command, c *wire.Client, began wire.Clock, by time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(cmd.Context())
	unit, units := time.Minute, "minutes"
	if by < 10*time.Minute {
		unit, units = time.Second, "seconds"
	}
	var asking sync.WaitGroup
	asking.Go(func() {
		var now wire.Clock
		shown := cli.NewProgress(cmd.ErrOrStderr(), units, int(by/unit))
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
				shown.At(int(time.Duration(now.Ahead-began.Ahead) / unit))
			}
		}
	})
	return func() {
		cancel()
		asking.Wait()
	}
}

func newClockSettle() *cobra.Command {
	wait := wire.Duration(30 * time.Second)
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "settle",
		Short: "Wait until a running sandbox has no webhook delivery and no finished file due or under way",
		Long:  "Wait until no webhook delivery of a running sandbox is due or being sent, and no finished file is being made.\nA delivery that waits for its next attempt, as after an error, does not count.",
		Args:  cli.NoArgs,
	}, func(cmd *cobra.Command, _ []string, c *wire.Client) (any, func(io.Writer), error) {
		var now wire.Clock
		err := c.Post(cmd.Context(), "/clock/settle", wire.Wait{Timeout: wait}, &now)
		return now, printClock(&now), err
	})
	cmd.Flags().Var(&wait, "timeout", "how long to wait at most")
	return cmd
}

func printClock(c *wire.Clock) func(io.Writer) {
	return func(w io.Writer) {
		fmt.Fprintln(w, c.Now.Format(time.RFC3339)+sandbox.ClockNote(c))
		for _, id := range c.Unanswering {
			fmt.Fprintf(w, "webhook %s does not respond in time: its deliveries are still being sent\n", id)
		}
		for _, id := range c.Unheard {
			fmt.Fprintf(w, "webhook %s belongs to a signforms listen that is not connected: attempts to deliver to it fail\n", id)
		}
	}
}
