package webhook

import (
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

// openList starts an array of objects. It reports false, having read the value, when there is none.
func (d *decoder) openList(key string) bool {
	switch d.scan.Next() {
	case '[':
		d.scan.Open()
		d.cur.parent = key
		return true
	case 'n':
		d.scan.Scalar()
	default:
		d.misfit(key, "an array of objects")
	}
	return false
}

func (d *decoder) closeList() { d.cur.parent, d.cur.index = "", -1 }

// openObject starts an object. It reports false, having read the value, when there is none; null is fine.
func (d *decoder) openObject(key string) bool {
	switch d.scan.Next() {
	case '{':
		d.scan.Open()
		return true
	case 'n':
		d.scan.Scalar()
	default:
		d.misfit(key, "an object")
	}
	return false
}

// actor reads the signer of a viewedBy or signedBy with the time in atKey.
func (d *decoder) actor(key, atKey string, s *Signer, at *time.Time) {
	*s, *at = Signer{}, time.Time{}
	if !d.openObject(key) {
		return
	}
	d.cur.parent = key
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		if key := d.content(t); key == atKey {
			d.instant(key, at)
		} else {
			d.signerMember(key, s)
		}
	}
	d.cur.parent = ""
}

// signer reads one signer of a list into a zero s.
func (d *decoder) signer(s *Signer) {
	if !d.openObject("") {
		return
	}
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		d.signerMember(d.content(t), s)
	}
}

func (d *decoder) signerMember(key string, s *Signer) {
	switch key {
	case "email":
		d.str(key, &s.Email)
	case "name":
		d.str(key, &s.Name)
	case "status":
		d.str(key, (*string)(&s.Status))
	case "signerIp":
		d.str(key, &s.SignerIP)
	case "roleTitle":
		d.str(key, &s.RoleTitle)
	case "signerId":
		d.str(key, &s.SignerID)
	case "hasDeclined":
		d.boolean(key, &s.HasDeclined)
	case "signingOrderNo":
		d.integer(key, &s.SigningOrderNo)
	default:
		d.scan.Skip()
	}
}

// answer reads one question of a form with its answer into a zero a.
func (d *decoder) answer(a *Answer) {
	if !d.openObject("") {
		return
	}
	for t, more := d.scan.Member(true); more; t, more = d.scan.Member(false) {
		switch key := d.content(t); key {
		case "id":
			d.str(key, &a.ID)
		case "question":
			d.str(key, &a.Question)
		case "answer":
			d.loose(&a.Answer)
		default:
			d.scan.Skip()
		}
	}
}

// path names a value for a FieldError: the member that is being read, the place in its list, and the key in there.
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
