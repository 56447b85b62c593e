package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/signformstest"
)

const threePairs = "Buyer.name,Buyer.email,Seller.name,Seller.email\nA,a@example.com,S,s@example.com\nB,b@example.com,T,t@example.com\nC,c@example.com,U,u@example.com\n"

// twoPairsSent has sent the first two of three lines with two receivers each.
func twoPairsSent(t *testing.T) *mailing {
	t.Helper()
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "pairs.csv"), threePairs}
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 3, Times: 1, Status: 409})
	m.sends(t, cli.ExitPartial)
	heal()
	return m
}

// A line that was sent is held back when one of its receivers is corrected: the others have got its document.
func TestCorrectedReceivers(t *testing.T) {
	m := twoPairsSent(t)
	m.text = strings.Replace(m.text, "s@example.com", "new@example.com", 1)
	stderr := m.sends(t, cli.ExitPartial)
	require.Contains(t, stderr, "line 2 (a@example.com, new@example.com): line 2 was sent to a@example.com and others at 2")
	require.Contains(t, stderr, "sent: 1, and 1 before\nsent with other contents: 1: line 2 (a@example.com, new@example.com)\n")
	require.Equal(t, 1, m.mails()["a@example.com"])
	require.Equal(t, 1, m.mails()["c@example.com"])
	m.sends(t, cli.ExitOK, "--resolve", "2=again")
	require.Equal(t, 2, m.mails()["a@example.com"])
	require.Equal(t, 1, m.mails()["new@example.com"])
}

func TestCopiesWithOtherReceivers(t *testing.T) {
	m := twoPairsSent(t)
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	m.text = strings.NewReplacer("s@", "s2@", "t@", "t2@", "u@", "u2@", "c@", "c2@").Replace(m.text)
	stderr := m.sends(t, cli.ExitUsage)
	require.Contains(t, stderr, "copy.csv: nothing was sent: 2 lines of 3 share people with the run of 2")
	require.Contains(t, stderr, ", and it has sent to people of 2 of them.\nThe lines: line 2 (a@example.com, s2@example.com), line 3 (b@example.com, t2@example.com).\n")
}

func TestPeopleInTwoLines(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "pairs.csv"), strings.ReplaceAll(threePairs, "t@", "s@")}
	require.Contains(t, m.sends(t, cli.ExitUsage), "pairs.csv: nothing was sent:\n  lines 2 and 3: s@example.com\nThese have the same addresses: ")
	m.sends(t, cli.ExitOK, "--repeat-addresses")
	require.Equal(t, 2, m.mails()["s@example.com"])
}

const oneSeller = "Buyer.name,Buyer.email,Seller.name,Seller.email\nA,a@example.com,S,s@example.com\nB,b@example.com,S,S@example.com\nC,c@example.com,S,s@example.com\n"

// Who signs every line in the same role is not held for repeated, in this file or in another. The others still are.
func TestCounterparts(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "pairs.csv"), oneSeller}
	heal := m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 2, Times: 1, Status: 409})
	require.Contains(t, m.sends(t, cli.ExitPartial), "sent: 2\n")
	heal()
	other := &mailing{m.testService, filepath.Join(t.TempDir(), "other.csv"), strings.NewReplacer("a@", "d@", "b@", "e@", "c@", "f@").Replace(oneSeller)}
	other.sends(t, cli.ExitOK)
	for text, says := range map[string]string{
		strings.Replace(other.text, "d@", "a@", 1):                                     "1 line of 3 shares people",
		"Buyer.name,Buyer.email,Seller.name,Seller.email\nZ,z@x.org,S,s@example.com\n": "1 line of 1 shares people", // which of the two is it?
	} {
		other.text = text
		require.Contains(t, other.sends(t, cli.ExitUsage), says)
	}
	m.text = strings.Replace(m.text, "a@example.com", "c@example.com", 1)
	require.Contains(t, m.sends(t, cli.ExitUsage), "nothing was sent:\n  lines 2 and 4: c@example.com\nThese have the same addresses: ")
	m.text = strings.Replace(oneSeller, "a@example.com", "new@example.com", 1)
	m.sends(t, cli.ExitOK)
	for _, p := range []string{"a", "b", "c", "d", "e", "f", "new"} {
		require.Equal(t, 1, m.mails()[p+"@example.com"], p)
	}
}

func TestNoCounterparts(t *testing.T) {
	for name, text := range map[string]string{
		"in another role":  "Buyer.name,Buyer.email,Seller.name,Seller.email\nA,a@example.com,S,s@example.com\nS,s@example.com,B,b@example.com\n",
		"not in one line":  oneSeller + "D,d@example.com,,\n",
		"with nobody else": "name,email,[price]\nS,s@example.com,1\nS,s@example.com,2\n",
		"all the same":     "Buyer.name,Buyer.email,Seller.name,Seller.email,[price]\nA,a@example.com,S,s@example.com,1\nA,a@example.com,S,s@example.com,2\n",
	} {
		m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "pairs.csv"), text}
		_, stderr, code := m.send(t)
		require.Equal(t, cli.ExitUsage, code, name+stderr)
		require.Contains(t, stderr, "lines 2 and 3: ", name)
		require.Contains(t, stderr, "s@example.com\nThese have the same addresses: ", name)
		require.Empty(t, m.mails(), name)
	}
}

