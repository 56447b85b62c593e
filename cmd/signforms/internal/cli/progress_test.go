package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgressBarTellsTheTimeLeft(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, verb: "reminded", total: 30, tried: 3, began: time.Now()}
	p.next, p.until = time.Now().Add(90*time.Second+time.Millisecond), time.Now().Add(75*time.Minute)
	p.draw()
	require.Regexp(t, `^\r\[##----------------------\] 3 of 30 reminded, 1h(15m0s|14m59s) left, next in 1m3[01]s\x1b\[K$`, out.String())
}

func TestProgressBarTellsHowFarAnAdvanceIs(t *testing.T) {
	var out bytes.Buffer
	p := &progress{w: &out, verb: "minutes", total: 4320, began: time.Now(), bar: true}
	p.began = p.began.Add(-time.Hour)
	p.At(1080)
	require.Contains(t, out.String(), "[######------------------] 1080 of 4320 minutes\x1b", "the time left does not follow from it")
	p.At(5000)
	require.Contains(t, out.String(), "[########################] 4320 of 4320 minutes")
}

func TestProgressBarShrinksBeforeItsText(t *testing.T) {
	p := &progress{verb: "minutes", total: 4320, tried: 1080}
	for width, want := range map[int]string{
		80: "[######------------------] 1080 of 4320 minutes",
		44: "[#####----------------] 1080 of 4320 minutes",
		27: "[#---] 1080 of 4320 minutes",
		20: "1080 of 4320 minutes",
		12: "1080 of 4320",
	} {
		require.Equal(t, want, p.line(width), width)
	}
}
