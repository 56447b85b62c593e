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

// The headers of a delivery, in the form that [http.Header] keeps them.
const (
	SignatureHeader = "X-Signature" // HMAC-SHA256 of timestamp + "." + body, 64 lower-case hexadecimal digits
	TimestampHeader = "X-Timestamp" // its format is not documented by the service; see VerifierOptions.ParseTimestamp
)

// Sign returns the two headers with which the service would deliver body at that time: X-Timestamp in Unix seconds and
// X-Signature over exactly these bytes. It is meant for tests and for your own senders; package webhooktest builds
// whole requests. In FIPS 140-only mode it panics on a secret of fewer than 14 bytes, as crypto/hmac does.
//
// A timestamp before September 2001, as in a bubble of testing/synctest, is in RFC 3339 ending in Z, because its Unix
// seconds have fewer than the ten digits that a [Verifier] expects.
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

// mac is a keyed hash with memory for its input and output: what goes through the hash.Hash interface would otherwise
// be allocated each time.
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

// macPool hands out keyed hashes of one secret, so that the key schedule is computed once per processor and not once
// per delivery. The secret is kept in a closure, where neither fmt nor reflect can reach it.
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

// hexValues maps a lower-case hexadecimal digit to its value and every other byte to 0xff. It is a table because the
// processor cannot predict branches on the digits of a hash.
var hexValues = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		table[c] = byte(i)
	}
	return table
}()

// decodeSignature reads 64 lower-case hexadecimal digits into sig and reports whether s is that.
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

// checkSecret returns the reason why a secret cannot be the one that the service shows, or nil.
func checkSecret(secret string) error {
	switch {
	case secret == "":
		return errors.New("is empty: check the variable or file that it comes from")
	case strings.Contains(secret, "\ufeff"):
		return errors.New("holds a byte order mark: save the file that it comes from without one, or copy the secret anew")
	case strings.ContainsFunc(secret, isInvisible):
		return errors.New("holds an invisible character, such as a zero-width space: copy the secret anew")
	case strings.TrimSpace(secret) != secret:
		return errors.New("begins or ends with white space, most likely a newline: trim it where it is read")
	}
	return checkSecretLength(len(secret))
}

// isInvisible reports whether r is a format character: byte order mark, zero-width space, joiners, direction marks.
func isInvisible(r rune) bool { return unicode.Is(unicode.Cf, r) }

// checkSecretLength refuses keys that crypto/hmac would panic on.
func checkSecretLength(n int) error {
	if n < 14 && fips140.Enforced() {
		return errors.New("has fewer than 14 bytes, too few for FIPS 140-only mode: have the service make a longer one")
	}
	return nil
}