// A line that may have been sent and is gone is named, whether or not another line is for the same people.
func TestRepeatedLinesThatAreGone(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), "name,email,[price]\nAnn,ann@example.com,1\nAnn,ann@example.com,2\n"}
	m.Fail(signformstest.Fault{Operation: signforms.OpSend, Nth: 1, Times: 1, Reset: true, AfterWork: true})
	m.sends(t, cli.ExitUnknown, "--repeat-addresses")
	m.text = strings.Replace(m.text, "Ann,ann@example.com,1\n", "", 1)
	for _, args := range [][]string{{"--repeat-addresses"}, nil} {
		require.Contains(t, m.sends(t, cli.ExitUnknown, args...), "line 2 as it was at 2")
	}
	require.Equal(t, 2, m.mails()["ann@example.com"])
}

// A run that names its workspace and one that leaves it to the key may mean the same. Runs that name two do not.
func TestCopiesForAnotherWorkspace(t *testing.T) {
	m := halfSent(t)
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
	require.Contains(t, m.sends(t, cli.ExitUsage, "--dry-run"), "6 lines of 6 share people with the run of 2")
	m.sends(t, cli.ExitOK, "--dry-run", "--workspace", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11")
}

// A run that a process carries out cannot be abandoned.
func TestNewRunBesideAProcess(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	g := &gate{method: http.MethodPost, before: func(n int) {
		if n == 2 {
			other := &mailing{m.testService, filepath.Join(t.TempDir(), "copy.csv"), sixPeople}
			_, stderr, code := other.send(t, "--new-run")
			assert.Equal(t, cli.ExitUsage, code)
			assert.Contains(t, stderr, "copy.csv: nothing was sent: a process carries out the run with the journal "+m.path+".journal: wait until it ends, or end it\n")
		}
	}}
	g.stand(t, m.testService)
	m.sends(t, cli.ExitOK)
	m.once(t)
}

// A run that was abandoned for a copy does not go on, because the copy has sent the rest.
func TestAbandonedRunsDoNotGoOn(t *testing.T) {
	m := halfSent(t)
	path := m.path
	m.path = filepath.Join(t.TempDir(), "copy.csv")
	m.sends(t, cli.ExitOK, "--new-run")
	m.path = path
	for range 2 {
		stderr := m.sends(t, cli.ExitUsage)
		require.Contains(t, stderr, "people.csv: nothing was sent: the run of 2")
		require.Contains(t, stderr, " had sent 3 lines when another with --new-run took its place at 2")
	}
	require.Equal(t, 1, m.mails()["p5@example.com"])
	m.sends(t, cli.ExitOK, "--new-run")
	require.Equal(t, 2, m.mails()["p5@example.com"])
}

// Without an output, nothing more is sent. What was sent is remembered.
func TestOutputThatEnds(t *testing.T) {
	m := &mailing{newService(t, nil), filepath.Join(t.TempDir(), "people.csv"), sixPeople}
	require.NoError(t, os.WriteFile(m.path, []byte(m.text), 0o600))
	var errs strings.Builder
	code := run(t.Context(), hasty, []string{"templates", "send", m.offer, "--csv", m.path, "--role", "Buyer", "--subject", "Offer", "--yes"},
		strings.NewReader(""), noOutput{}, &errs)
	require.Equal(t, cli.ExitPartial, code, errs.String())
	require.Len(t, m.mails(), 1)
	require.Contains(t, m.sends(t, cli.ExitOK), "sent: 5, and 1 before\n")
	m.once(t)
}

// A device and a folder are refused, and a pipe is read as a file is.
func TestPeopleWhoAreInNoFile(t *testing.T) {
	s := newService(t, nil)
	for path, says := range map[string]string{
		os.DevNull: os.DevNull + ": is empty: the first line names the columns", t.TempDir(): "is a directory", "/dev/zero": "/dev/zero is larger than 67108864 bytes",
	} {
		_, stderr, code := execute(t, "templates", "send", s.offer, "--csv", path, "--role", "Buyer", "--yes")
		require.Equal(t, cli.ExitUsage, code, "%s: %s", path, stderr)
		require.Contains(t, stderr, says)
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	_, err = w.WriteString(sixPeople)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, stderr, code := execute(t, "templates", "send", s.offer, "--csv", fmt.Sprintf("/dev/fd/%d", r.Fd()), "--role", "Buyer", "--dry-run")
	require.Equal(t, cli.ExitOK, code, stderr)
	require.Contains(t, stderr, "6 lines to be sent\n")
}

type noOutput struct{}

func (noOutput) Write([]byte) (int, error) { return 0, os.ErrClosed }
