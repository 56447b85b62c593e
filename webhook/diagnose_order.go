package webhook

import "github.com/signforms/signforms-go/internal/jsonscan"

// orderMembers is how many members an object must have for its order to mean something: of objects with five, one in 120
// is in order by accident. The service's events have six or more.
const orderMembers = 5

// inOrder reports whether the keys of every object in body ascend and one object is large enough for that to mean
// something. Programs that decode JSON into a map and print the map leave keys so.
func inOrder(body []byte) bool {
	o := orderSurvey{body: body, scan: jsonscan.New(body)}
	o.value()
	return o.scan.End() && !o.disorder && o.members >= orderMembers
}

type orderSurvey struct {
	body     []byte
	scan     jsonscan.Scanner
	members  int  // of the largest object
	disorder bool // an object's keys do not ascend
}

func (o *orderSurvey) value() {
	switch o.scan.Next() {
	case '{':
		o.scan.Open()
		members, last := 0, ""
		for t, more := o.scan.Member(true); more; t, more = o.scan.Member(false) {
			key := string(jsonscan.Unescape(nil, o.body[t.Start:t.End]))
			o.disorder = o.disorder || members > 0 && key <= last
			members, last = members+1, key
			o.value()
		}
		o.members = max(o.members, members)
	case '[':
		o.scan.Open()
		for first := true; o.scan.More(first); first = false {
			o.value()
		}
	default:
		o.scan.Skip()
	}
}
