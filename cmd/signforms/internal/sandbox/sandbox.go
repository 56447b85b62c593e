package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
)

// sandboxEnv is the prefix of the variables of serve and of the commands that act on a running sandbox.
const sandboxEnv = "SIGNFORMS_SANDBOX_"

// defaultAddr is where serve listens, and defaultSandbox where the other commands look for it.
const (
	defaultAddr    = "127.0.0.1:4874"
	defaultSandbox = "http://" + defaultAddr
)

// explain adds to an error what the user can do about it. addressFlag and tokenFlag are the flags that it names.
func explain(err error, address, token, addressFlag, tokenFlag string) error {
	refused, answered := errors.AsType[*control.Error](err)
	switch {
	case errors.Is(err, control.ErrNoSandbox):
		return fmt.Errorf("%w; start one with signforms serve, or say with %s or $%sURL where it is", err, addressFlag, sandboxEnv)
	case !answered || refused.Status != http.StatusUnauthorized:
		return err
	case token != "":
		return fmt.Errorf("the sandbox at %s has another token: correct %s$%sTOKEN", shownURL(address), tokenFlag, sandboxEnv)
	}
	return fmt.Errorf("the sandbox at %s wants its token: set %s$%sTOKEN", shownURL(address), tokenFlag, sandboxEnv)
}

// clockNote returns how far the clock is ahead of the wall clock, or "".
func clockNote(c *control.Clock) string {
	if ahead := time.Duration(c.Ahead); ahead >= time.Second {
		return ", " + ahead.String() + " ahead of the wall clock"
	}
	return ""
}
