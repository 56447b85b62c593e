package fieldname_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/fieldname"
)

func TestWords(t *testing.T) {
	names := map[string]string{
		"Receivers": "--to", "Receivers[]": "receiver", "Email": "email", "Mail.Subject": "--subject", "Fields[]": "field",
	}
	for path, want := range map[string]string{
		"Receivers": "--to", "Receivers[0].Email": "email of receiver 1", "Email": "email", "Mail.Subject": "--subject", "Other": "Other",
		"Fields[11].Choices[0]": "Choices 1 of field 12", `Endpoints["send"]`: `Endpoints "send"`, "": "",
	} {
		require.Equal(t, want, fieldname.Words(path, names), path)
	}
}

func TestPath(t *testing.T) {
	names := map[string]string{"Fields": "fields", "Name": "name", "PDF": "pdf"}
	for path, want := range map[string]string{
		"Fields[2].Name": "fields[2].name", "PDF": "pdf", "Other[0].Name": "Other[0].name", "receiversList[0].name": "receiversList[0].name", "": "",
	} {
		require.Equal(t, want, fieldname.Path(path, names), path)
	}
}
