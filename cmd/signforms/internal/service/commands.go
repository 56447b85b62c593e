// Package service holds the commands that call the service: they list, send, void and remind, and probe what an account does.
package service

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// Commands makes the commands on the service. The zero value is what the program uses.
type Commands struct {
	// OpenLimitFile opens the file of the reminder limit. The default uses the machine's clock.
	OpenLimitFile func(path string) signforms.LimitStore
	// Sleep waits between the requests of probe. The default is a real wait.
	Sleep func(context.Context, time.Duration) error
}

// Documents returns the commands on documents.
func (s Commands) Documents() []*cobra.Command {
	return speaking(newDocumentsList(), newDocumentsGet(), newDocumentsWait(), newDocumentsVoid(), newDocumentsRemind(s.OpenLimitFile))
}

// Templates returns the command templates.
func (s Commands) Templates() *cobra.Command {
	return cli.Group("templates", "List, read and send templates, and list what was made of them",
		speaking(newTemplatesList(), newTemplatesGet(), newTemplatesSend(), newTemplatesRespondents())...)
}

// Forms returns the commands on forms.
func (s Commands) Forms() []*cobra.Command {
	return speaking(newFormsSend(), newFormsResponses())
}

// Accounts returns the commands on the user's own accounts.
func (s Commands) Accounts() []*cobra.Command { return speaking(newWhoami(), newAccounts()) }

// Probe returns the command probe.
func (s Commands) Probe() *cobra.Command { return newProbe(s.OpenLimitFile, s.Sleep) }
