package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// life is one random life of a file of people: runs that are killed or interrupted, answers that are lost, refusals,
// --rest, and edits.
type life struct {
	*mailing
	random *rand.Rand
	files  []string // FILE, and what --rest made of it
	people int

	mu   sync.Mutex
	fall *rand.Rand // of fates, which requests ask for while a step goes on
	calm bool       // every send passes
}

// fates are what may happen to a send that arrives: it is refused or carried out, and its answer arrives or does not.
// Most are refused, so that something is left for the next run.
var fates = []string{"is refused", "is refused", "is refused", "is refused", "is refused", "passes", "is lost",
	"its answer is lost", "killed before", "killed after", "interrupted"}

func (l *life) fate(t *testing.T, r *http.Request) (fate string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.Method != http.MethodPost || l.calm {
		return "passes"
	}
	fate = fates[l.fall.IntN(len(fates))]
	t.Log("a send", fate)
	return fate
}

// stand puts the life in front of the service.
func (l *life) stand(t *testing.T) {
	target, err := url.Parse(l.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		forward := func(to http.ResponseWriter) { proxy.ServeHTTP(to, r.WithContext(context.WithoutCancel(r.Context()))) }
		fate := l.fate(t, r)
		switch fate {
		case "is refused":
			w.WriteHeader(http.StatusConflict)
			return
		case "is lost":
			panic(http.ErrAbortHandler)
		case "its answer is lost":
			forward(httptest.NewRecorder())
			panic(http.ErrAbortHandler)
		case "killed before", "killed after":
			if fate == "killed after" {
				forward(httptest.NewRecorder())
			}
			current().kill()
			current().end()
			return
		case "interrupted":
			current().cmd.Process.Signal(syscall.SIGINT)
		}
		forward(w)
	}))
	t.Cleanup(srv.Close)
	t.Setenv("SIGNFORMS_BASE_URL", srv.URL)
}

// send runs the real program on a file.
func (l *life) send(t *testing.T, file string, more ...string) (code int, stdout, stderr string) {
	p := start(t, nil, append([]string{"templates", "send", l.offer, "--csv", file, "--yes"},
		more...)...)
	code = p.end()
	return code, p.stdout.String(), p.stderr.String()
}

func (l *life) anyFile() string { return l.files[l.random.IntN(len(l.files))] }

// edited runs the command on a file that was edited so that it must be refused, and undoes the edit.
func (l *life) edited(t *testing.T, file, edited string, edit func(text string) string) {
	text, err := os.ReadFile(edited)
	if err != nil {
		return // there is no results file yet
	}
	changed := edit(string(text))
	if changed == string(text) {
		return
	}
	l.write(t, edited, changed)
	before := len(l.Requests())
	code, _, stderr := l.send(t, file)
	require.Equal(t, cli.ExitUsage, code, stderr)
	require.Contains(t, stderr, "Undo the edit")
	require.Len(t, l.Requests(), before)
	l.write(t, edited, string(text))
}

// step does one thing to the file, and tells the test's log.
func (l *life) step(t *testing.T) {
	file := l.anyFile()
	switch what := l.random.IntN(9); what {
	default:
		code, _, stderr := l.send(t, file)
		t.Logf("%s: sent: %d", filepath.Base(file), code)
		require.NotEqual(t, cli.ExitUsage, code, stderr)
		if code != cli.ExitOK && code != -1 {
			require.Regexp(t, `the same command again goes on, .* edit its last state`, stderr)
		}
	case 5:
		if _, err := os.Stat(file + ".results.csv"); err == nil { // otherwise nothing was begun
			l.edited(t, file, file, func(text string) string { return strings.Replace(text, "P", "Q", 1+l.random.IntN(3)) })
		}
	case 6:
		word := []string{"snt", "done", "SENT", " sent", "moved to"}[l.random.IntN(5)]
		l.edited(t, file, file+".results.csv", func(text string) string { return withCell(l.random, text, word) })
	case 7:
		rest := filepath.Join(filepath.Dir(l.path), fmt.Sprintf("rest%d.csv", len(l.files)))
		code, _, stderr := l.send(t, file, "--rest", rest)
		t.Logf("%s: --rest %s: %d", filepath.Base(file), filepath.Base(rest), code)
		if code == cli.ExitFailure {
			require.Contains(t, stderr, "no line is failed, again or not begun")
			return
		}
		require.Equal(t, cli.ExitOK, code, stderr)
		if l.random.IntN(2) == 0 { // as if it had been killed before the file was there
			require.NoError(t, os.Remove(rest))
			code, _, stderr = l.send(t, file, "--rest", rest)
			require.Equal(t, cli.ExitOK, code, stderr)
		}
		l.files = append(l.files, rest)
	case 8:
		l.settle(t, file)
	}
}

