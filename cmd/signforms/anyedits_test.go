package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// lateService is an imitation that knows who got mail. From one request of a command on it may fail in one way.
type lateService struct {
	mu     sync.Mutex
	mails  [][]string // the receivers of each mailing of this command
	unsure [][]string // of each send that the command cannot know to be carried out or not
	n      int        // sends of this command
	fails  int        // which of them goes wrong; 0 for none
	how    string
	killed func() // notes what is on disk when the process is killed
	cancel func() // interrupts the command
	made   int
}

func (s *lateService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		To []struct{ Email string } `json:"receiversList"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&body) != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var to []string
	for _, p := range body.To {
		to = append(to, strings.ToLower(strings.ReplaceAll(p.Email, "。", ".")))
	}
	s.n++
	late := s.fails > 0 && s.n > s.fails
	switch {
	case s.fails > 0 && s.n >= s.fails && s.how == "refused":
		w.WriteHeader(http.StatusConflict)
		return
	case late && strings.HasPrefix(s.how, "killed"): // the process is no more
		panic(http.ErrAbortHandler)
	case s.n == s.fails && s.how == "interrupted":
		s.cancel() // it waits for the answer
	case s.n == s.fails && s.how != "no output":
		s.unsure = append(s.unsure, to)
		if strings.HasPrefix(s.how, "killed") {
			s.killed()
		}
		if strings.HasSuffix(s.how, "after") {
			s.mails = append(s.mails, to)
		}
		panic(http.ErrAbortHandler)
	}
	s.mails = append(s.mails, to)
	s.made++
	fmt.Fprintf(w, `{"message":"sent","createdDocumentId":"%024x","createdDocumentStatus":"PENDING"}`, s.made)
}

// batchModel is what is true of the runs, whatever the program believes: whom each run that has not ended has mailed.
type batchModel struct {
	*lateService
	t      *testing.T
	rand   *rand.Rand
	dir    string
	url    string
	log    []string
	files  map[string][]batchRow
	mailed map[string]map[string]int  // by journal: how often this run mailed each person
	decide map[string]map[string]bool // by journal: whom --resolve may have settled
	unsure map[string][][]string      // by journal: sends of unknown outcome that no --resolve has decided
	of     map[string]map[string]bool // by journal: the people of the run
}

type batchRow struct {
	buyer, seller string // addresses; a seller may be missing
	price         int
}

func (r batchRow) people() []string {
	if r.seller == "" || r.seller == r.buyer {
		return []string{r.buyer}
	}
	return []string{r.buyer, r.seller}
}

// Whatever becomes of the files and the settings, and wherever a run ends: nobody but a counterpart gets two documents of one template
// from runs that have not ended unless the command says so, and no run ends while somebody is forgotten.
func TestAnyEdits(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 8
	}
	t.Setenv("SIGNFORMS_API_KEY_FILE", "")
	t.Setenv("SIGNFORMS_BASE_URL", "")
	t.Setenv("SIGNFORMS_WORKSPACE_ID", "")
	for seed := range seeds {
		m := &batchModel{lateService: &lateService{}, t: t, rand: rand.New(rand.NewPCG(seed, 24)), dir: t.TempDir(),
			mailed: map[string]map[string]int{}, decide: map[string]map[string]bool{}, unsure: map[string][][]string{}, of: map[string]map[string]bool{}}
		t.Setenv("XDG_STATE_HOME", filepath.Join(m.dir, "state"))
		srv := httptest.NewServer(m)
		m.url = srv.URL
		rows := []batchRow{{"a@x.org", "s1@x.org", 1}, {"b@x.org", "s2@x.org", 2}, {"c@x.org", "", 3}, {"d@x.org", "s4@x.org", 4}}
		m.files = map[string][]batchRow{"one.csv": rows, "two.csv": slices.Clone(rows[m.rand.IntN(3):])}
		for step := range 14 {
			if step > 0 && m.rand.IntN(2) == 0 {
				m.edit()
			}
			if problem := m.send(); problem != "" {
				t.Errorf("seed %d: %s\n%s", seed, problem, strings.Join(m.log, "\n"))
				break
			}
		}
		srv.Close()
	}
}

// edit changes a file as people do.
func (m *batchModel) edit() {
	name := m.oneOf("one.csv", "one.csv", "two.csv")
	rows := m.files[name]
	i := m.rand.IntN(len(rows))
	if m.rand.IntN(20) == 0 {
		os.Remove(filepath.Join(m.dir, name+".journal"))
		delete(m.unsure, name) // nobody can know them any more
		m.note("the journal of %s is gone", name)
		return
	}
	what := m.oneOf("remove", "add", "correct", "correct seller", "one seller", "one seller", "swap", "price", "copy", "take", "reverse")
	switch what {
	case "remove":
		if len(rows) > 1 {
			rows = slices.Delete(slices.Clone(rows), i, i+1)
		}
	case "add":
		rows = append(slices.Clone(rows), batchRow{fmt.Sprintf("%c@x.org", 'a'+m.rand.IntN(8)), "", 7})
	case "correct":
		rows = slices.Clone(rows)
		rows[i].buyer = fmt.Sprintf("new%d@x.org", m.rand.IntN(4))
	case "correct seller":
		rows = slices.Clone(rows)
		rows[i].seller = m.oneOf("", "t1@x.org", "t2@x.org", "s1@x.org")
	case "one seller":
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].seller = "s9@x.org"
		}
	case "swap":
		rows = slices.Clone(rows)
		if rows[i].seller != "" {
			rows[i].buyer, rows[i].seller = rows[i].seller, rows[i].buyer
		}
	case "price":
		rows = slices.Clone(rows)
		rows[i].price += 10
	case "copy":
		rows = slices.Clone(m.files[m.oneOf("one.csv", "two.csv")])
	case "take": // a line of the other file
		other := m.files[m.oneOf("one.csv", "two.csv")]
		rows = append(slices.Clone(rows), other[m.rand.IntN(len(other))])
	case "reverse":
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	m.files[name] = rows
	m.note("%s %s: %v", what, name, rows)
}

func (m *batchModel) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *batchModel) oneOf(texts ...string) string { return texts[m.rand.IntN(len(texts))] }

// write writes a file in one of its spellings.
func (m *batchModel) write(name string) {
	columns := []string{"Buyer.name", "Buyer.email", "Seller.name", "Seller.email", "[price]"}
	if m.rand.IntN(3) == 0 {
		columns = []string{"[price]", "Seller.email", "Seller.name", "Buyer.e-mail", "Buyer.NAME"}
	}
	separator := m.oneOf(",", ";")
	text := strings.Join(columns, separator) + "\n"
	for _, row := range m.files[name] {
		cells := make([]string, len(columns))
		for i, c := range columns {
			switch strings.ToLower(c) {
			case "buyer.name":
				cells[i] = "N " + row.buyer[:1]
			case "buyer.email", "buyer.e-mail":
				cells[i] = row.buyer
			case "seller.email":
				cells[i] = row.seller
			case "seller.name":
				cells[i] = row.seller[:min(1, len(row.seller))]
			default:
				cells[i] = fmt.Sprint(row.price)
			}
		}
		text += strings.Join(cells, separator) + "\n"
	}
	if m.rand.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "@x.org", m.oneOf("@X.Org", "@x。org"))
	}
	require.NoError(m.t, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600))
}

// counterpart returns who is in every row in the same role, each time with another person, who is not the same in all.
func counterpart(rows []batchRow) string {
	buyer, seller := func(r batchRow) string { return r.buyer }, func(r batchRow) string { return r.seller }
	for _, role := range [][2]func(batchRow) string{{buyer, seller}, {seller, buyer}} {
		p, other := role[0](rows[0]), role[1](rows[0])
		lacks := func(r batchRow) bool { return role[0](r) != p || role[1](r) == p || role[1](r) == "" }
		if p != "" && !slices.ContainsFunc(rows, lacks) && slices.ContainsFunc(rows, func(r batchRow) bool { return role[1](r) != other }) {
			return p
		}
	}
	return ""
}

// batchSend is one command.
type batchSend struct {
	journal             string
	counterpart         string
	rows                []batchRow
	people              map[string]int // in how many lines of the file each is
	newRun, repeat, dry bool
	resolve             string
	code                int
}

// command makes a command at random.
func (m *batchModel) command() (c batchSend, args []string) {
	name := m.oneOf("one.csv", "one.csv", "two.csv")
	m.write(name)
	c = batchSend{journal: name, rows: m.files[name], counterpart: counterpart(m.files[name]), people: map[string]int{}}
	for _, row := range m.files[name] {
		for _, p := range row.people() {
			c.people[p]++
		}
	}
	port := m.url[strings.LastIndexByte(m.url, ':'):]
	base := m.oneOf(m.url, m.url, m.url, m.url+"/", "http://localhost"+port, "HTTP://LocalHost"+port+"//")
	args = []string{"templates", "send", m.oneOf("0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d11", "0D8E3A4C-5B1F-4C7E-9A55-2F6F1F0C9D11"), "--csv", filepath.Join(m.dir, name),
		"--yes", "--max-attempts", "1", "--subject", m.oneOf("Offer", "Offer", "Offer", "Offer", "Other"), "--base-url", base}
	m.t.Setenv("SIGNFORMS_API_KEY", m.oneOf("key", "key", "key", "key", "rotated"))
	if m.rand.IntN(6) == 0 {
		args = append(args, "--workspace", "0d8e3a4c-5b1f-4c7e-9a55-2f6f1f0c9d12")
	}
	flag := func(n int, name string) bool {
		if m.rand.IntN(n) != 0 {
			return false
		}
		args = append(args, name)
		return true
	}
	c.newRun, c.repeat, c.dry = flag(12, "--new-run"), flag(5, "--repeat-addresses"), flag(12, "--dry-run")
	if m.rand.IntN(4) == 0 {
		c.resolve = m.oneOf("all=done", "all=again", "changed=done", "changed=again", "2=done", "3=again", "a@x.org=again", "b@x.org=done", "s2@x.org=again")
		args = append(args, "--resolve", c.resolve)
	}
	return c, args
}

// send sends a file, with a failure at any point, and returns what is wrong with the outcome.
func (m *batchModel) send() (problem string) {
	c, args := m.command()
	m.lateService.mails, m.lateService.unsure, m.n, m.fails = nil, nil, 0, 0
	if m.rand.IntN(3) > 0 {
		m.fails, m.how = 1+m.rand.IntN(4), m.oneOf("refused", "refused", "lost before", "lost after", "killed before", "killed after", "interrupted", "no output")
	}
	var disk map[string]string
	m.killed = func() { disk = m.snapshot() }
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	m.cancel = cancel
	var errs strings.Builder
	c.code = run(ctx, hasty, args, strings.NewReader(""), m, &errs)
	if disk != nil {
		m.restore(disk)
		c.code = -1
	}
	m.note("%v key %s\n  failing %d %s: exit %d, mailed %v\n    %s", args[4:], os.Getenv("SIGNFORMS_API_KEY"), m.fails, m.how, c.code, m.lateService.mails,
		strings.ReplaceAll(strings.TrimSpace(errs.String()), "\n", "\n    "))
	return m.judge(c)
}

// Write is the standard output of a command.
func (m *batchModel) Write(text []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.how == "no output" && m.fails > 0 && m.n >= m.fails {
		return 0, io.ErrClosedPipe
	}
	return len(text), nil
}

func (m *batchModel) snapshot() map[string]string {
	disk := map[string]string{}
	require.NoError(m.t, filepath.WalkDir(m.dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		disk[path] = string(text)
		return err
	}))
	return disk
}

func (m *batchModel) restore(disk map[string]string) {
	for path := range m.snapshot() {
		require.NoError(m.t, os.Remove(path))
	}
	for path, text := range disk {
		require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(m.t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// judge holds what a command did against what the runs have done so far.
func (m *batchModel) judge(c batchSend) (problem string) {
	sent := map[string]int{}
	for _, to := range m.lateService.mails {
		slices.Sort(to)
		for _, p := range slices.Compact(to) { // who has two roles gets one document
			sent[p]++
		}
	}
	if (c.dry || c.code == cli.ExitUsage) && len(sent) > 0 {
		return "it mailed somebody"
	}
	if c.dry || c.code == cli.ExitUsage {
		return ""
	}
	if c.newRun {
		if problem := m.abandon(c); problem != "" {
			return problem
		}
	}
	m.begin(c.journal)
	maps.Copy(m.of[c.journal], asSet(c.people))
	for p, n := range sent {
		if problem := m.twice(c, p, n); problem != "" {
			return problem
		}
		m.mailed[c.journal][p] += n
	}
	if strings.HasSuffix(c.resolve, "done") {
		maps.Copy(m.decide[c.journal], asSet(c.people))
	}
	if strings.HasPrefix(c.resolve, "all=") {
		m.unsure[c.journal] = nil
	} else if c.resolve != "" { // of the lines that it names
		m.unsure[c.journal] = slices.DeleteFunc(m.unsure[c.journal], func(to []string) bool {
			return !slices.ContainsFunc(to, func(p string) bool { return c.people[p] == 0 })
		})
	}
	m.unsure[c.journal] = append(m.unsure[c.journal], m.lateService.unsure...)
	if c.code == cli.ExitOK {
		return m.end(c)
	}
	return ""
}

// twice says what is wrong with n more mails to a person.
func (m *batchModel) twice(c batchSend, p string, n int) string {
	if p == c.counterpart {
		return ""
	}
	if n > 1 && !c.repeat {
		return fmt.Sprintf("it mailed %s %d times", p, n)
	}
	if c.mayRepeat(p) {
		return ""
	}
	for journal, mailed := range m.mailed {
		switch {
		case mailed[p] == 0:
		case journal != c.journal:
			return fmt.Sprintf("it mailed %s, whom the run of %s has mailed", p, journal)
		case !c.repeat:
			return fmt.Sprintf("it mailed %s again", p)
		case mailed[p]+n > c.people[p]:
			return fmt.Sprintf("the run has mailed %s %d times, and the file has %d such lines", p, mailed[p]+n, c.people[p])
		}
	}
	return ""
}

// mayRepeat reports whether --resolve says that lines of a person are to be sent again.
func (c batchSend) mayRepeat(p string) bool {
	name, what, _ := strings.Cut(c.resolve, "=")
	return what == "again" && slices.ContainsFunc(c.rows, func(r batchRow) bool {
		return slices.Contains(r.people(), p) && (name == "all" || name == "changed" || name == fmt.Sprint(2+slices.Index(c.rows, r)) || slices.Contains(r.people(), name))
	})
}

// end says who is forgotten by the run that ended.
func (m *batchModel) end(c batchSend) string {
	if left := m.unsure[c.journal]; len(left) > 0 && !c.newRun {
		return fmt.Sprintf("the run ended, and whether %v were sent is unknown", left)
	}
	for p := range c.people {
		if m.mailed[c.journal][p] == 0 && !m.decide[c.journal][p] {
			return fmt.Sprintf("the run ended without %s", p)
		}
	}
	m.forget(c.journal)
	return ""
}

func (m *batchModel) begin(journal string) {
	if m.mailed[journal] == nil {
		m.mailed[journal], m.decide[journal], m.of[journal] = map[string]int{}, map[string]bool{}, map[string]bool{}
	}
}

func (m *batchModel) forget(journal string) {
	delete(m.mailed, journal)
	delete(m.decide, journal)
	delete(m.unsure, journal)
	delete(m.of, journal)
}

// abandon forgets the run of the journal, and the others for some of the same people.
func (m *batchModel) abandon(c batchSend) (problem string) {
	unsure := m.unsure[c.journal]
	for journal, of := range m.of {
		if journal == c.journal || slices.ContainsFunc(slices.Collect(maps.Keys(c.people)), func(p string) bool { return of[p] && p != c.counterpart }) {
			if left := m.unsure[journal]; journal != c.journal && len(left) > 0 {
				problem = fmt.Sprintf("it abandoned the run of %s, and whether %v were sent is unknown", journal, left)
			}
			m.forget(journal)
		}
	}
	m.begin(c.journal)
	m.unsure[c.journal] = unsure
	return problem
}

func asSet(people map[string]int) map[string]bool {
	set := map[string]bool{}
	for p := range people {
		set[p] = true
	}
	return set
}
