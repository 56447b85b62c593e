package webhook

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// The headers of a delivery, in the canonical form of [http.Header].
const (
	SignatureHeader = "X-Signature" // HMAC-SHA256 of timestamp + "." + body, as 64 lower-case hexadecimal digits
	TimestampHeader = "X-Timestamp" // its format is not documented by the service; see VerifierOptions.ParseTimestamp
)

// Sign returns the two headers with which the service would deliver body at the time timestamp:
// X-Timestamp in Unix seconds, and X-Signature over exactly these bytes. Sign is meant for tests
// and for your own senders; package webhooktest builds whole requests. In FIPS 140-only mode, Sign
// panics on a secret of fewer than 14 bytes, as crypto/hmac does.
//
// A timestamp before September 2001, as in a bubble of testing/synctest, is written in RFC 3339
// ending in Z. Its Unix seconds would have fewer than the ten digits that a [Verifier] requires.
func Sign(secret string, timestamp time.Time, body []byte) http.Header {
	text := strconv.FormatInt(timestamp.Unix(), 10)
	if timestamp.Unix() < 1e9 {
		text = timestamp.UTC().Format(time.RFC3339)
	}
	m := newMAC([]byte(secret))
	sum := m.sum(text, body)
	return http.Header{
		SignatureHeader: {hex.EncodeToString(sum[:])},
		TimestampHeader: {text},
	}
}

type signature [sha256.Size]byte

// mac is a keyed hash with memory for its input and output. Without this memory, each call through
// the interface hash.Hash would allocate.
type mac struct {
	hash   hash.Hash
	prefix [maxTimestamp + 1]byte
	out    signature
}

func newMAC(key []byte) *mac { return &mac{hash: hmac.New(sha256.New, key)} }

// sum signs timestamp + "." + body. The timestamp has at most maxTimestamp bytes.
func (m *mac) sum(timestamp string, body []byte) signature {
	n := copy(m.prefix[:maxTimestamp], timestamp)
	m.prefix[n] = '.'
	m.hash.Reset()
	m.hash.Write(m.prefix[:n+1])
	m.hash.Write(body)
	m.hash.Sum(m.out[:0])
	return m.out
}

// macPool provides keyed hashes of one secret, so that the key schedule is computed once per
// processor and not once per delivery. The secret is kept in a closure, which neither fmt nor
// reflect can reach.
type macPool struct {
	pool sync.Pool
}

func newMACPool(secret string) *macPool {
	key := []byte(secret)
	return &macPool{pool: sync.Pool{New: func() any { return newMAC(key) }}}
}

func (p *macPool) sum(timestamp string, body []byte) signature {
	m := p.pool.Get().(*mac)
	sum := m.sum(timestamp, body)
	p.pool.Put(m)
	return sum
}

// hexValues maps a lower-case hexadecimal digit to its value and every other byte to 0xff. A table
// is faster than comparisons, because the processor cannot predict branches on the digits of a
// hash.
var hexValues = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		table[c] = byte(i)
	}
	return table
}()

// decodeSignature decodes s, 64 lower-case hexadecimal digits, into sig. It reports false if s has
// another form.
func decodeSignature(sig *signature, s string) bool {
	if len(s) != 2*len(sig) {
		return false
	}
	var bad byte
	for i := range sig {
		high, low := hexValues[s[2*i]], hexValues[s[2*i+1]]
		bad |= high | low
		sig[i] = high<<4 | low
	}
	return bad < 0x10
}

// checkSecret returns why a secret cannot be one that the service showed, or nil.
func checkSecret(secret string) error {
	switch {
	case secret == "":
		return errors.New("is empty: check the variable or file that it comes from")
	case strings.Contains(secret, "\ufeff"):
		return errors.New("holds a byte order mark: save the file that it comes from without one, or copy the secret again")
	case strings.ContainsFunc(secret, isInvisible):
		return errors.New("holds an invisible character, such as a zero-width space: copy the secret again")
	case strings.TrimSpace(secret) != secret:
		return errors.New("begins or ends with white space, most likely a newline: trim it where it is read")
	}
	return checkSecretLength(len(secret))
}

// isInvisible reports whether r is a format character: a byte order mark, a zero-width space, a
// joiner or a direction mark.
func isInvisible(r rune) bool { return unicode.Is(unicode.Cf, r) }

// checkSecretLength refuses secrets on which crypto/hmac would panic.
func checkSecretLength(n int) error {
	if n < 14 && fips140.Enforced() {
		return errors.New("has fewer than 14 bytes, too few for FIPS 140-only mode: have the service make a longer one")
	}
	return nil
}
