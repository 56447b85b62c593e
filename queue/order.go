package queue

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/signforms/signforms-go/webhook"
)

// maxKeyPart bounds the part of an id in an ordering key, because an index entry of Postgres has at most 2,700 bytes.
const maxKeyPart = 100

// orderingKey returns the ordering key of an event. Events of a template contain the id of the
// template, so an ordering key of this id alone would serialize all sends of the template. The ids
// of the signers distinguish the sends. (The service documents neither.) An event of an unknown
// type, or one that could not be decoded, has the ordering key of the known events with the same
// ids. An event without an id has an ordering key of its own.
func orderingKey(e webhook.Event, key webhook.ReplayKey) string {
	switch e := e.(type) {
	case *webhook.FormResponse:
		return keyOf("response", e.FormResponseID, key)
	case *webhook.SignatureViewed:
		return keyOf("document", e.DocumentID, key)
	case *webhook.SignatureSigned:
		return keyOf("document", e.DocumentID, key)
	case *webhook.SignatureCompleted:
		return keyOf("document", e.DocumentID, key)
	case *webhook.UnknownEvent:
		return unknownKey(e, key)
	}
	return templateKey(e.SubjectID(), templateIDs(e), key)
}

func templateKey(template string, signers []string, key webhook.ReplayKey) string {
	if len(signers) == 0 || template == "" {
		return keyOf("event", "", key)
	}
	slices.Sort(signers)
	sum := sha256.Sum256([]byte(strings.Join(slices.Compact(signers), "\n")))
	return keyOf("template", template, key) + ":" + hex.EncodeToString(sum[:16])
}

// unknownKey returns the ordering key of an event by its ids only. Only events of a template name
// signers. So if an event has signers and a document id, the id is the id of a template.
func unknownKey(e *webhook.UnknownEvent, key webhook.ReplayKey) string {
	signers := e.SignerIDs()
	switch {
	case len(signers) > 0 && e.DocumentID != "":
		return templateKey(e.DocumentID, signers, key)
	case e.FormResponseID != "":
		return keyOf("response", e.FormResponseID, key)
	}
	return keyOf("document", e.DocumentID, key)
}

// orderingKeyID returns the number of an ordering key in the store. If two ordering keys have the
// same number, they wait for each other, and nothing else happens.
func orderingKeyID(key string) int64 {
	sum := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

func keyOf(kind, id string, key webhook.ReplayKey) string {
	switch {
	case id == "":
		return "event:" + key.String()
	case len(id) > maxKeyPart:
		sum := sha256.Sum256([]byte(id))
		return kind + ":" + hex.EncodeToString(sum[:])
	}
	return kind + ":" + storable(id)
}

// templateIDs returns the ids of Signers of a template event. These ids are the same in all events
// of a document. Other events have no such ids, as far as the service documents.
func templateIDs(e webhook.Event) []string {
	switch e := e.(type) {
	case *webhook.TemplateViewed:
		return idsOf(e.Signers)
	case *webhook.TemplateSigned:
		return idsOf(e.Signers)
	case *webhook.TemplateResponse:
		return idsOf(e.Signers)
	}
	return nil
}

func idsOf(signers []webhook.Signer) []string {
	var ids []string
	for _, s := range signers {
		if s.ID != "" {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// signerList returns ids in the format of the column signers: each id is between two newlines, so a
// text search finds it.
func signerList(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return "\n" + storable(strings.Join(ids, "\n")) + "\n"
}

// storable returns s without NUL characters, which Postgres cannot store in a text.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
