package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the program prints into testdata/recorded")

// TestRecordedOutput runs the command lines of each file in testdata/recorded without a terminal, one after the other on one service. It
// compares all output. Names in capitals stand for ids, addresses and folders.
func TestRecordedOutput(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			s := newService(t, nil)
			s.write(t)
			var got strings.Builder
			for line := range strings.Lines(string(want)) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ signforms")
				if !ok {
					continue
				}
				stdout, stderr, code := s.run(t, command)
				fmt.Fprintf(&got, "$ signforms%s\n%s", command, stdout)
				for line := range strings.Lines(stderr) {
					fmt.Fprintf(&got, "2> %s", line)
				}
				if code != 0 {
					fmt.Fprintf(&got, "exit %d\n", code)
				}
				got.WriteString("\n")
				require.NotContains(t, stdout+stderr, s.APIKey)
			}
			for _, m := range s.Messages() {
				if m.Link != "" {
					require.NotContains(t, got.String(), string(m.Link), "a signing link")
				}
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
				return
			}
			require.Equal(t, string(want), got.String())
		})
	}
}

// write puts the files of the sessions into a folder, DIR.
func (s *testService) write(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	s.names = append(s.names, dir, "DIR")
	for name, text := range map[string]string{
		"people.csv":   "Buyer.name,Buyer.email,[price]\nCem,cem@example.com,10\n\"Doe, Dan\",dan@example.com,12\n",
		"pairs.csv":    "\ufeffBuyer.name;Buyer.email;Seller.name;Seller.email\nCem;cem@example.com;Dan;dan@example.com\nEve;eve@example.com;;\n",
		"guests.csv":   "name;email\nCem;cem@example.com\nDan;dan@example.com\n",
		"roles.csv":    "Buyer.name,Buyer.email,Boss.name,Boss.email\nCem,cem@example.com,,\n,,Dan,dan@example.com\n",
		"wrong.csv":    "Buyer.name,Buyer.email\nCem,cem@example.com\n,dan@example.com\n",
		"twice.csv":    "Buyer.name,Buyer.email\nCem,cem@example.com\nDan,dan@example.com\nCem,cem@example.com\n",
		"unknown.csv":  "Buyer.name,mail\nCem,cem@example.com\n",
		"empty.csv":    "",
		"header.csv":   "Buyer.name,Buyer.email\n",
		"ragged.csv":   "Buyer.name,Buyer.email\nCem\n",
		"key":          s.APIKey + "\n",
		"contract.pdf": "%PDF-1.7\n%%EOF\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}
