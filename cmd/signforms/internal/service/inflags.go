package service

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
)

// flags maps inputs and settings of the SDK to the words of the command line.
var flags = map[string]string{
	"baseURL": "--base-url", "apiKey": "the API key", "Options.WorkspaceID": "--workspace", "Options.AttemptTimeout": "--attempt-timeout",
	"Options.MaxAttempts": "--max-attempts", "Options": "", "Endpoints": "--endpoint", "Endpoints[]": "--endpoint",
	"DocumentID": "--id", "DateFrom": "--from", "Status": "--status", "Query": "--query", "Page": "--page", "Limit": "--limit",
	"documentID": "the id", "templateID": "the template's id",
	"TemplateID": "the template's id", "FormID": "the form's id", "responseID": "--response",
	"Receivers": "receivers", "Receivers[]": "receiver", "Name": "name", "Email": "email", "RoleTitle": "role", "Subject": "subject",
	"Message": "message", "Mail.Subject": "--subject", "Mail.Message": "--message", "Variables[]": "variable", "Value": "value",
}

// InFlags converts an error of the SDK for users of the command line: invalid inputs get the names
// of flags. Other errors are returned unchanged.
func InFlags(err error) error {
	e, ok := err.(*signforms.Error)
	if !ok {
		return err
	}
	in := *e
	in.Message = strings.ReplaceAll(e.Message, "Options.AttemptTimeout", flags["Options.AttemptTimeout"])
	in.Fields = nil
	for _, f := range e.Fields {
		in.Fields = append(in.Fields, signforms.FieldError{Field: fieldname.Words(f.Field, flags), Problem: f.Problem})
	}
	if e.Attempts == 0 && errors.Is(err, signforms.ErrRateLimited) {
		in.Message = "the reminder budget is used up: wait, or allow more with --max-wait"
	}
	return &in
}

// WrongInputs returns only the part of an error about invalid inputs. If the error names no inputs,
// it returns the whole text.
func WrongInputs(err error) string {
	err = InFlags(err)
	e, ok := err.(*signforms.Error)
	if !ok || len(e.Fields) == 0 {
		return err.Error()
	}
	texts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// Speaking makes the commands pass their errors through InFlags.
func Speaking(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		work := cmd.RunE
		cmd.RunE = func(cmd *cobra.Command, args []string) error { return InFlags(work(cmd, args)) }
	}
	return commands
}
