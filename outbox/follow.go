package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

// ended reports whether a status is final. SIGNED is not, because it may become PAID.
func ended(s signforms.DocumentStatus) bool {
	switch s {
	case signforms.StatusSigned, signforms.StatusPaid, signforms.StatusDeclined, signforms.StatusVoid, signforms.StatusExpired, signforms.StatusDeleted:
		return true
	}
	return false
}

const (
	againEvery = 10 * time.Minute // time between two walks for undecided messages of a template
	eraseBatch = 100
)

// follow records a document's status. A final status changes only from SIGNED to PAID.
func (t *tx) follow(r row, status signforms.DocumentStatus) {
	paid := r.state == Ended && r.status == signforms.StatusSigned && status == signforms.StatusPaid
	switch {
	case status == "" || status == r.status || r.state != Sent && !paid:
	case ended(status) && !paid:
		t.change(r.id, "state = 'ended', ended_at = $2, due = 0, void_due = 0, missing_at = 0, status = $3, void = CASE WHEN void = 1 THEN 2 ELSE void END, "+tell,
			t.now, string(status))
	default:
		t.change(r.id, "status = $2, "+tell, string(status))
	}
}

// followAll records the statuses of documents by the ids of their messages.
func (b *Box) followAll(ctx context.Context, statuses map[int64]signforms.DocumentStatus) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(statuses)), statusBatch) {
		err := b.write(ctx, mode{limit: batchLimit}, func(t *tx) {
			for _, id := range ids {
				r, _ := t.byID(id)
				t.follow(r, statuses[id])
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// addressDigests find a message by the addresses of receivers, without storing the addresses.
func addressDigests(template string, addresses []string) (all []string) {
	for _, a := range addresses {
		sum := sha256.Sum256([]byte(template + "\n" + a))
		all = append(all, "@"+hex.EncodeToString(sum[:16]))
	}
	return all
}

// Funcs returns functions for a webhook.Handler or Queue.Run that make the box read the documents
// of events at once, and then call own for every event that own has a function for. Events are only
// hints, so lost, late or repeated events do no harm. The functions fail if the database or own
// fails. Funcs needs no client: Run may be in another process.
func (b *Box) Funcs(own webhook.Funcs) webhook.Funcs {
	hinted := webhook.Funcs{Default: func(ctx context.Context, e webhook.Event) error {
		if err := b.hint(ctx, e); err != nil {
			return err
		}
		if err := own.Dispatch(ctx, e); !errors.Is(err, webhook.ErrNoFunction) {
			return err
		}
		return nil
	}}
	if own.Unknown != nil {
		hinted.Unknown = own.Unknown
	}
	return hinted
}

// hint makes Run read the document of an event.
func (b *Box) hint(ctx context.Context, e webhook.Event) error {
	template := normalID(e.SubjectID())
	names := append(slices.Clone(e.SignerIDs()), addressDigests(template, addressesOf(e))...)
	if len(names) == 0 {
		return nil
	}
	err := b.write(ctx, mode{}, func(t *tx) {
		args := []any{t.box, t.now}
		for _, name := range names {
			args = append(args, name)
		}
		if t.exec(`UPDATE signforms_outbox SET read_due = $2 WHERE box = $1 AND (state = 'sent' OR state = 'ended' AND status = 'SIGNED') AND id IN (
			SELECT message FROM signforms_outbox_signers WHERE box = $1 AND signer IN (`+placeholders(3, len(names))+"))", args...) > 0 {
			return
		}
		// If the send is not recorded yet, its document is read as soon as the send is recorded.
		t.exec("UPDATE signforms_outbox SET read_due = $3 WHERE box = $1 AND template = $2 AND state = 'sending'", t.box, template, t.now)
		t.exec(`UPDATE signforms_outbox_templates SET again = 1 WHERE box = $1 AND template = $2 AND again = 0 AND EXISTS (
			SELECT 1 FROM signforms_outbox WHERE box = $1 AND template = $2 AND state = 'undecided')`, t.box, template)
	})
	if err != nil {
		return fmt.Errorf("outbox: reading an event: %w", err)
	}
	b.Wake()
	return nil
}

func addressesOf(e webhook.Event) (all []string) {
	var signers []webhook.Signer
	switch e := e.(type) {
	case *webhook.TemplateViewed:
		signers = append(slices.Clone(e.Signers), e.ViewedBy.Signer)
	case *webhook.TemplateSigned:
		signers = append(slices.Clone(e.Signers), e.SignedBy.Signer)
	case *webhook.TemplateResponse:
		signers = e.Signers
	}
	for _, s := range signers {
		all = append(all, normalAddress(s.Email))
	}
	return all
}

// erase erases the content of messages that is no longer kept.
func (b *Box) erase(ctx context.Context) error {
	return b.write(ctx, mode{}, func(t *tx) {
		for _, r := range t.load("content IS NOT NULL AND ended_at > 0 AND ended_at <= $2 LIMIT $3"+t.skip(), t.now-b.options.KeepContent.Milliseconds(), eraseBatch) {
			t.change(r.id, "content = NULL, receivers = '[]'")
			t.exec("DELETE FROM signforms_outbox_signers WHERE message = $1 AND signer LIKE '@%'", r.id)
		}
	})
}
