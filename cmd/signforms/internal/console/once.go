package console

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// onceName is the name of the input that holds a form's key.
const onceName = "once"

// maxDeeds is how many forms a console remembers.
const maxDeeds = 1000

// once returns an input with a new key. A form that is sent again as it is, after its answer was lost, has the same key.
func once() template.HTML {
	return template.HTML(`<input type="hidden" name="` + onceName + `" value="` + rand.Text() + `">`)
}

// deeds are what forms did since the program was started, the newest [maxDeeds]. They are safe for concurrent use.
type deeds struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]*deed
	order [][sha256.Size]byte // oldest first
}

// deed is what a form did. next is for those that wait for over; it is empty if the form was refused.
type deed struct {
	over chan struct{}
	next string
}

// deedOf identifies a form by its key and by what was entered: after a change the form is another one. There is none without a key.
func deedOf(r *http.Request) (id [sha256.Size]byte, ok bool) {
	if r.PostFormValue(onceName) == "" { // reads the form
		return id, false
	}
	form := sha256.New()
	fmt.Fprintf(form, "%q %q", r.URL.Path, r.PostForm.Encode())
	if r.MultipartForm != nil {
		for _, field := range slices.Sorted(maps.Keys(r.MultipartForm.File)) {
			for _, header := range r.MultipartForm.File[field] {
				fmt.Fprintf(form, " %q %q ", field, header.Filename)
				file, err := header.Open()
				if err != nil {
					return id, false
				}
				_, err = io.Copy(form, file)
				if file.Close(); err != nil {
					return id, false
				}
			}
		}
	}
	return [sha256.Size]byte(form.Sum(nil)), true
}

// do does what a form asks for, and returns the address of the next page. If the form was sent before, it waits for that to end, and
// does it only if it was refused then.
func (d *deeds) do(id [sha256.Size]byte, act func() (string, error)) (next string, again bool, err error) {
	mine, first := d.claim(id)
	for first != nil {
		if <-first.over; first.next != "" {
			return first.next, true, nil
		}
		mine, first = d.claim(id)
	}
	defer close(mine.over)
	defer func() {
		if mine.next == "" {
			d.forget(id, mine)
		}
	}()
	if next, err = act(); err == nil {
		mine.next = next
	}
	return next, false, err
}

// claim returns a new deed, or the one that there is.
func (d *deeds) claim(id [sha256.Size]byte) (mine, first *deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if first = d.known[id]; first != nil {
		return nil, first
	}
	if d.known == nil {
		d.known = map[[sha256.Size]byte]*deed{}
	}
	if len(d.order) >= maxDeeds {
		delete(d.known, d.order[0])
		d.order = d.order[1:]
	}
	mine = &deed{over: make(chan struct{})}
	d.known[id], d.order = mine, append(d.order, id)
	return mine, nil
}

func (d *deeds) forget(id [sha256.Size]byte, mine *deed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[id] == mine {
		delete(d.known, id)
		d.order = slices.DeleteFunc(d.order, func(other [sha256.Size]byte) bool { return other == id })
	}
}
