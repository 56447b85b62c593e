package main

import (
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/signformstest"
)

var kills = flag.Int("kills", 50, "how often the program is killed")

// TestMain runs the program itself where the environment says so: the tests start it as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("OFFERS_PROGRAM") != "" {
		go func() { // it does not outlive the test
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		main()
		os.Exit(0)
	}
	code := m.Run()
	stopCluster()
	os.Exit(code)
}

// A call that cannot be meant is refused before a database is made.
func TestRefusedCalls(t *testing.T) {
	for _, args := range []string{"what", "show", "show a b", "pdf", "run now", "decide a", "export -doubt 0", "run -doubt -1s", "run -every 0", "run -remind-every 1m"} {
		db := filepath.Join(t.TempDir(), "offers.db")
		cmd := exec.Command(os.Args[0], strings.Fields(args)...)
		cmd.Env = append(os.Environ(), "OFFERS_PROGRAM=1", "OFFERS_DB="+db, "SIGNFORMS_BASE_URL=http://127.0.0.1:1", "SIGNFORMS_API_KEY=k")
		_, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.CombinedOutput()
		require.Error(t, err, args)
		require.Contains(t, string(out), "want ", args)
		require.NoFileExists(t, db)
	}
}

// program is a process of the program, beside a service in the process of the test.
type program struct {
	*testing.T
	srv  *signformstest.Server
	db   string
	addr string
	log  *os.File
}

// start starts the program and returns the function that kills it.
func (p *program) start() (kill func()) {
	cmd := exec.Command(os.Args[0], "run", "-addr", p.addr, "-every", "50ms", "-reconcile", "1s", "-doubt", "2s",
		"-remind-after", "1s", "-remind-every", "1h")
	cmd.Env = append(os.Environ(), "OFFERS_PROGRAM=1", "OFFERS_DB="+p.db, "SIGNFORMS_BASE_URL="+p.srv.URL, "SIGNFORMS_API_KEY="+p.srv.APIKey,
		"SIGNFORMS_WORKSPACE_ID="+p.srv.WorkspaceID, "SIGNFORMS_WEBHOOK_SECRETS="+p.srv.WebhookSecret)
	cmd.Stderr = p.log
	_, err := cmd.StdinPipe()
	require.NoError(p, err)
	require.NoError(p, cmd.Start())
	kill = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	p.Cleanup(kill)
	return kill
}

// person says what the receiver with an address does with every offer.
func person(email string) string {
	switch email[0] % 5 {
	case 0:
		return "nothing"
	case 1:
		return "declines"
	}
	return "signs"
}

// behave acts as the receivers, the moment a document is there: often before the send is answered.
func behave(t *testing.T, srv *signformstest.Server) (stop func()) {
	happenings, stopWatching := srv.Watch(10_000)
	var acting sync.WaitGroup
	acting.Go(func() {
		for h := range happenings {
			d, ok := srv.FindDocument(h.ID)
			if h.Kind != signformstest.DocumentHappening || !ok || d.Status != signforms.StatusPending {
				continue
			}
			var err error
			signer := srv.Signer(d.ID, d.Signers[0].Email)
			switch person(d.Signers[0].Email) {
			case "declines":
				err = signer.Decline("")
			case "signs":
				err = signer.Sign()
			}
			if current, _ := srv.FindDocument(h.ID); current.Status == signforms.StatusPending && err != nil {
				t.Error(err)
			}
		}
	})
	return func() {
		stopWatching()
		acting.Wait()
	}
}

// breakThings lets answers to sends get lost before and after the work, or come after the events of the send; lists fail or end
// early; and webhooks get lost on the way, or for ever.
func breakThings(srv *signformstest.Server) {
	send := func(f signformstest.Fault) {
		f.Operation = signforms.OpSend
		srv.Fail(f)
	}
	send(signformstest.Fault{Probability: 0.25, AfterWork: true, Reset: true})
	send(signformstest.Fault{Probability: 0.15, Reset: true})
	send(signformstest.Fault{Probability: 0.15, AfterWork: true, Status: http.StatusBadGateway})
	send(signformstest.Fault{Probability: 0.5, AfterWork: true, Latency: 100 * time.Millisecond})
	srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Probability: 0.3, Status: http.StatusForbidden})
	srv.Fail(signformstest.Fault{Operation: signforms.OpListRespondents, Probability: 0.1, AfterWork: true, Cut: 100})
	srv.Fail(signformstest.Fault{Operation: signforms.OpSendReminder, Probability: 0.3, AfterWork: true, Reset: true})
	srv.FailWebhooks(signformstest.WebhookFault{Probability: 0.3, Drop: true})
	srv.FailWebhooks(signformstest.WebhookFault{Probability: 0.4, Type: "lost_for_ever"}) // no function is set for it
}

