package outbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/webhook"
)

const (
	readAgain    = 30 * time.Second // after a read that failed, or whose process died
	missingFor   = 23 * time.Hour   // between two reads without the document, after which it counts as deleted
	againEvery   = 10 * time.Minute // for undecided messages of a template
	readBatch    = 20
	eraseBatch   = 100
	requestLimit = 2 * time.Minute
)

// follow records a document's status. A final one changes only from SIGNED to PAID.
func (t *tx) follow(r row, status signforms.DocumentStatus) error {
	switch {
	case status == "" || status == r.status:
		return nil
	case r.state == Ended && !(r.status == signforms.StatusSigned && status == signforms.StatusPaid):
		return nil
	case r.state != Sent && r.state != Ended:
		return nil
	case ended(status) && r.state == Sent:
		return t.change(r.id, "state = 'ended', ended_at = $2, due = 0, missing_at = 0, status = $3, void = CASE WHEN void = 1 THEN 2 ELSE void END, "+tell,
			t.now, string(status))
	}
	return t.change(r.id, "status = $2, "+tell, string(status))
}

// followAll records the statuses of documents by the ids of their messages.
func (b *Box) followAll(ctx context.Context, statuses map[int64]signforms.DocumentStatus) error {
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(statuses)), statusBatch) {
		err := b.write(ctx, mode{limit: batchLimit}, func(t *tx) error {
			for _, id := range ids {
				r, found, err := t.byID(id)
				if err == nil && found {
					err = t.follow(r, statuses[id])
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("recording statuses: %w", err)
		}
	}
	return nil
}

// addressDigest finds a message by the address of a receiver, without storing the address.
func addressDigest(template, address string) string {
	sum := sha256.Sum256([]byte(template + "\n" + address))
	return "@" + hex.EncodeToString(sum[:16])
}

// Funcs returns functions for a webhook.Handler or Queue.Run that make the box read the documents of events at once, and
// then call own for every event that own has a function for. Events are hints only: what is lost, late or repeated does
// no harm. The functions fail if the database or own fails. Funcs needs no client: Run may be in another process.
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
	names, template := slices.Clone(e.SignerIDs()), normalID(e.SubjectID())
	for _, s := range signersOf(e) {
		names = append(names, addressDigest(template, normalAddress(s.Email)))
	}
	if len(names) == 0 {
		return nil
	}
	args := []any{b.box, b.now().UnixMilli()}
	for _, name := range names {
		args = append(args, name)
	}
	err := b.write(ctx, mode{}, func(t *tx) error {
		args[1] = t.now
		in := "(SELECT message FROM signforms_outbox_signers WHERE box = $1 AND signer IN (" + placeholders(3, len(names)) + "))"
		n, err := t.exec("UPDATE signforms_outbox SET read_due = $2 WHERE box = $1 AND (state = 'sent' OR state = 'ended' AND status = 'SIGNED') AND id IN "+in, args...)
		if err != nil || n > 0 {
			return err
		}
		// The send may not be recorded yet: its document is then read as soon as it is.
		if _, err := t.exec("UPDATE signforms_outbox SET read_due = $3 WHERE box = $1 AND template = $2 AND state = 'sending'", b.box, template, t.now); err != nil {
			return err
		}
		_, err = t.exec(`UPDATE signforms_outbox_templates SET again = 1 WHERE box = $1 AND template = $2 AND again = 0 AND EXISTS (
			SELECT 1 FROM signforms_outbox WHERE box = $1 AND template = $2 AND state = 'undecided')`, b.box, template)
		return err
	})
	if err != nil {
		return fmt.Errorf("outbox: reading an event: %w", err)
	}
	b.Wake()
	return nil
}

func signersOf(e webhook.Event) []webhook.Signer {
	switch e := e.(type) {
	case *webhook.TemplateViewed:
		return append(slices.Clone(e.Signers), e.ViewedBy.Signer)
	case *webhook.TemplateSigned:
		return append(slices.Clone(e.Signers), e.SignedBy.Signer)
	case *webhook.TemplateResponse:
		return e.Signers
	}
	return nil
}

// readDocuments reads the documents that are due by their ids.
func (b *Box) readDocuments(ctx context.Context) error {
	var due []row
	err := b.write(ctx, mode{}, func(t *tx) (err error) {
		due, err = t.load("read_due > 0 AND document <> '' AND (read_due <= $2 OR read_due > $3) ORDER BY read_due LIMIT $4"+t.skip(),
			t.now, t.now+readAgain.Milliseconds(), readBatch)
		for i := range due {
			if err == nil {
				due[i].readDue = t.now + readAgain.Milliseconds()
				err = t.change(due[i].id, "read_due = $2", due[i].readDue)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("claiming reads: %w", err)
	}
	var failed error
	for _, r := range due {
		bounded, cancel := context.WithTimeout(ctx, requestLimit)
		d, readErr := b.get(bounded, r.document)
		cancel()
		if readErr != nil && !errors.Is(readErr, signforms.ErrNotFound) {
			failed = fmt.Errorf("reading a document: %w", readErr)
			continue
		}
		err := b.write(ctx, mode{}, func(t *tx) error { return t.isRead(r, d, readErr == nil) })
		if err != nil {
			return fmt.Errorf("recording a status: %w", err)
		}
	}
	return failed
}

// isRead records what the service has of a document.
func (t *tx) isRead(before row, d document, there bool) error {
	r, found, err := t.byID(before.id)
	if err != nil || !found {
		return err
	}
	if r.readDue == before.readDue { // no hint came meanwhile
		err = t.change(r.id, "read_due = 0")
	}
	switch {
	case err != nil:
		return err
	case there:
		if r.missingAt > 0 {
			if err := t.change(r.id, "missing_at = 0"); err != nil {
				return err
			}
		}
		return t.follow(r, d.status)
	case r.missingAt == 0:
		return t.change(r.id, "missing_at = $2", t.now)
	case t.now-r.missingAt >= missingFor.Milliseconds():
		return t.follow(r, signforms.StatusDeleted)
	}
	return nil
}

// voidDocuments voids the sent documents of messages that are to be void.
func (b *Box) voidDocuments(ctx context.Context) error {
	var due []row
	err := b.write(ctx, mode{}, func(t *tx) (err error) {
		due, err = t.load("state = 'sent' AND void = 1 AND due <= $2 ORDER BY due LIMIT $3"+t.skip(), t.now, readBatch)
		for _, r := range due {
			if err == nil {
				err = t.change(r.id, "due = $2, since = $3", t.now+maxBackoff.Milliseconds(), t.now)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("claiming voids: %w", err)
	}
	for _, r := range due {
		bounded, cancel := context.WithTimeout(ctx, requestLimit)
		_, voidErr := b.client.Documents.Void(bounded, r.entry().Ref())
		cancel()
		err := b.write(ctx, mode{}, func(t *tx) error { return t.isVoid(r, voidErr) })
		if err != nil {
			return fmt.Errorf("recording a void: %w", err)
		}
	}
	return nil
}

func (t *tx) isVoid(before row, voidErr error) error {
	r, found, err := t.byID(before.id)
	if err != nil || !found || r.state != Sent {
		return err
	}
	switch {
	case voidErr == nil:
		return t.follow(r, signforms.StatusVoid)
	case errors.Is(voidErr, signforms.ErrNotFound):
		return t.follow(r, signforms.StatusDeleted)
	case errors.Is(voidErr, signforms.ErrRefused), errors.Is(voidErr, signforms.ErrInvalid):
		t.log(slog.LevelWarn, "a document was not voided", slog.String("key", r.key), slog.String("error", voidErr.Error()))
		return t.change(r.id, "void = 2, due = 0, read_due = $2, error = $3, "+tell, t.now, voidErr.Error())
	}
	backoff := nextBackoff(millis(r.backoff), voidErr).Milliseconds()
	return t.change(r.id, "due = $2, since = $3, backoff = $4, error = $5", t.now+backoff, t.now, backoff, voidErr.Error())
}

// erase erases what is not kept any longer.
func (b *Box) erase(ctx context.Context) error {
	err := b.write(ctx, mode{}, func(t *tx) error {
		due, err := t.load("content IS NOT NULL AND ended_at > 0 AND ended_at <= $2 LIMIT $3"+t.skip(), t.now-b.options.KeepContent.Milliseconds(), eraseBatch)
		for _, r := range due {
			if err == nil {
				err = t.change(r.id, "content = NULL, receivers = '[]'")
			}
			if err == nil {
				_, err = t.exec("DELETE FROM signforms_outbox_signers WHERE message = $1 AND signer LIKE '@%'", r.id)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("erasing: %w", err)
	}
	return nil
}
