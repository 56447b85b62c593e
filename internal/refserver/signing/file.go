package signing

import (
	"crypto/sha256"
	"encoding/hex"
)

// File is a file that belongs to a record. The store keeps the content of a file only once, and the
// records contain its hash.
type File struct {
	SHA256 string `json:",omitzero"` // hash of the content, in 64 lower-case hexadecimal digits; empty: there is no file
	Data   []byte `json:"-"`         // content of a file that is to be stored; nil in a record that was read from the store
}

// NewFile returns a file with the content, or no file if data is nil.
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
