package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/internal/refserver"
)

// FormsList returns the command forms list.
func FormsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the forms of a running sandbox",
		Long:  "List the forms of a running sandbox. The service itself has no operation for it.",
	}
	return newSandboxList(inWorkspace(cmd), cmd, "/forms", formColumns)
}

var formColumns = []cli.Column[refserver.FormState]{
	{Name: "formId", Value: func(f refserver.FormState) string { return f.ID }},
	{Name: "title", Value: func(f refserver.FormState) string { return f.Title }},
	{Name: "responses", Value: func(f refserver.FormState) string { return fmt.Sprint(f.Responses) }},
	{Name: "createdAt", Value: func(f refserver.FormState) string { return cli.Time(f.CreatedAt) }},
}
