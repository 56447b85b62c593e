package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/cmd/signforms/internal/sandbox"
)

// readyPause is the wait between two requests of ready.
const readyPause = 100 * time.Millisecond

// Ready returns the command ready.
func Ready() *cobra.Command {
	address := sandbox.DefaultURL
	var wait wire.Duration
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Tell by the exit code whether a sandbox takes requests",
		Long: "End with 0 when the sandbox takes requests, and with 1 when it does not, or not within --wait. Without --url and its\n" +
			"variable, it is the sandbox that serve runs with $" + sandbox.Env + "ADDR.",
		Example: "  signforms ready --wait 30s",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, set := os.LookupEnv(sandbox.Env + "URL"); !set && !cmd.Flags().Changed("url") {
				address = ownURL(os.Getenv(sandbox.Env + "ADDR"))
			}
			if _, err := wire.NewClient(address, ""); err != nil {
				return cli.UsageError("--url: %w", err)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), max(time.Duration(wait), time.Second))
			defer cancel()
			for {
				err := askReady(ctx, address)
				if err == nil || wait <= 0 {
					return err
				}
				select {
				case <-time.After(readyPause):
				case <-ctx.Done():
					if cmd.Context().Err() != nil {
						return cmd.Context().Err()
					}
					return fmt.Errorf("not ready within %v: %w", wait, err)
				}
			}
		},
	}
	cmd.Flags().StringVar(&address, "url", address, "where the sandbox is")
	cli.DurationVar(cmd.Flags(), &wait, "wait", "keep asking for up to this long (default: ask once)")
	return cli.BindEnv(sandbox.Env, cmd)
}

// ownURL returns the URL of the sandbox that serve runs with the same environment variables, as in
// the health check of a container.
func ownURL(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return sandbox.DefaultURL
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// askReady sends one request and takes at most a second.
func askReady(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/readyz", nil)
	if err != nil {
		return cli.UsageError("--url: %w", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %w", cli.ShownURL(address), errors.Unwrap(err))
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	var why struct{ Error wire.Error }
	if json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&why) == nil && why.Error.Message != "" {
		return fmt.Errorf("%s: /readyz answers with status %d: %s", address, answer.StatusCode, cli.Plain(why.Error.Message))
	}
	return fmt.Errorf("%s: /readyz answers with status %d", cli.ShownURL(address), answer.StatusCode)
}
