package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/examples/internal/target"
)

// plan is a file of lines "todo <reference>", then "begun" before each reminder and "done" after it. A reminder that has begun but
// is not done was under way when the process ended. It is unknown whether its mail was sent, so it is not repeated.
type plan struct {
	file    *os.File
	changed time.Time // when an earlier process last changed the file
	todo    []signforms.DocumentRef
	begun   []signforms.DocumentRef // begun, but not done
}

// newPlan writes a new file. The file must not exist, and is on disk before anything is sent.
func newPlan(path string, refs []signforms.DocumentRef) (*plan, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	p := &plan{file: file, todo: refs}
	for _, ref := range refs {
		if _, err := fmt.Fprintf(file, "todo %s\n", ref); err != nil {
			return nil, errors.Join(err, file.Close())
		}
	}
	return p, errors.Join(file.Sync(), syncFolder(path))
}

// syncFolder makes the name of a new file survive a loss of power. Windows cannot sync a folder.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// readPlan reads the plan of an earlier process.
func readPlan(path string) (*plan, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	p := &plan{file: file}
	if err := p.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return p, nil
}

func (p *plan) read() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.changed = info.ModTime()
	lines := bufio.NewScanner(p.file)
	for lines.Scan() {
		word, text, _ := strings.Cut(lines.Text(), " ")
		ref, err := signforms.ParseDocumentRef(text)
		if err != nil {
			return err
		}
		same := func(r signforms.DocumentRef) bool { return r == ref }
		switch word {
		case "todo":
			p.todo = append(p.todo, ref)
		case "begun":
			p.todo = slices.DeleteFunc(p.todo, same)
			p.begun = append(p.begun, ref)
		case "done":
			p.begun = slices.DeleteFunc(p.begun, same)
		}
	}
	return lines.Err()
}

// note adds a line and waits until it is on disk.
func (p *plan) note(word string, ref signforms.DocumentRef) error {
	if _, err := fmt.Fprintf(p.file, "%s %s\n", word, ref); err != nil {
		return err
	}
	return p.file.Sync()
}

// work reminds for one document after the other. When all are done it removes the file.
func (p *plan) work(ctx context.Context, service *target.Service) error {
	reminded, unknown := 0, len(p.begun)
	for _, ref := range p.begun {
		fmt.Printf("%s: may have been reminded; look at its mail\n", ref)
	}
	for _, ref := range p.todo {
		if err := p.note("begun", ref); err != nil {
			return err
		}
		err := remind(ctx, service, ref)
		switch {
		case err == nil:
			reminded++
		case errors.Is(err, signforms.ErrOutcomeUnknown):
			unknown++
		case errors.Is(err, signforms.ErrRefused): // signed meanwhile
		default:
			return errors.Join(err, p.note("done", ref), p.note("todo", ref)) // nothing was sent
		}
		if err := p.note("done", ref); err != nil {
			return err
		}
	}
	fmt.Printf("%d reminded, %d unknown\n", reminded, unknown)
	return os.Remove(p.file.Name())
}

// remind sends a reminder. It waits as long as the budget requires.
func remind(ctx context.Context, service *target.Service, ref signforms.DocumentRef) error {
	for {
		_, err := service.Client.Documents.Remind(ctx, ref)
		limited, ok := errors.AsType[*signforms.Error](err)
		if !ok || !errors.Is(err, signforms.ErrRateLimited) {
			return err
		}
		if err := wait(ctx, service, limited.RetryAfter); err != nil {
			return err
		}
	}
}
