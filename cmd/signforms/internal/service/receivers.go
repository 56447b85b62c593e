package service

import (
	"encoding/csv"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/batch"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// receiversFlag are receivers, each as name=Ann,email=ann@example.com,role=Buyer. Those of a form have no roles.
func receiversFlag(receivers *[]signforms.Receiver, form bool) pflag.Value {
	return cli.FuncFlag("receiver", func(text string) error {
		fields, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			return errors.New("cannot be read: say name=Ann,email=ann@example.com,role=Buyer, and quote what holds a comma: \"name=Doe, Ann\",…")
		}
		var receiver signforms.Receiver
		for _, field := range fields {
			name, value, _ := strings.Cut(field, "=")
			if err := batch.SetReceiver(&receiver, strings.TrimSpace(name), value); err != nil {
				return err
			}
		}
		if form && receiver.RoleTitle+receiver.RoleColour != "" {
			return errors.New("a form has no roles: leave out role and colour")
		}
		*receivers = append(*receivers, receiver)
		return nil
	})
}

// variablesFlag are custom variables, each as name=value; the square brackets of the name may be left out.
func variablesFlag(variables *[]signforms.CustomVariable) pflag.Value {
	return cli.FuncFlag("name=value", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return errors.New("must be name=value")
		}
		if !strings.HasPrefix(name, "[") {
			name = "[" + name + "]"
		}
		*variables = append(*variables, signforms.CustomVariable{Name: name, Value: value})
		return nil
	})
}