// withCell sets the state of a random row.
func withCell(random *rand.Rand, text, word string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	i := 6 + random.IntN(max(len(lines)-6, 1))
	if i >= len(lines) {
		return text
	}
	cells := strings.Split(lines[i], ",")
	cells[1] = word
	lines[i] = strings.Join(cells, ",")
	return strings.Join(lines, "\n") + "\n"
}

// settle does what a person does about unknown lines: look, and edit their last rows.
func (l *life) settle(t *testing.T, file string) {
	text, err := os.ReadFile(file + ".results.csv")
	if err != nil {
		return
	}
	code, stdout, stderr := l.send(t, file, "--unknown")
	require.Equal(t, cli.ExitOK, code, stderr)
	rows, err := csv.NewReader(strings.NewReader(text2rows(string(text)))).ReadAll()
	require.NoError(t, err)
	last := map[string]int{}
	for i, row := range rows {
		last[row[0]] = i
	}
	for _, i := range last {
		if state := rows[i][1]; state == "sending" || state == "unknown" {
			rows[i][1] = "again"
			if strings.Contains("\n"+stdout, "\n"+rows[i][0]+"\t") {
				rows[i][1] = "sent"
			}
		}
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	require.NoError(t, w.WriteAll(rows))
	head, _, _ := strings.Cut(string(text), "line,state")
	l.write(t, file+".results.csv", head+"line,state,id,reason\n"+b.String())
}

// text2rows returns a results file without its header.
func text2rows(text string) string {
	_, rows, _ := strings.Cut(text, "line,state,id,reason\n")
	return rows
}

var lives = flag.Int("lives", 2, "how many random lives of a file are tried")

// Whatever happens to a file, nobody is mailed twice, nobody is forgotten, and every refusal says what to do.
func TestKilledRunsOfOneFile(t *testing.T) {
	for seed := range *lives {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 37))
			l := &life{mailing: newMailing(t, ""), random: random, fall: rand.New(rand.NewPCG(uint64(seed), 38)), people: 8 + random.IntN(6)}
			l.files = []string{l.path}
			end, comma := []string{"\n", "\r\n"}[random.IntN(2)], []string{",", ";"}[random.IntN(2)]
			text := []string{"", "\ufeff"}[random.IntN(2)] + "Buyer.name" + comma + "Buyer.email" + end
			for _, i := range random.Perm(l.people) {
				text += fmt.Sprintf("\"P%d\"%sp%d@example.com%s", i, comma, i, end)
			}
			l.write(t, l.path, text)
			l.stand(t)
			for range 12 {
				l.step(t)
				for who, n := range l.mails() {
					require.Equal(t, 1, n, who)
				}
			}
			l.mu.Lock()
			l.calm = true
			l.mu.Unlock()
			for again := true; again; {
				again = false
				for _, file := range l.files {
					l.settle(t, file)
					code, _, stderr := l.send(t, file)
					again = again || code != cli.ExitOK
					require.NotEqual(t, cli.ExitUsage, code, stderr)
				}
			}
			l.requireEach(t, l.people)
		})
	}
}
