package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError rewords an error about a flag for users of the command line.
func FlagError(_ *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %w", invalid.GetFlag().Name, valueError(err))
	}
	return err
}

// valueError returns what is wrong with a flag's value. It replaces the messages of Go's parsers, which name Go functions.
func valueError(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	why := invalid.Unwrap()
	switch kind := invalid.GetFlag().Value.Type(); {
	case kind == "bool":
		why = errors.New("must be true or false")
	case kind == "int":
		why = errors.New("must be a whole number")
	case kind == "duration":
		why = errors.New("must be a length of time such as 90s, 15m or 72h")
	}
	return fmt.Errorf("%q: %w", invalid.GetValue(), why)
}

// Alternatives refuses more than one of these flags, and with required also none. It is called when cmd has its Args. cobra's
// groups of flags are for completion alone: their errors print lists in Go's notation.
func Alternatives(cmd *cobra.Command, required bool, names ...string) {
	if cmd.MarkFlagsMutuallyExclusive(names...); required {
		cmd.MarkFlagsOneRequired(names...)
	}
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		given := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !cmd.Flags().Changed(name) })
		switch {
		case len(given) > 1:
			return fmt.Errorf("give --%s, not both", strings.Join(given, " or --"))
		case len(given) == 0 && required:
			return fmt.Errorf("give --%s", strings.Join(names, " or --"))
		}
		return check(cmd, args)
	}
}

// DurationVar adds a flag without the default 0s in its help. The usage text says what the absence of the flag means.
func DurationVar(f *pflag.FlagSet, d pflag.Value, name, usage string) {
	f.Var(d, name, usage)
	f.Lookup(name).DefValue = ""
}

// DayFlag is a time, or a day of the local time zone. A day means its first millisecond or, with last, its last one.
type DayFlag struct {
	At   *time.Time
	Last bool
}

func (f DayFlag) Type() string { return "time" }

func (f DayFlag) String() string {
	if f.At == nil || f.At.IsZero() {
		return ""
	}
	return f.At.Format(time.RFC3339)
}

func (f DayFlag) Set(text string) error {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*f.At = at
		return nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return errors.New("must be a day such as 2026-11-21 or a time such as 2026-11-21T09:00:00Z")
	}
	if f.Last {
		day = day.AddDate(0, 0, 1).Add(-time.Millisecond)
	}
	*f.At = day
	return nil
}
