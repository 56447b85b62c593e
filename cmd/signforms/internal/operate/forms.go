package operate

import (
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/control"
)

func newFormsList() *cobra.Command {
	return newSandboxCommand(&cobra.Command{
		Use:   "list",
		Short: "List the forms of a running sandbox",
		Long:  "List the forms of a running sandbox. The service itself has no operation that lists forms: their ids are shown where they are made.",
		Args:  noArgs,
	}, func(cmd *cobra.Command, _ []string, c *control.Client) (any, func(io.Writer), error) {
		var all control.Page[control.FormRecord]
		err := c.Get(cmd.Context(), "/forms", url.Values{"limit": {"1000"}}, &all)
		return lines(all.Items), func(io.Writer) { printTable(cmd, formColumns, all.Items) }, err
	})
}

var formColumns = []column[control.FormRecord]{
	{name: "formId", value: func(f control.FormRecord) string { return f.ID }},
	{name: "title", value: func(f control.FormRecord) string { return f.Title }, long: true},
	{name: "responses", value: func(f control.FormRecord) string { return fmt.Sprint(f.Responses) }},
	{name: "createdAt", value: func(f control.FormRecord) string { return timeText(f.CreatedAt) }, time: true},
}
