package webhook

import (
	"math/bits"
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

// property is a known member of a nested object, and what its value should be.
type property struct{ key, want string }

// properties has a bit for each member of a nested object that does not fit. The last value of a key counts, so this is
// known only when the object ends.
type properties uint16

func (p *properties) set(i int, fits bool) {
	if !fits {
		*p |= 1 << i
	} else if *p != 0 {
		*p &^= 1 << i
	}
}

// misfitsOf notes the misfits among an object's properties.
func (d *decoder) misfitsOf(bad properties, known []property) {
	for ; bad != 0; bad &= bad - 1 {
		p := known[bits.TrailingZeros16(uint16(bad))]
		d.misfit(p.key, p.want)
	}
}

// The properties of a signer. A viewedBy or signedBy has actorTime too.
const (
	signerEmail = iota
	signerName
	signerStatus
	signerIP
	signerRole
	signerID
	signerDeclined
	signerOrder
	actorTime
)

var signerProperties = []property{
	signerEmail:    {"email", wantString},
	signerName:     {"name", wantString},
	signerStatus:   {"status", wantString},
	signerIP:       {"signerIp", wantString},
	signerRole:     {"roleTitle", wantString},
	signerID:       {"signerId", wantString},
	signerDeclined: {"hasDeclined", wantBoolean},
	signerOrder:    {"signingOrderNo", wantInteger},
}

// actor reads the signer of a viewedBy or signedBy with the time in atKey.
func (d *decoder) actor(key, atKey string, s *Signer, at *time.Time) {
	*s, *at = Signer{}, time.Time{}
	if !d.openObject(key) {
		return
	}
	d.cur.parent = key
	var bad properties
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		if key := d.content(t); key == atKey {
			bad.set(actorTime, d.instant(at))
		} else {
			d.signerMember(key, s, &bad)
		}
	}
	d.misfitsOf(bad&^(1<<actorTime), signerProperties)
	if bad&(1<<actorTime) != 0 {
		d.misfit(atKey, wantTime)
	}
	d.cur.parent = ""
}

// signer reads one signer of a list into a zero s.
func (d *decoder) signer(s *Signer) {
	if !d.openObject("") {
		return
	}
	var bad properties
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		d.signerMember(d.content(t), s, &bad)
	}
	d.misfitsOf(bad, signerProperties)
}

func (d *decoder) signerMember(key string, s *Signer, bad *properties) {
	switch key {
	case "email":
		bad.set(signerEmail, d.str(&s.Email))
	case "name":
		bad.set(signerName, d.str(&s.Name))
	case "status":
		bad.set(signerStatus, d.str((*string)(&s.Status)))
	case "signerIp":
		bad.set(signerIP, d.str(&s.SignerIP))
	case "roleTitle":
		bad.set(signerRole, d.str(&s.RoleTitle))
	case "signerId":
		bad.set(signerID, d.str(&s.SignerID))
	case "hasDeclined":
		bad.set(signerDeclined, d.boolean(&s.HasDeclined))
	case "signingOrderNo":
		bad.set(signerOrder, d.integer(&s.SigningOrderNo))
	default:
		d.scan.Skip()
	}
}

var answerProperties = []property{{"id", wantString}, {"question", wantString}}

// answer reads one question of a form with its answer into a zero a.
func (d *decoder) answer(a *Answer) {
	if !d.openObject("") {
		return
	}
	var bad properties
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		switch d.content(t) {
		case "id":
			bad.set(0, d.str(&a.ID))
		case "question":
			bad.set(1, d.str(&a.Question))
		case "answer":
			d.loose(&a.Answer)
		default:
			d.scan.Skip()
		}
	}
	d.misfitsOf(bad, answerProperties)
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
