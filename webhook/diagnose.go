package webhook

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/signforms/signforms-go/internal/jsjson"
)

// Diagnose explains to a person why a delivery is refused. It recognises these errors:
//
//   - a header that is missing or repeated, a signature or a timestamp in a different form, a wrong
//     clock
//   - a secret with quotes or white space around it, without its prefix or its final =, or in
//     base64 or decoded from it
//   - a body that was read before, is in base64, in gzip or in a different charset, or begins with
//     a byte order mark
//   - a reformatted body of over 64 KiB, a body with its keys in a different order, and a body that
//     is only a part of the signed one
//
// The text contains no secret, signature or part of the body. A match is only a hint: never accept
// a delivery because of it. Diagnose hashes the body up to two thousand times for each secret.
func Diagnose(secrets []string, header http.Header, body []byte) string {
	var d diagnosis
	given, ok := d.signature(d.oneValue(header, SignatureHeader))
	timestamp := d.oneValue(header, TimestampHeader)
	d.timestamp(timestamp)
	if len(secrets) == 0 {
		d.say("No secret was given.")
	} else if ok && timestamp != "" && !d.search(secrets, given, timestamp, body) {
		d.noMatch(body)
	}
	return strings.Join(d.lines, "\n")
}

type diagnosis struct{ lines []string }

func (d *diagnosis) say(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// oneValue returns the value of a header that occurs once, or an empty string.
func (d *diagnosis) oneValue(header http.Header, name string) string {
	switch values := header[name]; len(values) {
	case 1:
		return values[0]
	case 0:
		d.say("%s is missing. Did a proxy remove it, or was the map not built with http.Header.Add?", name)
	default:
		d.say("%s is given %d times, and once is expected.", name, len(values))
	}
	return ""
}

// signature reads a signature. It also accepts upper case, white space, and a prefix sha256=.
func (d *diagnosis) signature(text string) (sig signature, ok bool) {
	if text == "" || decodeSignature(&sig, text) {
		return sig, text != ""
	}
	d.say("%s is not %d lower-case hexadecimal digits.", SignatureHeader, 2*len(sig))
	bare := strings.TrimPrefix(strings.TrimSpace(strings.ToLower(text)), "sha256=")
	return sig, decodeSignature(&sig, bare)
}

// timestamp comments on the form of the timestamp and on the clock.
func (d *diagnosis) timestamp(text string) {
	at, ok := parseKnownForm(text)
	off := time.Since(at).Round(time.Second)
	switch {
	case text == "":
	case !ok:
		d.say("%s is in none of the known forms. If the service sends it so, a receiver in Go reads it with "+
			"VerifierOptions.ParseTimestamp.", TimestampHeader)
	case off.Abs() > defaultTolerance:
		d.say("%s is %s from this machine's clock. If the delivery has just arrived, one of the two clocks is wrong.",
			TimestampHeader, off.Abs())
	}
}

// search looks for a variant of a secret and of the body that give the signature, and notes which
// variants they are.
func (d *diagnosis) search(secrets []string, given signature, timestamp string, body []byte) (found bool) {
	bodies := bodyVariants(body)
	for i, secret := range secrets {
		for _, key := range secretVariants(secret) {
			if key.text == "" || checkSecretLength(len(key.text)) != nil {
				continue
			}
			m := newMAC([]byte(key.text))
			for _, b := range bodies {
				if m.sum(timestamp, []byte(b.text)) != given {
					continue
				}
				verb, name := "would match", "the secret"
				if key.how+b.how == "" {
					verb = "matches"
				}
				if len(secrets) > 1 {
					name = fmt.Sprintf("secret %d of %d", i+1, len(secrets))
				}
				d.say("The signature %s %s%s%s.", verb, name, key.how, b.how)
				return true
			}
		}
	}
	return false
}

// variant is one reading of a secret or a body.
type variant struct{ how, text string }

// secretVariants undoes the changes that people make to a secret when they copy it.
func secretVariants(secret string) []variant {
	bare := bareSecret(secret)
	_, unprefixed, _ := strings.Cut(bare, "_")
	variants := []variant{
		{"", secret}, {" without what stands around it", bare},
		{" without its prefix", unprefixed}, {" with the prefix whsec_", "whsec_" + bare},
		{" with = at its end", bare + "="}, {" with == at its end", bare + "=="},
		{" without = at its end", strings.TrimRight(bare, "=")},
	}
	for _, text := range []string{bare, unprefixed} {
		for _, code := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if decoded, err := code.DecodeString(strings.TrimRight(text, "=")); err == nil {
				variants = append(variants, variant{" decoded from base64", string(decoded)})
			}
		}
	}
	return append(variants, variant{" encoded in base64", base64.StdEncoding.EncodeToString([]byte(bare))},
		variant{" encoded in base64", base64.URLEncoding.EncodeToString([]byte(bare))})
}

