package webhook

import (
	"slices"
	"strconv"
	"time"
)

// signerList reads the array signers.
func (d *decoder) signerList(key string) {
	d.signers.begin(d.left())
	if d.openList(key) {
		for i := 0; d.scan.More(i == 0); i++ {
			d.cur.index = i
			d.signer(d.signers.add(d.left()))
		}
		d.closeList()
	}
	d.cur.signers = d.signers.end()
}

// answerList reads the array response.
func (d *decoder) answerList(key string) {
	d.answers.begin(d.left())
	if d.openList(key) {
		for i := 0; d.scan.More(i == 0); i++ {
			d.cur.index = i
			d.answer(d.answers.add(d.left()))
		}
		d.closeList()
	}
	d.cur.answers = d.answers.end()
}

// openList starts an array of objects. For any other value it skips the value and returns false.
func (d *decoder) openList(key string) bool {
	switch d.scan.Next() {
	case '[':
		d.scan.Open()
		d.cur.parent = key
		return true
	case 'n':
		d.scan.Scalar()
	default:
		d.scan.Skip()
		d.misfit(key, wantList)
	}
	return false
}

func (d *decoder) closeList() { d.cur.parent, d.cur.index = "", -1 }

// openObject starts an object. For any other value it skips the value and returns false; null is not a misfit.
func (d *decoder) openObject(key string) bool {
	switch d.scan.Next() {
	case '{':
		d.scan.Open()
		return true
	case 'n':
		d.scan.Scalar()
	default:
		d.scan.Skip()
		d.misfit(key, wantObject)
	}
	return false
}

// fit records whether the value of a member of a nested object has the right type. The last value
// of a key counts.
func (d *decoder) fit(key, want string, fits bool) {
	if !fits || len(d.cur.misfits) > 0 { // the rest is in a function of its own, so that fit is inlined
		d.refit(key, want, fits)
	}
}

func (d *decoder) refit(key, want string, fits bool) {
	e := &d.cur
	e.misfits = slices.DeleteFunc(e.misfits, func(m misfit) bool {
		return m.member == e.reading && m.index == e.index && m.key == key
	})
	if !fits {
		d.misfit(key, want)
	}
}

// actor reads the signer under viewedBy or signedBy, with the time under atKey.
func (d *decoder) actor(key, atKey string, s *Signer, at *time.Time) {
	*s, *at = Signer{}, time.Time{}
	if !d.openObject(key) {
		return
	}
	d.cur.parent = key
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		if key := d.content(t); key == atKey {
			d.fit(key, wantTime, d.instant(at))
		} else {
			d.signerMember(key, s)
		}
	}
	d.cur.parent = ""
	d.noteKind()
}

// signer reads one signer of a list into a zero s.
func (d *decoder) signer(s *Signer) {
	if !d.openObject("") {
		return
	}
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		d.signerMember(d.content(t), s)
	}
	d.noteKind()
}

func (d *decoder) signerMember(key string, s *Signer) {
	switch key {
	case "email":
		d.fit(key, wantString, d.str(&s.Email))
	case "name":
		d.fit(key, wantString, d.str(&s.Name))
	case "status":
		d.fit(key, wantString, d.str((*string)(&s.Status)))
	case "signerIp":
		d.cur.keyOfPDF = d.cur.keyOfPDF || d.scan.Next() != 'n'
		d.fit(key, wantString, d.str(&s.IP))
	case "roleTitle":
		d.cur.keyOfTemplate = d.cur.keyOfTemplate || d.scan.Next() != 'n'
		d.fit(key, wantString, d.str(&s.RoleTitle))
	case "signerId":
		d.cur.keyOfTemplate = d.cur.keyOfTemplate || d.scan.Next() != 'n'
		d.fit(key, wantString, d.str(&s.ID))
	case "hasDeclined":
		d.fit(key, wantBoolean, d.boolean(&s.HasDeclined))
	case "signingOrderNo":
		d.fit(key, wantInteger, d.integer(&s.SigningOrderNo))
	default:
		d.scan.Skip()
	}
}

// noteKind notes the kind of the signer that was read. A published event of a template has an empty
// signerIp in each signer, so a key of templates decides.
func (d *decoder) noteKind() {
	e := &d.cur
	switch {
	case e.keyOfTemplate:
		e.ofTemplate |= e.reading
	case e.keyOfPDF:
		e.ofPDF |= e.reading
	}
	e.keyOfTemplate, e.keyOfPDF = false, false
}

// answer reads one question of a form with its answer into a zero a.
func (d *decoder) answer(a *FormAnswer) {
	if !d.openObject("") {
		return
	}
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		switch key := d.content(t); key {
		case "id":
			d.fit(key, wantString, d.str(&a.ID))
		case "question":
			d.fit(key, wantString, d.str(&a.Question))
		case "answer":
			d.loose(&a.Answer)
		default:
			d.scan.Skip()
		}
	}
}

// path names a value for a FieldError: the member, the index in its list, and the key.
func (e *element) path(key string) string {
	path := e.parent
	if e.index >= 0 {
		path += "[" + strconv.Itoa(e.index) + "]"
	}
	if path != "" && key != "" {
		path += "."
	}
	return path + key
}

// chunk builds lists that share allocations, because most events have few signers and a payload has
// many events. For a batch of 20 KB it makes 23 allocations instead of 78, which one append per
// list would make. It takes two thirds of the time.
type chunk[T any] struct {
	buf   []T
	start int // index where the list under construction starts
	seen  int // number of items in all lists
	first int // bytes of the payload that remained when the first list began
}

const chunkMin, chunkMax = 4, 64

// begin starts a new list; left is the number of bytes of the payload that remain. A list that was
// not taken with end is lost.
func (c *chunk[T]) begin(left int) {
	if c.seen == 0 {
		c.first = left
	}
	c.start = len(c.buf)
}

// add appends a zero T to the list and returns a pointer to it. The pointer is valid until the next
// add.
func (c *chunk[T]) add(left int) *T {
	if len(c.buf) == cap(c.buf) {
		c.grow(left)
	}
	c.seen++
	c.buf = c.buf[:len(c.buf)+1]
	return &c.buf[len(c.buf)-1]
}

// grow moves the list to a new allocation. It extrapolates the number of items per byte to the end
// of the payload and adds an eighth. It allocates at most chunkMax items or sixteen times the list,
// so a wrong estimate costs no more. Doubling instead would take half as much memory again for a
// form of 50 KB.
func (c *chunk[T]) grow(left int) {
	list := c.buf[c.start:]
	more := int64(c.seen)*int64(left)/int64(max(c.first-left, 1))*9/8 + 1 // exceeds an int of 32 bits
	size := max(chunkMin, int(min(int64(len(list))+more, int64(max(chunkMax, 16*len(list))))))
	c.buf = append(make([]T, 0, size), list...)
	c.start = 0
}

// end returns the list, or nil if it is empty. Appending to the list does not overwrite its
// neighbours.
func (c *chunk[T]) end() []T {
	if c.start == len(c.buf) {
		return nil
	}
	return c.buf[c.start:len(c.buf):len(c.buf)]
}
