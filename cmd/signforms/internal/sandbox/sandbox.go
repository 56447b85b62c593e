// Package sandbox has the knowledge of commands about a running sandbox: its default address, the
// environment variables for it, and the errors if it does not respond.
package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
)

// Env is the prefix of the environment variables of serve and of the commands that act on a running
// sandbox.
const Env = "SIGNFORMS_SANDBOX_"

// DefaultAddr is the address on which serve listens. DefaultURL is the URL at which the other
// commands expect it.
const (
	DefaultAddr = "127.0.0.1:4874"
	DefaultURL  = "http://" + DefaultAddr
)

// Explain adds a remedy to an error. addressFlag and tokenFlag are the flags that the remedy names.
func Explain(err error, address, token, addressFlag, tokenFlag string) error {
	refused, answered := errors.AsType[*wire.Error](err)
	switch {
	case errors.Is(err, wire.ErrNoSandbox):
		return fmt.Errorf("%w; start one with signforms serve, or say with %s or $%sURL where it is", err, addressFlag, Env)
	case !answered || refused.Status != http.StatusUnauthorized:
		return err
	case token != "":
		return fmt.Errorf("the sandbox at %s has another token: correct %s$%sTOKEN", cli.ShownURL(address), tokenFlag, Env)
	}
	return fmt.Errorf("the sandbox at %s wants its token: set %s$%sTOKEN", cli.ShownURL(address), tokenFlag, Env)
}

// ClockNote returns how far the clock is ahead of the wall clock, or "".
func ClockNote(c *wire.Clock) string {
	if ahead := time.Duration(c.Ahead); ahead >= time.Second {
		return ", " + ahead.String() + " ahead of the wall clock"
	}
	return ""
}
