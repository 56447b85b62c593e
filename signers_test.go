package signforms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
)

func TestSignerIDs(t *testing.T) {
	signers := []signforms.Signer{{SignerID: "b", Name: "Ben"}, {Name: "Ann"}, {SignerID: "a"}}
	want := []string{"b", "a"}
	require.Equal(t, want, (&signforms.SendResult{Signers: signers}).SignerIDs())
	require.Equal(t, want, (&signforms.Respondent{Signers: signers}).SignerIDs())
	require.Equal(t, want, (&signforms.TemplateRespondent{Signers: signers}).SignerIDs())
	require.Nil(t, (&signforms.SendResult{Signers: signers[1:2]}).SignerIDs())
}
