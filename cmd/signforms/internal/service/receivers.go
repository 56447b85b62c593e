package service

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"

	"github.com/signforms/signforms-go"
)

// receiversFlag are receivers, each as name=Ann,email=ann@example.com,role=Buyer.
type receiversFlag struct {
	receivers *[]signforms.Receiver
	form      bool // forms have no roles
}

func (f receiversFlag) Type() string { return "receiver" }

func (f receiversFlag) String() string { return "" }

func (f receiversFlag) Set(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	fields, err := r.Read()
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
	if f.form && receiver.RoleTitle+receiver.RoleColour != "" {
		return errors.New("a form has no roles: leave out role and colour")
	}
	*f.receivers = append(*f.receivers, receiver)
	return nil
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
type variablesFlag struct{ variables *[]signforms.CustomVariable }

func (f variablesFlag) Type() string { return "name=value" }

func (f variablesFlag) String() string { return "" }

func (f variablesFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return errors.New("must be name=value")
	}
	if !strings.HasPrefix(name, "[") {
		name = "[" + name + "]"
	}
	*f.variables = append(*f.variables, signforms.CustomVariable{Name: name, Value: value})
	return nil
}
