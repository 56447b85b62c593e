package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
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
	switch text := why.Error(); {
	case strings.HasPrefix(text, "strconv.ParseBool"):
		why = errors.New("must be true or false")
	case strings.HasPrefix(text, "strconv."):
		why = errors.New("must be a whole number")
	case strings.HasPrefix(text, "time:"):
		why = errors.New("must be a length of time such as 90s, 15m or 72h")
	}
	return fmt.Errorf("%q: %w", invalid.GetValue(), why)
}

// needsOne and onlyOne match cobra's errors about groups of flags, which print lists in Go's notation.
var (
	needsOne = regexp.MustCompile(`^at least one of the flags in the group \[(.+)\] is required$`)
	onlyOne  = regexp.MustCompile(`^if any flags in the group \[.+\] are set none of the others can be; \[(.+)\] were all set$`)
)

// GroupError rewords an error about flags of a group: none is given, or too many are.
func GroupError(err error) error {
	names := func(list string) string { return "--" + strings.ReplaceAll(list, " ", " or --") }
	if found := needsOne.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("give %s", names(found[1]))
	}
	if found := onlyOne.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("give %s, not both", names(found[1]))
	}
	return err
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

// flagNames replaces the SDK's names of settings and fields by those of the command line.
var flagNames = strings.NewReplacer(
	"signforms: settings: ", "", "Options.WorkspaceID", "--workspace", "Options.Endpoints", "--endpoint", "Options.MaxAttempts", "--max-attempts",
	"Options.AttemptTimeout", "--attempt-timeout", "wait, use RemindAll, or set Options.ReminderMaxWait", "wait, or allow more with --max-wait",
	"DocumentRef.documentID", "the document's id", "DocumentRef.templateID", "the template's id",
	"DocumentRef.createdDocumentID", "the document's id", "TemplateDocument takes it, after the template's UUID, and Templates.Respondent",
	"give --template with it, or use templates respondents --document", "DateFrom", "--from", "DateTo", "--to",
	"RespondentDocumentID", "--document", "OldestFirst or NewestFirst", "newest or oldest",
)

// InFlags rewords a message of the SDK for users of the command line.
func InFlags(text string) string {
	return fieldRule.ReplaceAllStringFunc(flagNames.Replace(text), func(rule string) string {
		m := fieldRule.FindStringSubmatch(rule)
		name, known := fieldFlags[m[2]]
		switch {
		case !known:
			return rule
		case m[1] != "":
			i, _ := strconv.Atoi(m[1]) // the expression matches only digits
			return fmt.Sprintf("%s of receiver %d must", name, i+1)
		}
		return name + " must"
	})
}

// fieldRule finds a field of the SDK in front of the rule that it breaks.
var fieldRule = regexp.MustCompile(`\b(?:Receivers\[(\d+)\]\.)?(\w+) must\b`)

// fieldFlags holds the command line's names for fields of the SDK.
var fieldFlags = map[string]string{
	"Name": "name", "Email": "email", "RoleTitle": "role", "RoleColour": "colour", "Subject": "subject", "Message": "message",
	"DocumentID": "--id", "documentID": "the id", "templateID": "the template's id", "TemplateID": "the template's id", "FormID": "the form's id",
	"createdDocumentID": "the document's id", "ResponseID": "--response", "MaxAttempts": "--max-attempts", "AttemptTimeout": "--attempt-timeout",
	"Receivers": "--to", "Query": "--query", "PDF": "--pdf",
}
