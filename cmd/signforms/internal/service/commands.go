package service

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
)

// services makes the commands on the service. The zero value is what the program uses.
type services struct {
	// openLimitFile opens the file of the reminder limit. The default goes by the machine's clock.
	openLimitFile func(path string) signforms.LimitStore
	// sleep waits between the requests of probe. The default is a real wait.
	sleep func(context.Context, time.Duration) error
}

// documents returns the commands on documents.
func (s services) documents() []*cobra.Command {
	return []*cobra.Command{newDocumentsList(), newDocumentsGet(), newDocumentsVoid(), s.newDocumentsRemind()}
}

// templates returns the command that groups those on templates.
func (s services) templates() *cobra.Command {
	return newParent("templates", "List, read and send templates, and list the documents made from them",
		newTemplatesList(), newTemplatesGet(), newTemplatesSend(), newTemplatesRespondents())
}

// forms returns the commands on forms.
func (s services) forms() []*cobra.Command {
	return []*cobra.Command{newFormsSend(), newFormsResponses()}
}