// The program is killed again and again while it sends, two offers to each address at once, and the service loses what it can.
// Nobody gets an offer twice, nobody is forgotten, every signed document is archived, and the reminder limit holds.
func TestKilled(t *testing.T) {
	srv := signformstest.NewServer(t, &signformstest.Options{Seed: 1})
	p := &program{T: t, srv: srv, db: filepath.Join(t.TempDir(), "offers.db"), addr: freeAddress(t)}
	var err error
	p.log, err = os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer p.log.Close()
	template := srv.AddTemplate(signformstest.Template{Name: "Offer", Roles: []signformstest.Role{{Title: "Buyer"}}})
	srv.AddWebhook(signformstest.Webhook{URL: "http://" + p.addr + "/webhook", Event: signformstest.TemplateResponse})
	stop := behave(t, srv)
	defer stop()
	breakThings(srv)
	a := newApp(t, srv, p.db)
	random := rand.New(rand.NewPCG(1, 2))
	happenings, stopWatching := srv.Watch(10_000)
	defer stopWatching()
	wanted := map[string]int{}
	for life := range *kills {
		if life >= *kills*4/5 { // the last lives have time for reminders
			kill := p.start()
			awaitRequests(happenings, 4+random.IntN(8))
			kill()
			continue
		}
		email := fmt.Sprintf("%c%d@example.com", 'a'+life%26, life)
		wanted[email] = 2
		for n := range 2 {
			require.NoError(t, a.add(t.Context(), strings.NewReader(fmt.Sprintf("%d-%d,%s,Buyer,Ann,%s\n", life, n, template, email))))
		}
		kill := p.start()
		awaitRequests(happenings, 1+random.IntN(8))
		kill()
	}
	t.Logf("%d offers in %d lives; in doubt at the end: %d", 2*len(wanted), *kills, len(found(t, a, "state = 'sending'")))
	srv.ClearFaults()
	kill := p.start()
	defer kill()
	require.Eventually(t, func() bool {
		open := found(t, a, "state = 'open'")
		busy := slices.ContainsFunc(open, func(o offer) bool { return person(o.Email) != "nothing" })
		return !busy && len(found(t, a, "state IN ('new', 'sending')")) == 0 && len(found(t, a, "reminded > 0")) == min(5, len(open))
	}, 2*time.Minute, 50*time.Millisecond, "not all is done")
	kill()
	kill = p.start() // a new process, which does not remember that it reminded
	awaitRequests(happenings, 3)
	kill()
	check(t, srv, a, wanted)
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// awaitRequests returns when the service got n requests, or none for a while: the program may wait for a doubt to age.
func awaitRequests(happenings <-chan signformstest.Happening, n int) {
	for len(happenings) > 0 {
		<-happenings
	}
	for {
		select {
		case h := <-happenings:
			if h.Kind == signformstest.RequestHappening {
				n--
			}
			if n == 0 {
				return
			}
		case <-time.After(500 * time.Millisecond):
			return
		}
	}
}

func found(t *testing.T, a *app, where string) []offer {
	offers, err := a.find(t.Context(), where)
	require.NoError(t, err)
	return offers
}

func check(t *testing.T, srv *signformstest.Server, a *app, wanted map[string]int) {
	sent, reminders := map[string]int{}, map[string]int{}
	documents, total := srv.FindDocuments(signformstest.DocumentFilter{FromTemplates: true, Limit: 10_000})
	require.Len(t, documents, total)
	for _, d := range documents {
		sent[d.Signers[0].Email]++
		offers := found(t, a, "document = '"+d.ID+"'")
		require.Len(t, offers, 1, "one offer owns the document")
		require.Equal(t, d.Signers[0].Email, offers[0].Email)
		want := map[string]string{"nothing": open, "declines": closed, "signs": archived}[person(offers[0].Email)]
		require.Equal(t, want, offers[0].State, offers[0].Ref)
		if want == archived {
			var pdf strings.Builder
			require.NoError(t, a.pdf(t.Context(), &pdf, offers[0].Ref))
			require.True(t, strings.HasPrefix(pdf.String(), "%PDF-"))
		}
		for _, entry := range srv.Audit(d.ID) {
			if entry.Action == "remind" {
				reminders[d.ID]++
			}
		}
	}
	require.Equal(t, wanted, sent, "each offer once")
	requests := 0
	for _, r := range srv.Requests() {
		if r.Operation == signforms.OpSendReminder {
			requests++
		}
	}
	require.LessOrEqual(t, requests, 5, "the test takes less than 15 minutes")
	for id, n := range reminders {
		require.Equal(t, 1, n, id)
	}
	exported := &strings.Builder{}
	require.NoError(t, a.export(t.Context(), exported))
	lines, err := csv.NewReader(strings.NewReader(exported.String())).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1+total)
}