// bareSecret removes invisible characters, white space, a name with an equals sign, and quotes.
func bareSecret(secret string) string {
	const around = "\"'`“”‘’;, \t\r\n"
	bare := strings.Trim(strings.Join(strings.FieldsFunc(secret, isInvisible), ""), around)
	if _, assigned, found := strings.Cut(bare, "="); found && strings.Trim(assigned, "=") != "" {
		bare = assigned
	}
	return strings.Trim(bare, around)
}

// bodyVariants undoes the changes that gateways and frameworks make to a body.
func bodyVariants(body []byte) []variant {
	variants := []variant{{"", string(body)}}
	if text, err := jsjson.Normalize(nil, body); err == nil {
		how := ", with the body as JSON.stringify prints it, which a receiver in Go accepts"
		if len(body) > maxReprint {
			how = ", with the body as JSON.stringify prints it. It was reformatted on the way, which a receiver in Go accepts up to 64 KiB alone"
		}
		variants = append(variants, variant{how, string(text)},
			variant{", if the body were an array with it as the only element", "[" + string(text) + "]"})
	}
	if decoded, err := base64.StdEncoding.DecodeString(string(bytes.Trim(body, " \r\n\""))); err == nil {
		variants = append(variants, variant{", if the body were decoded from base64, as API gateways send it", string(decoded)})
	}
	if unmarked, found := bytes.CutPrefix(body, []byte("\ufeff")); found {
		variants = append(variants, variant{", if the body had no byte order mark before it", string(unmarked)})
	}
	for _, text := range []string{fromUTF16(body, binary.BigEndian), fromUTF16(body, binary.LittleEndian), fromLatin1(body)} {
		variants = append(variants, variant{", if the body were in UTF-8: its charset was changed on the way", text})
	}
	events, err := Parse(body)
	if err != nil {
		return variants
	}
	for i, ev := range events[:min(len(events), 100)] {
		variants = append(variants, variant{fmt.Sprintf(", if the body were its element %d alone", i), ev.source()})
	}
	return variants
}

// fromUTF16 converts a body from UTF-16, with or without a byte order mark, to UTF-8.
func fromUTF16(body []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(body)/2)
	for i := range units {
		units[i] = order.Uint16(body[2*i:])
	}
	return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
}

// fromLatin1 converts a body from ISO 8859-1 to UTF-8.
func fromLatin1(body []byte) string {
	runes := make([]rune, len(body))
	for i, c := range body {
		runes[i] = rune(c)
	}
	return string(runes)
}

// noMatch notes the facts about a delivery whose signature no known error explains.
func (d *diagnosis) noMatch(body []byte) {
	if len(body) == 0 {
		d.say("The body is empty. Most likely something read it before: verify first, or keep the bytes that were received.")
		return
	}
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
		d.say("The body is gzip, and the service signs the uncompressed body: decompress it before it is verified.")
		return
	}
	d.say("The signature does not match the secret, or any of several. Compare it with the one shown where the webhook was " +
		"set up, and make sure that the body is taken from the request before anything decodes it.")
	if inOrder(body) {
		d.say("The keys of every object in the body are in alphabetical order, as the service does not print them: something " +
			"on the way seems to have decoded and encoded the body. Let the body pass through unchanged.")
	}
}

// inOrder reports whether the keys of every object in body ascend. Programs that decode JSON into a
// map leave the keys in ascending order. A body with few keys may be in order by chance.
func inOrder(body []byte) bool {
	var value any
	if bytes.Count(body, []byte(`":`)) < 5 || json.Unmarshal(body, &value) != nil || body[0] == '"' {
		return false
	}
	sorted, _ := json.Marshal(value)
	sorted, _ = jsjson.Normalize(nil, sorted)
	printed, err := jsjson.Normalize(nil, body)
	return err == nil && bytes.Equal(sorted, printed)
}
