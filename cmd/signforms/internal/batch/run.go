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
	b        *Batch
	name     string // of the file
	path     string // of the journal
	settings map[string]string
	who      map[string]bool // the people of all lines
	notes    journal.Notes
	replaces bool // the run of the journal that has not ended is abandoned
	noted    bool // there is a note of this run
	stderr   io.Writer
}

// GoOn makes the batch a run that sends to the lines of the file with this name. It goes on with the run of the journal at path that
// has not ended, if there is one. It refuses what would mail people twice: other settings than those of that run, and a run with
// another journal for some of the same people. Settings are the names and values of what all lines share.
func (b *Batch) GoOn(name, path string, settings map[string]string, notes journal.Notes, stderr io.Writer) error {
	r := &mailingRun{b: b, name: name, path: path, settings: settings, who: map[string]bool{}, notes: notes, stderr: stderr}
	for _, it := range b.Items {
		r.who[it.who] = true
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
		differ := differences(run.Settings, r.settings)
		r.replaces = r.b.Flags.NewRun || len(differ) > 0 && sent+unknown == 0
		switch {
		case r.b.Flags.NewRun:
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
func (r *mailingRun) count() (sent, unknown int, err error) {
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
func (r *mailingRun) others() ([]journal.Note, error) {
	own := ""
	if run := r.run(); run != nil {
		own = run.ID
	}
	return r.notes.Sharing(own, r.who)
}

// checkOthers refuses a run for some of the people of a run that has not ended and has another journal. With --new-run it says what
// that run has sent.
func (r *mailingRun) checkOthers() error {
	others, err := r.others()
	if err != nil {
		return err
	}
	for _, o := range others {
		shared := len(slices.DeleteFunc(slices.Clone(o.Who), func(w string) bool { return !r.who[w] }))
		text := fmt.Sprintf("%s of %d also belong to the run of %s, which has not ended, with the journal %s%s",
			cli.Count(shared, "line", "lines"), len(r.b.Items), cli.Time(o.At), o.Journal, r.sentBy(o))
		if !r.b.Flags.NewRun {
			return cli.UsageError("%s: nothing was sent: %s.\nGo on with it with --journal, or say --new-run to abandon it and send to all.", r.name, text)
		}
		fmt.Fprintln(r.stderr, text)
	}
	return nil
}

// sentBy says how many of these people the run of a note has sent to.
func (r *mailingRun) sentBy(o journal.Note) string {
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
func (r *mailingRun) begin() error {
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
	who := whoOf(r.b.Items)
	for _, e := range r.b.journal.Entries() {
		who = append(who, e.Who)
	}
	slices.Sort(who)
	if err := r.notes.Keep(journal.Note{Run: run.ID, At: run.At, Journal: r.path, Who: slices.Compact(who)}); err != nil {
		fmt.Fprintf(r.stderr, "a copy of this file will not be known as one: its run cannot be noted: %s\n", err)
		return nil
	}
	r.noted = true
	if !r.b.Flags.NewRun {
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
func (r *mailingRun) ended() error {
	if !r.noted {
		return nil
	}
	return r.notes.Remove(r.b.intents.run)
}
