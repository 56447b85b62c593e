package batch

import (
	"cmp"
	"crypto/rand"
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

// mailingRun is a run that sends to the lines of a file: its journal, and this user's notes of runs that have not ended.
type mailingRun struct {
	b         *Batch
	name      string // of the file
	path      string // of the journal
	workspace string
	settings  map[string]string
	who       map[string]bool // the people of all lines but counterparts
	notes     journal.Notes
	replaces  bool // the run of the journal that has not ended is abandoned
	noted     bool // there is a note of this run
	stderr    io.Writer
}

// GoOn makes the batch a run that sends to the lines of the file with this name. It goes on with the run of the journal at path that
// has not ended, if there is one. It refuses what would mail people twice: other settings than those of that run, and a run with
// another journal for some of the same people. Settings are the names and values of what all lines share. An empty workspace is that
// of the API key.
func (b *Batch) GoOn(name, path, workspace string, settings map[string]string, notes journal.Notes, stderr io.Writer) error {
	r := &mailingRun{b: b, name: name, path: path, workspace: workspace, settings: settings, who: map[string]bool{}, notes: notes, stderr: stderr}
	for _, it := range b.Items {
		for _, w := range it.own {
			r.who[w] = true
		}
	}
	if abs, err := filepath.Abs(path); err == nil {
		r.path = abs
	}
	b.mailing = r
	return r.check()
}

// run returns the run of the journal that has not ended, or nil.
func (r *mailingRun) run() *journal.Run {
	if r.b.journal == nil {
		return nil
	}
	return r.b.journal.Run()
}

func (r *mailingRun) check() error {
	sent, unknown, err := r.count()
	if err != nil {
		return err
	}
	if run := r.run(); run != nil {
		if !run.Left.IsZero() && !r.b.Flags.NewRun {
			return cli.UsageError("%s: nothing was sent: the run of %s had sent %s when another with --new-run took its place at %s.\n"+
				"That one may have sent the rest; --new-run sends to all.", r.name, cli.Time(run.At), cli.Count(sent, "line", "lines"), cli.Time(run.Left))
		}
		differ := differences(run.Settings, r.settings)
		r.replaces = r.b.Flags.NewRun || len(differ) > 0 && sent+unknown == 0
		switch {
		case r.b.Flags.NewRun:
			fmt.Fprintf(r.stderr, "the run of %s has not ended and is abandoned: it has sent %s\n", cli.Time(run.At), cli.Count(sent, "line", "lines"))
		case len(differ) > 0 && !r.replaces:
			return cli.UsageError("%s: nothing was sent: the run of %s has not ended, and this one has other settings:\n  %s\n"+
				"That run has sent %s. Its settings go on with it; --new-run abandons it and sends to all.",
				r.name, cli.Time(run.At), strings.Join(differ, "\n  "), cli.Count(sent, "line", "lines"))
		}
	}
	return r.checkOthers(r.b.Flags.NewRun)
}

// count returns how many lines the journal has as sent, and how many as unknown.
func (r *mailingRun) count() (sent, unknown int, err error) {
	if r.b.journal == nil {
		return 0, 0, nil
	}
	for _, e := range r.b.journal.Entries() {
		switch {
		case len(e.Who) == 0:
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
func (r *mailingRun) others() ([]journal.Note, error) {
	own := ""
	if run := r.run(); run != nil {
		own = run.ID
	}
	return r.notes.Sharing(own, r.workspace, r.who)
}

// checkOthers refuses a run for some of the people of a run that has not ended and has another journal. If they are to be abandoned, it
// only says what they have sent.
func (r *mailingRun) checkOthers(abandon bool) error {
	others, err := r.others()
	if err != nil {
		return err
	}
	for _, o := range others {
		of := map[string]bool{}
		for _, w := range o.Who {
			of[w] = true
		}
		entries, lost := r.entries(o)
		shared, all := r.lines(of), len(r.b.Items)
		text := fmt.Sprintf("%s people with the run of %s, which has not ended, with the journal %s%s.\nThe lines: %s.",
			cli.Count(len(shared), fmt.Sprintf("line of %d shares", all), fmt.Sprintf("lines of %d share", all)),
			cli.Time(o.At), o.Journal, r.sentBy(entries, lost), Named(shared))
		switch {
		case !abandon && lost != nil:
			return cli.UsageError("%s: nothing was sent: %s\nSay --new-run to abandon it and send to all.", r.name, text)
		case !abandon:
			return cli.UsageError("%s: nothing was sent: %s\nGo on with it with --journal, or say --new-run to abandon it and send to all.", r.name, text)
		}
		if r.b.Flags.DryRun { // else abandonOthers does, when no process is about to settle them
			if err := r.checkUnknown(o, entries); err != nil {
				return err
			}
		}
		fmt.Fprintln(r.stderr, text)
	}
	return nil
}

// entries returns the entries of the run of a note. The error says why they are not known.
func (r *mailingRun) entries(o journal.Note) ([]journal.Entry, error) {
	entries, err := o.Entries()
	if err != nil {
		err = cli.PathCause(err)
	}
	return entries, err
}

// checkUnknown refuses to abandon a run with unknown outcomes: only its own journal holds back whom it may have mailed.
func (r *mailingRun) checkUnknown(o journal.Note, entries []journal.Entry) error {
	unknown := 0
	for _, e := range entries {
		if e.State.Open() {
			unknown++
		}
	}
	if unknown == 0 {
		return nil
	}
	return cli.UsageError("%s: nothing was sent: the run with the journal %s is not abandoned, because whether %s of it %s sent is unknown.\n"+
		"Decide that with its --journal and --resolve first. With that --journal, --new-run holds them back.",
		r.name, o.Journal, cli.Count(unknown, "line", "lines"), map[bool]string{true: "was", false: "were"}[unknown == 1])
}

// lines names the lines for some of these people.
func (r *mailingRun) lines(who map[string]bool) (titles []string) {
	for _, it := range r.b.Items {
		if slices.ContainsFunc(it.own, func(w string) bool { return who[w] }) {
			titles = append(titles, it.title())
		}
	}
	return titles
}

// sentBy says for how many of these lines another run has sent to somebody, or may have.
func (r *mailingRun) sentBy(entries []journal.Entry, lost error) string {
	if lost != nil {
		return ", but to whom it has sent is unknown: " + lost.Error()
	}
	sent, unknown := map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		for _, w := range e.Who {
			sent[w] = sent[w] || e.State == journal.Done
			unknown[w] = unknown[w] || e.State.Open()
		}
	}
	text := fmt.Sprintf(", and it has sent to people of %d of them", len(r.lines(sent)))
	if n := len(r.lines(unknown)); n > 0 {
		text += fmt.Sprintf(" and may have sent to those of %d", n)
	}
	return text
}

// begin begins a run, or goes on with the one that has not ended. It notes it before it looks at the notes again: another process may
// have begun a run since check.
func (r *mailingRun) begin() error {
	if r.b.Flags.NewRun {
		if err := r.abandonOthers(); err != nil {
			return err
		}
	}
	old := r.run()
	fresh := old == nil || r.replaces
	if fresh {
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
	who := whoOf(r.b.Items)
	for _, e := range r.b.journal.Entries() {
		for _, w := range e.Who {
			who[w] = true
		}
	}
	note := journal.Note{Run: run.ID, At: run.At, Journal: r.path, Workspace: r.workspace, Who: slices.Sorted(maps.Keys(who))}
	if err := r.notes.Keep(note); err != nil {
		fmt.Fprintf(r.stderr, "a copy of this file will not be known as one: its run cannot be noted: %s\n", err)
		return nil
	}
	r.noted = true
	err := r.checkOthers(false)
	if err != nil && fresh {
		return errors.Join(err, r.notes.Remove(run.ID))
	}
	return err
}

// abandonOthers takes the place of the runs for some of the same people, unless a process carries one out.
func (r *mailingRun) abandonOthers() error {
	others, err := r.others()
	for _, o := range others {
		if o.In(r.path) { // the run is not in it, so its journal is gone
			err = errors.Join(err, r.notes.Remove(o.Run))
			continue
		}
		check := func(entries []journal.Entry) error { return r.checkUnknown(o, entries) }
		if err = errors.Join(err, r.notes.Abandon(o, check)); errors.Is(err, journal.ErrInUse) {
			return cli.UsageError("%s: nothing was sent: a process carries out the run with the journal %s: wait until it ends, or end it", r.name, o.Journal)
		}
	}
	return err
}

// ended removes the note of the run.
func (r *mailingRun) ended() error {
	if !r.noted {
		return nil
	}
	return r.notes.Remove(r.b.intents.run)
}
