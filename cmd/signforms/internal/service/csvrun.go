package service

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/journal"
)

// csvRun is a run of send --csv: its journal, and this user's notes of runs that have not ended.
type csvRun struct {
	b        *batch
	name     string // of what --csv reads
	path     string // of the journal
	settings map[string]string
	who      map[string]bool // the people of all lines
	notes    journal.Notes
	replaces bool // the run of the journal that has not ended is abandoned
	noted    bool // there is a note of this run
	stderr   io.Writer
}

func newCSVRun(c *sendCommand, b *batch, path string, stderr io.Writer) *csvRun {
	r := &csvRun{b: b, name: c.csvName(), path: path, settings: c.settings(), who: map[string]bool{}, stderr: stderr}
	for _, it := range b.items {
		r.who[it.who] = true
	}
	if abs, err := filepath.Abs(path); err == nil {
		r.path = abs
	}
	if dir, err := stateFile("sends"); err == nil {
		r.notes = journal.Notes(dir)
	}
	return r
}

// target identifies what is sent: the service, the workspace, and the template or form.
func (c *sendCommand) target() []string {
	return append(c.conn.service(), c.kind(), strings.ToLower(c.id))
}

func (c *sendCommand) kind() string {
	if c.form {
		return "form"
	}
	return "template"
}

func (c *sendCommand) pdfSum() string {
	sum := sha256.Sum256(c.pdf)
	return hex.EncodeToString(sum[:])
}

// settings are what all lines of a run share.
func (c *sendCommand) settings() map[string]string {
	all := map[string]string{"address": cli.ShownURL(c.conn.baseURL), "workspace": c.conn.workspace, c.kind(): strings.ToLower(c.id),
		"--subject": c.mail.Subject, "--message": c.mail.Message, "--role": c.role}
	if hash := c.conn.keyHash(); hash != "" {
		all["API key, as no workspace is named"] = "the key with the hash " + hash
	}
	if len(c.pdf) > 0 {
		all["--pdf"] = "the file with the SHA-256 " + c.pdfSum()[:16]
	}
	for _, v := range c.variables {
		all["--variable "+v.Name] = v.Value
	}
	return all
}

// run returns the run of the journal that has not ended, or nil.
func (r *csvRun) run() *journal.Run {
	if r.b.journal == nil {
		return nil
	}
	return r.b.journal.Run()
}

// check refuses what would mail people twice: other settings than those of the run that has not ended, and a run with another journal
// for some of the same people.
func (r *csvRun) check() error {
	sent, unknown, err := r.count()
	if err != nil {
		return err
	}
	if run := r.run(); run != nil {
		differ := differences(run.Settings, r.settings)
		r.replaces = r.b.flags.newRun || len(differ) > 0 && sent+unknown == 0
		switch {
		case r.b.flags.newRun:
			fmt.Fprintf(r.stderr, "the run of %s has not ended and is abandoned: it has sent %s\n", cli.Time(run.At), cli.Count(sent, "line", "lines"))
		case len(differ) > 0 && !r.replaces:
			return cli.UsageError("%s: nothing was sent: the run of %s has not ended, and this one has other settings:\n  %s\n"+
				"That run has sent %s. Its settings go on with it; --new-run abandons it and sends to all; another --journal keeps both.",
				r.name, cli.Time(run.At), strings.Join(differ, "\n  "), cli.Count(sent, "line", "lines"))
		}
	}
	return r.checkOthers()
}

// count returns how many lines the journal has as sent, and how many as unknown.
func (r *csvRun) count() (sent, unknown int, err error) {
	if r.b.journal == nil {
		return 0, 0, nil
	}
	for _, e := range r.b.journal.Entries() {
		switch {
		case e.Who == "":
			return 0, 0, fmt.Errorf("journal %s: is of an earlier version of the program or of another command, and does not say to whom it sent: look there, then name another one with --journal", r.path)
		case e.State == journal.Done:
			sent++
		case e.State.Open():
			unknown++
		}
	}
	return sent, unknown, nil
}

// differences names the settings that differ.
func differences(old, new map[string]string) (texts []string) {
	all := maps.Clone(new)
	maps.Copy(all, old)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if old[name] != new[name] {
			texts = append(texts, cli.Plain(fmt.Sprintf("%s: %s -> %s", name, cmp.Or(old[name], "none"), cmp.Or(new[name], "none"))))
		}
	}
	return texts
}

// others returns the notes of runs with other journals for some of the same people.
func (r *csvRun) others() ([]journal.Note, error) {
	own := ""
	if run := r.run(); run != nil {
		own = run.ID
	}
	return r.notes.Sharing(own, r.who)
}

// checkOthers refuses a run for some of the people of a run that has not ended and has another journal. With --new-run it says what
// that run has sent.
func (r *csvRun) checkOthers() error {
	others, err := r.others()
	if err != nil {
		return err
	}
	for _, o := range others {
		shared := len(slices.DeleteFunc(slices.Clone(o.Who), func(w string) bool { return !r.who[w] }))
		text := fmt.Sprintf("%s of %d also belong to the run of %s, which has not ended, with the journal %s%s",
			cli.Count(shared, "line", "lines"), len(r.b.items), cli.Time(o.At), o.Journal, r.sentBy(o))
		if !r.b.flags.newRun {
			return cli.UsageError("%s: nothing was sent: %s.\nGo on with it with --journal, or say --new-run to abandon it and send to all.", r.name, text)
		}
		fmt.Fprintln(r.stderr, text)
	}
	return nil
}

// sentBy says how many of these people the run of a note has sent to.
func (r *csvRun) sentBy(o journal.Note) string {
	entries, err := o.Entries()
	if err != nil {
		return ", but to whom it has sent is unknown: " + cli.PathCause(err).Error()
	}
	n := 0
	for _, e := range entries {
		if r.who[e.Who] && e.State == journal.Done {
			n++
		}
	}
	return fmt.Sprintf(", and it has sent %d of them", n)
}

// begin begins a run, or goes on with the one that has not ended. It notes it before it looks at the notes again: another process may
// have begun a run since check.
func (r *csvRun) begin() error {
	if old := r.run(); old == nil || r.replaces {
		if old != nil {
			if err := r.notes.Remove(old.ID); err != nil {
				return err
			}
		}
		if err := r.b.journal.Begin(rand.Text(), r.settings); err != nil {
			return err
		}
	}
	run := r.run()
	r.b.intents.run = run.ID
	who := whoOf(r.b.items)
	for _, e := range r.b.journal.Entries() {
		who = append(who, e.Who)
	}
	slices.Sort(who)
	if err := r.notes.Keep(journal.Note{Run: run.ID, At: run.At, Journal: r.path, Who: slices.Compact(who)}); err != nil {
		fmt.Fprintf(r.stderr, "a copy of this file will not be known as one: its run cannot be noted: %s\n", err)
		return nil
	}
	r.noted = true
	if !r.b.flags.newRun {
		if err := r.checkOthers(); err != nil {
			return errors.Join(err, r.notes.Remove(run.ID))
		}
		return nil
	}
	others, err := r.others()
	for _, o := range others { // they are abandoned
		err = errors.Join(err, r.notes.Remove(o.Run))
	}
	return err
}

// ended removes the note of the run.
func (r *csvRun) ended() error {
	if !r.noted {
		return nil
	}
	return r.notes.Remove(r.b.intents.run)
}
