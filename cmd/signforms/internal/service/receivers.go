package service

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/signforms/signforms-go"
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
			if err := setReceiver(&receiver, strings.TrimSpace(name), value); err != nil {
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

// setReceiver sets a field of a receiver by its name in flags and CSV headers.
func setReceiver(r *signforms.Receiver, name, value string) error {
	switch name {
	case "name":
		r.Name = value
	case "email":
		r.Email = value
	case "role":
		r.RoleTitle = value
	case "colour":
		r.RoleColour = value
	case "subject":
		r.Subject = value
	case "message":
		r.Message = value
	default:
		return fmt.Errorf("%q is not one of name, email, role, colour, subject and message", name)
	}
	return nil
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
