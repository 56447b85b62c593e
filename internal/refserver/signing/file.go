package signing

import (
	"crypto/sha256"
	"encoding/hex"
)

// File is a file that belongs to a record. The store keeps the content once, however many records have it, and leaves
// the hash in them.
type File struct {
	SHA256 string `json:",omitzero"` // of the content, in 64 lower-case hexadecimal digits; empty: there is no file
	Data   []byte `json:"-"`         // the content, on its way to the store; nil in a record that was read from there
}

// NewFile returns a file with the content, or none if that is nil.
func NewFile(data []byte) File {
	if data == nil {
		return File{}
	}
	return File{SHA256: Hash(data), Data: data}
}

// Hash returns the SHA-256 of a content in 64 lower-case hexadecimal digits.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
