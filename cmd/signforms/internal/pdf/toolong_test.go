package pdf_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/pdf"
)

// TestFindTooLong: a text is refused if it fits into its box in no size that can be read. What fits is accepted.
func TestFindTooLong(t *testing.T) {
	original := buildPage("")
	for name, c := range map[string]struct {
		width, height float64 // in points
		text          string
		long          bool
	}{
		"8 characters":             {8, 4, "Lausanne", true},
		"8 characters that fit":    {40, 12, "Lausanne", false},
		"40 characters":            {30, 4, strings.Repeat("Lausanne", 5), true},
		"40 characters that fit":   {60, 12, strings.Repeat("Lausanne", 5), false},
		"200 characters":           {90, 4, strings.Repeat("Lausanne ", 22) + "12", true},
		"200 characters that fit":  {150, 30, strings.Repeat("Lausanne ", 22) + "12", false},
		"words of many characters": {30, 30, strings.Repeat("\u4e2d", 300), true},
	} {
		t.Run(name, func(t *testing.T) {
			mark := pdf.Mark{Page: 1, Width: c.width / 595, Height: c.height / 842, Text: c.text}
			long, err := pdf.FindTooLong(original, []pdf.Mark{mark})
			require.NoError(t, err)
			require.Equal(t, c.long, long != nil)
			if !c.long {
				return
			}
			mark.Text = string([]rune(c.text)[:long.Fits])
			long, err = pdf.FindTooLong(original, []pdf.Mark{mark})
			require.NoError(t, err)
			require.Nil(t, long, "what is said to fit does")
		})
	}
}
