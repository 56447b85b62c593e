package signing

import (
	crand "crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// IDs makes identifiers and secrets. With the same seed and the same calls, it makes the same
// values. It is safe for concurrent use.
type IDs struct {
	Prefix string // prefix of tokens; set it before the first use

	mu  sync.Mutex
	rnd *rand.ChaCha8
}

// NewIDs returns a generator that starts from seed; 0 means a random seed.
func NewIDs(seed uint64) *IDs {
	var key [32]byte
	if seed == 0 {
		crand.Read(key[:])
	} else {
		binary.LittleEndian.PutUint64(key[:], seed)
	}
	return &IDs{rnd: rand.NewChaCha8(key)}
}

// UUID returns a random UUID, version 4.
func (g *IDs) UUID() string {
	var u uuid.UUID
	g.read(u[:])
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u.String()
}

// ObjectID returns 24 hexadecimal digits: the seconds of at, then random digits.
func (g *IDs) ObjectID(at time.Time) string {
	var b [12]byte
	g.read(b[4:])
	binary.BigEndian.PutUint32(b[:4], uint32(at.Unix()))
	return hex.EncodeToString(b[:])
}

// Token returns 32 random hexadecimal digits after the prefix, for links, keys and secrets.
func (g *IDs) Token() string {
	var b [16]byte
	g.read(b[:])
	return g.Prefix + hex.EncodeToString(b[:])
}

// UUIDLength is the length of a UUID as text.
const UUIDLength = 36

// IsUUID reports whether an id has the form of a UUID, in lower or upper case.
func IsUUID(id string) bool { return len(id) == UUIDLength && uuid.Validate(id) == nil }

// IsObjectID reports whether an id has 24 hexadecimal digits, in lower or upper case.
func IsObjectID(id string) bool {
	_, err := hex.DecodeString(id)
	return len(id) == 24 && err == nil
}

func (g *IDs) read(b []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rnd.Read(b)
}
