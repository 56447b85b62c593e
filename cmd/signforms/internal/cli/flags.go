package cli

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError returns the text for users in place of an error about a flag.
func FlagError(_ *cobra.Command, err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fmt.Errorf("--%s %w", invalid.GetFlag().Name, valueError(err))
	}
	return err
}

// valueError returns the error of a flag's value. It replaces the messages of Go's parsers, which
// name Go functions.
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

// Alternatives returns an error if more than one of these flags is set. If required is true, it
// also returns an error if none is set. Call it in the Args of cmd. The flag groups of cobra are
// used only for completion, because their errors print lists in Go's notation.
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

// DurationVar adds a flag without the default 0s in its help. The usage text should describe the
// behaviour without the flag.
func DurationVar(f *pflag.FlagSet, d pflag.Value, name, usage string) {
	f.Var(d, name, usage)
	f.Lookup(name).DefValue = ""
}

// FuncFlag returns a flag that calls set with each value. kind is the word for the value in the help.
func FuncFlag(kind string, set func(text string) error) pflag.Value { return funcFlag{kind, set} }

type funcFlag struct {
	kind string
	set  func(text string) error
}

func (f funcFlag) Type() string   { return f.kind }
func (f funcFlag) String() string { return "" }
func (f funcFlag) Set(text string) error {
	if text == "" {
		return errEmpty
	}
	return f.set(text)
}

// OneOf adds a flag that takes one of these values, in any letter case. The flag's errors, the
// shell's completion, and the %s in usage list the values in lower case. kind is the word for the
// value in the help.
func OneOf[T ~string](cmd *cobra.Command, kind, name, usage string, values []T, set func(T) error) {
	SomeOf(cmd, kind, name, usage, values, func(all []T) error {
		if len(all) > 1 {
			return errors.New("must be one of " + lowerTexts(values))
		}
		return set(all[0])
	})
}

// SomeOf is like OneOf, for one or several values separated by commas.
func SomeOf[T ~string](cmd *cobra.Command, kind, name, usage string, values []T, set func([]T) error) {
	cmd.Flags().Var(FuncFlag(kind, func(text string) error {
		var all []T
		for word := range strings.SplitSeq(text, ",") {
			i := slices.IndexFunc(values, func(v T) bool { return strings.EqualFold(string(v), strings.TrimSpace(word)) })
			if i < 0 {
				return errors.New("must be one of " + lowerTexts(values))
			}
			all = append(all, values[i])
		}
		return set(all)
	}), name, fmt.Sprintf(usage, lowerTexts(values)))
	offered := cobra.FixedCompletions(strings.Split(lowerTexts(values), ", "), cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(name, offered); err != nil {
		panic(err) // cannot happen: the flag exists
	}
}

func lowerTexts[T ~string](values []T) string {
	return strings.ToLower(strings.Join(Texts(values), ", "))
}

// Texts returns constants as strings.
func Texts[T ~string](constants []T) (texts []string) {
	for _, c := range constants {
		texts = append(texts, string(c))
	}
	return texts
}

var errEmpty = errors.New("must not be empty: leave the flag out, or give it a value")

// EmptyFlag refuses a flag on the command line that has an empty value, such as --account "$NAME"
// if the variable is not set. If such a flag were ignored, the command could use another account,
// or all records.
func EmptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.Type() == "string" && f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0 || slices.Contains(list.GetSlice(), "")
		}
		if empty && err == nil {
			err = fmt.Errorf("--%s %w", f.Name, errEmpty)
		}
	})
	return err
}

// PlainUsages removes the backquotes around the word for a value from the usages of all flags. help
// interprets them, but a shell would show them.
func PlainUsages(parent *cobra.Command) {
	plain := func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) }
	parent.Flags().VisitAll(plain)
	parent.PersistentFlags().VisitAll(plain)
	for _, child := range parent.Commands() {
		PlainUsages(child)
	}
}

// DayFlag returns a flag that sets at to a time, or to a day of the local time zone. A day means
// its first millisecond or, if last is true, its last millisecond.
func DayFlag(at *time.Time, last bool) pflag.Value {
	return FuncFlag("time", func(text string) error {
		if moment, err := time.Parse(time.RFC3339, text); err == nil {
			*at = moment
			return nil
		}
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return errors.New("must be a day such as 2026-11-21 or a time such as 2026-11-21T09:00:00Z")
		}
		if err := checkZone(); err != nil {
			return err
		}
		if *at = beginOf(day, time.Local); last {
			*at = endOf(day, time.Local)
		}
		return nil
	})
}

// checkZone refuses a day if TZ is set and package time could not load the zone, because the local
// zone is then UTC.
func checkZone() error {
	zone := strings.TrimPrefix(os.Getenv("TZ"), ":")
	if zone != "" && zone != "UTC" && time.Local.String() == "UTC" {
		return fmt.Errorf("is a day, and the time zone %q of TZ cannot be loaded: correct TZ, as in Europe/Berlin, or give a time such as 2026-11-21T09:00:00Z", zone)
	}
	return nil
}

// beginOf returns the first instant of a day in a zone.
//
//   - Some days begin after midnight, because summer time begins at midnight.
//   - Some days have midnight twice.
//   - Where a zone has crossed the date line, a day is missing. It begins and ends at the beginning
//     of the next day.
func beginOf(day time.Time, zone *time.Location) time.Time {
	date := day.Format(time.DateOnly)
	from := time.Date(day.Year(), day.Month(), day.Day()-2, 12, 0, 0, 0, zone)
	seconds := sort.Search(96*60*60, func(s int) bool {
		return from.Add(time.Duration(s)*time.Second).Format(time.DateOnly) >= date
	})
	return from.Add(time.Duration(seconds) * time.Second)
}

// endOf returns the last millisecond of a day in a zone.
func endOf(day time.Time, zone *time.Location) time.Time {
	return beginOf(day.AddDate(0, 0, 1), zone).Add(-time.Millisecond)
}

// CheckAddr refuses an --addr on which no server can listen.
func CheckAddr(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return UsageError("--addr %q: must be host:port, as in 127.0.0.1:4874", text)
	}
	return nil
}
