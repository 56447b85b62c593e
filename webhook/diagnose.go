package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/jsjson"
)

// Diagnose explains, for a person, why a delivery is refused. It tries the mistakes that are known to happen and names the
// one with which the signature would match. The text may have several lines. It contains no secret, signature or part of
// the body.
//
// A match is a hint and nothing else: do not accept a delivery because of it. Diagnose hashes the body a few hundred times and
// does not bound its size: of an untrusted body, give it no more than you would hash so often.
func Diagnose(secrets []string, header http.Header, body []byte) string {
	return diagnose(secrets, header, body, true)
}

// diagnose is Diagnose for a body that may not have been read because the header is wrong.
func diagnose(secrets []string, header http.Header, body []byte, read bool) string {
	// The mistakes that are tried are in keyVariants, prefixVariants, bodyVariants and transportVariants.
	var d diagnosis
	given, ok := d.signature(oneValue(&d, header, SignatureHeader))
	timestamp := oneValue(&d, header, TimestampHeader)
	if timestamp != "" {
		d.timestamp(timestamp)
	}
	switch {
	case len(secrets) == 0:
		d.say("No secret was given.")
	case ok && timestamp != "" && read:
		d.search(secrets, given, timestamp, body)
	}
	return strings.Join(d.lines, "\n")
}

type diagnosis struct{ lines []string }

func (d *diagnosis) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// oneValue returns the value of a header that occurs once, or an empty string.
func oneValue(d *diagnosis, header http.Header, name string) string {
	values := header[name]
	for key, other := range header {
		if key != name && strings.EqualFold(key, name) {
			d.say("The header is under the key %q. Verify looks under %q only: build the map with http.Header.Set.", key, name)
			values = append(values[:len(values):len(values)], other...)
		}
	}
	switch {
	case len(values) == 0:
		d.say("%s is missing. Did a proxy remove it, or does the request come from somewhere else?", name)
	case len(values) > 1:
		d.say("%s is given %d times, and once is expected.", name, len(values))
	default:
		return values[0]
	}
	return ""
}

// signature decodes the signature from any form that is in use for signatures.
func (d *diagnosis) signature(text string) (sig signature, ok bool) {
	if text == "" || decodeSignature(&sig, text) {
		return sig, text != ""
	}
	bare := strings.TrimSpace(text)
	if len(bare) < len(text) {
		d.say("%s has white space around it.", SignatureHeader)
	}
	if after, found := strings.CutPrefix(bare, "sha256="); found {
		d.say("%s begins with sha256=, and is expected without that.", SignatureHeader)
		bare = after
	}
	decoded, err := hex.DecodeString(bare)
	if err == nil && len(decoded) == len(sig) {
		if strings.ToLower(bare) != bare {
			d.say("%s is in upper-case hexadecimal, and lower case is expected.", SignatureHeader)
		}
		return signature(decoded), true
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(bare); err == nil && len(decoded) == len(sig) {
			d.say("%s is in base64, and hexadecimal is expected.", SignatureHeader)
			return signature(decoded), true
		}
	}
	if err == nil {
		d.say("%s has %d hexadecimal digits, an HMAC-SHA256 has %d: is it of another hash, or cut off?", SignatureHeader, len(bare), 2*len(sig))
	} else {
		d.say("%s is neither hexadecimal nor base64 of %d bytes.", SignatureHeader, len(sig))
	}
	return sig, false
}

// timestamp comments on the timestamp's form and on the clock.
func (d *diagnosis) timestamp(text string) {
	at, ok := parseKnownForm(text)
	if !ok {
		d.say("%s is in none of the known forms. If the service sends it so, a receiver in Go reads it with VerifierOptions.ParseTimestamp.", TimestampHeader)
		return
	}
	if off := time.Since(at).Round(time.Second); off.Abs() > DefaultTolerance {
		side := "behind"
		if off < 0 {
			side = "ahead of"
		}
		d.say("%s is %s %s this machine's clock. If the delivery has just arrived, one of the two clocks is wrong.", TimestampHeader, roughly(off.Abs()), side)
	}
}

// roughly prints a length of time, from three days on in days.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 3*day {
		return d.String()
	}
	return fmt.Sprintf("%d days", d/day)
}

// search looks for a combination of secret, prefix and body that gives the signature.
func (d *diagnosis) search(secrets []string, given signature, timestamp string, body []byte) {
	bodies, prefixes := bodyVariants(body), prefixVariants(timestamp)
	for i, secret := range secrets {
		for _, key := range keyVariants(secret) {
			m := newMAC(key.text)
			for _, prefix := range prefixes {
				for _, body := range bodies {
					if m.sumOf(prefix.text, body.text) == given {
						d.match(ordinal(i, len(secrets)), key.how, prefix.how+body.how)
						return
					}
				}
			}
		}
	}
	if len(body) == 0 {
		d.say("The body is empty. Most likely something read it before: verify first, or keep the bytes that were received.")
		return
	}
	d.oddSecrets(secrets)
	d.say("The signature does not match %s, with none of the known mistakes. Compare the secret with the one shown where the webhook was "+
		"set up, and make sure that the body is taken from the request before anything decodes it.", anyOf(len(secrets)))
	if inOrder(body) {
		d.say("The keys of every object in the body are in alphabetical order, as the service does not print them: something on the way " +
			"seems to have decoded and encoded the body, and the order that was signed is lost. Let the body pass through unchanged.")
	}
}

// ordinal names one of the secrets, counted from 1.
func ordinal(i, n int) string {
	if n == 1 {
		return "the secret"
	}
	return fmt.Sprintf("secret %d of %d", i+1, n)
}

