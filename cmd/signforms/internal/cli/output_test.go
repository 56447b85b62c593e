package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCSVCells(t *testing.T) {
	for in, want := range map[string]string{
		"=1": "'=1", "+1": "'+1", "-1": "'-1", "@a": "'@a", "\ta": "'\ta", "＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠a": "'＠a",
		"a=1": "a=1", "": "", "\x1b[31mred": " [31mred", "two\nlines": "two\nlines",
	} {
		require.Equal(t, want, noFormula(in), "%q", in)
	}
}
