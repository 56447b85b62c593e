package pdf

import (
	"bytes"
	"strings"
)

// contentScanner counts the states and paths that the content of a page leaves open.
type contentScanner struct {
	scanner
	saved, marked, lists int
	text, path           bool
	problem              string
}

// closing returns the operators that end the path, the marked content and the saved graphics states
// that the content of a page leaves open. Without these operators, the marks would be moved, scaled
// or hidden. problem is why no operators can end them: the content ends inside of something else,
// or viewers do not agree on what is open.
func closing(content []byte) (operators, problem string) {
	c := contentScanner{scanner: scanner{data: content}}
	for c.skip(); c.at < len(c.data) && c.problem == ""; c.skip() {
		c.next()
	}
	switch {
	case c.problem != "":
	case c.text:
		c.problem = "ends inside a text"
	case c.lists > 0:
		c.problem = "ends inside a list"
	case c.path:
		operators = "n "
	}
	return operators + strings.Repeat("EMC ", c.marked) + strings.Repeat("Q ", max(c.saved, 0)), c.problem
}

// next reads a token, and executes it if it is an operator.
func (c *contentScanner) next() {
	switch first := c.data[c.at]; {
	case c.ahead("<<"), c.ahead("["):
		c.lists++
	case c.ahead(">>"), c.ahead("]"):
		c.lists = max(c.lists-1, 0)
	case first == '(' || first == '<' || first == '/':
		if c.scalar(); c.bad {
			c.problem = "has a string without an end"
		}
	case !isRegular(first):
		c.at++
	default:
		if word := c.word(); c.lists == 0 {
			c.execute(word)
		}
	}
}

func (c *contentScanner) execute(word string) {
	switch word {
	case "q":
		c.saved++
	case "Q":
		if c.saved--; c.saved < 0 {
			c.problem = "restores a state of graphics that it did not save"
		}
	case "BT", "ET":
		c.text = word == "BT"
	case "BMC", "BDC":
		c.marked++
	case "EMC":
		c.marked = max(c.marked-1, 0)
	case "m", "l", "c", "v", "y", "re", "h":
		c.path = true
	case "S", "s", "f", "F", "f*", "B", "B*", "b", "b*", "n":
		c.path = false
	case "ID":
		c.picture()
	default:
		if strings.ContainsAny(word, "qQ") {
			c.problem = "has an operator that viewers split in different ways"
		}
	}
}

// picture skips the data of an inline image, which may contain any bytes. Like viewers, it ends the
// image at the first EI that is followed by text.
func (c *contentScanner) picture() {
	isBinary := func(r rune) bool { return r > '~' || r < ' ' && !isSpace(byte(r)) }
	for at := c.at; ; {
		next := bytes.Index(c.data[at:], []byte("EI"))
		if next < 0 {
			c.problem = "ends inside a picture"
			return
		}
		at += next + len("EI")
		after := c.data[at:min(at+15, len(c.data))]
		if isSpace(c.data[at-3]) && (len(after) == 0 || isSpace(after[0])) && !bytes.ContainsFunc(after, isBinary) {
			c.at = at
			return
		}
	}
}
