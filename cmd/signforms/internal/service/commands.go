// Package service has the commands that read from the service or void documents. [Connection] is
// how every command finds the service. Package batch sends and reminds, and package probe shows the
// responses of an account's service.
package service

import (
	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Documents returns the commands that read, wait for and void documents.
func Documents() []*cobra.Command {
	return Speaking(newDocumentsList(), newDocumentsGet(), newDocumentsWait(), newDocumentsVoid())
}

// Templates returns the command templates, with these further commands on templates.
func Templates(others ...*cobra.Command) *cobra.Command {
	return cli.Group("templates", "List, read and send templates, and list what was made of them",
		append(Speaking(newTemplatesList(), newTemplatesGet(), newTemplatesRespondents()), others...)...)
}

// Forms returns the command that reads responses.
func Forms() []*cobra.Command { return Speaking(newFormsResponses()) }

// Accounts returns the commands on the user's own accounts.
func Accounts() []*cobra.Command { return Speaking(newWhoami(), newAccounts()) }