// oddSecrets names what is wrong with secrets that NewVerifier would refuse.
func (d *diagnosis) oddSecrets(secrets []string) {
	for i, secret := range secrets {
		if err := checkSecret(secret); err != nil {
			name := ordinal(i, len(secrets))
			d.say("%s%s %v.", strings.ToUpper(name[:1]), name[1:], err)
		}
	}
}

func anyOf(n int) string {
	if n == 1 {
		return "the secret"
	}
	return fmt.Sprintf("any of the %d secrets", n)
}

func (d *diagnosis) match(secret, key, text string) {
	switch {
	case key == "" && text == "":
		d.say("The signature matches %s over the timestamp and the body as given.", secret)
	case key == "" && text == reserialized:
		d.say("The signature would match %s%s. A receiver in Go accepts that, unless VerifierOptions.RawOnly is set.", secret, text)
	default:
		d.say("The signature would match %s%s%s.", secret, key, text)
	}
}

// sumOf is sum for any prefix.
func (m *mac) sumOf(prefix, body []byte) (sum signature) {
	m.hash.Reset()
	m.hash.Write(prefix)
	m.hash.Write(body)
	m.hash.Sum(sum[:0])
	return sum
}

// variant is one reading of a part of the signature's input.
type variant struct {
	how  string // empty for the right reading
	text []byte
}

func keyVariants(secret string) []variant {
	visible := strings.Join(strings.FieldsFunc(secret, isInvisible), "")
	trimmed := strings.TrimSpace(visible)
	bare := strings.TrimPrefix(trimmed, "whsec_")
	_, assigned, _ := strings.Cut(trimmed, "=")
	fromHex, _ := hex.DecodeString(bare)
	fromBase64, _ := base64.StdEncoding.DecodeString(bare)
	fromBase64URL, _ := base64.RawURLEncoding.DecodeString(bare)
	removed := ""
	switch {
	case strings.Contains(secret, byteOrderMark):
		removed = " without its byte order mark"
	case visible != secret:
		removed = " without its invisible characters"
	}
	variants := []variant{
		{"", []byte(secret)},
		{removed, []byte(visible)},
		{removed + " without the white space around it", []byte(trimmed)},
		{removed + " with a newline at its end", []byte(trimmed + "\n")},
		{removed + " without its prefix", []byte(bare)},
		{removed + " without the quotes around it", []byte(strings.Trim(trimmed, "\"'`"))},
		{removed + " without the name and the equals sign before it", []byte(strings.Trim(assigned, "\"'`"))},
		{removed + " decoded from hexadecimal", fromHex},
		{removed + " decoded from base64", fromBase64},
		{removed + " decoded from base64", fromBase64URL},
	}
	return slices.DeleteFunc(variants, func(v variant) bool {
		return len(v.text) == 0 || checkSecretLength(len(v.text)) != nil
	})
}

func prefixVariants(timestamp string) []variant {
	variants := []variant{
		{"", []byte(timestamp + ".")},
		{", if there were no full stop between timestamp and body", []byte(timestamp)},
		{", if the body were signed without the timestamp", nil},
	}
	switch len(timestamp) {
	case 10:
		variants = append(variants, variant{", if the timestamp were in milliseconds", []byte(timestamp + "000.")})
	case 13:
		variants = append(variants, variant{", if the timestamp were in seconds", []byte(timestamp[:10] + ".")})
	}
	return variants
}

const reserialized = ", if the body were printed as JSON.stringify does"

// maxElements bounds the elements of an array that are tried.
const maxElements = 100

func bodyVariants(body []byte) []variant {
	trimmed := bytes.TrimSpace(body)
	variants := []variant{
		{"", body},
		{", if the body had no white space around it", trimmed},
		{", if the body ended in a newline", append(bytes.Clone(trimmed), '\n')},
		{", if the body were an array of what it is", fmt.Appendf(nil, "[%s]", trimmed)},
	}
	if text, err := jsjson.Normalize(nil, body); err == nil {
		variants = append(variants, variant{reserialized, text})
	}
	variants = append(variants, transportVariants(trimmed)...)
	var value any
	if json.Unmarshal(body, &value) == nil {
		if text, err := json.Marshal(value); err == nil {
			variants = append(variants, variant{", if the body were decoded and printed by Go's encoding/json", text})
		}
	}
	var escaped bytes.Buffer
	json.HTMLEscape(&escaped, body)
	variants = append(variants, variant{", if the body had <, > and & escaped as Go's encoding/json does", escaped.Bytes()})
	events, err := Parse(body)
	if err != nil {
		return variants
	}
	for i, ev := range events[:min(len(events), maxElements)] {
		variants = append(variants,
			variant{fmt.Sprintf(", if the body were its element %d alone", i), []byte(ev.source())},
			variant{fmt.Sprintf(", if the body were an array of its element %d alone", i), fmt.Appendf(nil, "[%s]", ev.source())})
	}
	return variants
}

const byteOrderMark = "\ufeff"

// transportVariants undoes what gateways and editors do to a body.
func transportVariants(trimmed []byte) []variant {
	var variants []variant
	if bare, found := bytes.CutPrefix(trimmed, []byte(byteOrderMark)); found {
		variants = append(variants, variant{", if the body did not begin with a byte order mark", bare})
	} else {
		variants = append(variants, variant{", if the body began with a byte order mark", append([]byte(byteOrderMark), trimmed...)})
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		decoded, err := encoding.AppendDecode(nil, bytes.Trim(trimmed, `"`))
		if err != nil || len(decoded) == 0 {
			continue
		}
		const how = ", if the body were decoded from base64"
		variants = append(variants, variant{how + ", as API gateways send it", decoded})
		if text, err := jsjson.Normalize(nil, decoded); err == nil {
			variants = append(variants, variant{how + " and printed as JSON.stringify does", text})
		}
		break
	}
	return variants
}
