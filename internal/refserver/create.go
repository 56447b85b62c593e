package refserver

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signforms/signforms-go/internal/refserver/signing"
	"github.com/signforms/signforms-go/internal/refserver/store"
)

// AddTemplate adds a template and returns its id.
func (s *Server) AddTemplate(t Template) (id string, err error) {
	record := internalTemplate(t)
	if err := checkTemplate(record); err != nil {
		return "", err
	}
	record.ID = s.ids.UUID()
	err = s.store.Update(func(tx *store.Tx) error {
		record.CreatedAt, record.UpdatedAt = tx.Now, tx.Now
		record.OwnerID = tx.Service().OwnerID
		tx.PutTemplate(record)
		return nil
	})
	return record.ID, err
}

// ChangeTemplate replaces the content of a template. If t has no PDF, the template keeps its PDF.
// Documents that were sent already do not change. seen is the [TemplateState].UpdatedAt of the
// template that the caller has changed. If the template was changed since then, the error matches
// [ErrRefused]. Other errors match [ErrNotFound], [ErrInvalid] or [ErrStorage].
func (s *Server) ChangeTemplate(templateID string, seen time.Time, t Template) error {
	record := internalTemplate(t)
	return s.store.Update(func(tx *store.Tx) error {
		old, err := tx.Template(templateID)
		switch {
		case err != nil:
			return err
		case !old.UpdatedAt.Equal(seen):
			return &failure{fmt.Errorf("the template was changed at %s", old.UpdatedAt.Format(time.RFC3339Nano)), ErrRefused}
		case t.PDF == nil:
			record.PDF = old.PDF
		}
		if err := checkTemplate(record); err != nil {
			return err
		}
		record.ID, record.OwnerID, record.Archived, record.CreatedAt = old.ID, old.OwnerID, old.Archived, old.CreatedAt
		record.UpdatedAt = tx.Now
		if !record.UpdatedAt.After(old.UpdatedAt) { // each change has its own time
			record.UpdatedAt = old.UpdatedAt.Add(time.Millisecond)
		}
		tx.PutTemplate(record)
		return nil
	})
}

func checkTemplate(t signing.Template) error {
	if err := t.Check(); err != nil {
		return err
	}
	for i, r := range t.Roles {
		sameTitle := func(other Role) bool { return other.Title == r.Title }
		switch {
		case r.Title == "":
			return invalid(fmt.Sprintf("Roles[%d].Title", i), "is empty")
		case slices.ContainsFunc(t.Roles[:i], sameTitle):
			return invalid(fmt.Sprintf("Roles[%d].Title", i), "is %q like that of another role: each needs its own", r.Title)
		}
	}
	for i, v := range t.Variables {
		if len(v) <= 2 || !strings.HasPrefix(v, "[") || !strings.HasSuffix(v, "]") {
			return invalid(fmt.Sprintf("Variables[%d]", i), "%q must be in square brackets, as in [v1]", v)
		}
	}
	switch {
	case strings.TrimSpace(t.Name) == "":
		return invalid("Name", "is empty")
	case len(t.Roles) == 0:
		return invalid("Roles", "is empty: a template needs one")
	case t.ExpiresFor < 0:
		return invalid("ExpiresFor", "%v must be positive, or 0 for never", t.ExpiresFor)
	}
	return nil
}

// AddForm adds a form and returns its id.
func (s *Server) AddForm(f Form) (id string, err error) {
	switch {
	case strings.TrimSpace(f.Title) == "":
		return "", invalid("Title", "is empty")
	case len(f.Fields) == 0:
		return "", invalid("Fields", "is empty: a form needs a question")
	}
	record := internalForm(f)
	if err := record.Check(); err != nil {
		return "", err
	}
	record.ID = s.ids.UUID()
	err = s.store.Update(func(tx *store.Tx) error {
		record.CreatedAt = tx.Now
		tx.PutForm(record)
		return nil
	})
	return record.ID, err
}

// AddDocument adds a PDF document, sends it to its signers unless it is a draft, and returns its id.
func (s *Server) AddDocument(d Document) (id string, err error) {
	switch {
	case strings.TrimSpace(d.Name) == "":
		return "", invalid("Name", "is empty")
	case d.ExpiresFor < 0:
		return "", invalid("ExpiresFor", "%v must be positive, or 0 for never", d.ExpiresFor)
	}
	record := internalDocument(d)
	record.Kind = signing.KindPDF
	err = s.store.Update(func(tx *store.Tx) error {
		record.OwnerID = tx.Service().OwnerID
		c, err := signing.Create(record, s.ids, tx.Now)
		if err != nil {
			return err
		}
		id = c.Document.ID
		tx.Apply(c)
		if d.Draft {
			return nil
		}
		if c, err = c.Document.Send(tx.Now); err != nil {
			return err
		}
		tx.Apply(c)
		return nil
	})
	return id, err
}

// SendDraft sends a draft to its signers.
func (s *Server) SendDraft(documentID string) error { return s.act(documentID, signing.Document.Send) }

// Void cancels a document, as the client's Documents.Void does. The document must be a draft or in
// progress. Voiding a void document changes nothing.
func (s *Server) Void(documentID string) error { return s.act(documentID, signing.Document.Void) }

// sources maps each family of events to the kind of record that its webhooks track, in the words of
// [store.Tx.KindOf].
var sources = map[signing.EventFamily]string{
	signing.FamilyFormResponse: "form", signing.FamilySignature: "PDF document", signing.FamilyTemplate: "template",
}

// AddWebhook adds a webhook and returns its id. The webhook gets the events from now on. Its
// Documents must have the kind that its Event covers.
func (s *Server) AddWebhook(w Webhook) (id string, err error) {
	record, err := s.newWebhook(w)
	if err == nil {
		err = s.store.Update(func(tx *store.Tx) error { return addWebhook(tx, record) })
	}
	return record.ID, err
}

// newWebhook returns the record of a webhook, with an id. It checks only what can be checked
// without the other records.
func (s *Server) newWebhook(w Webhook) (store.Webhook, error) {
	record := internalWebhook(w)
	if err := cmp.Or(signing.CheckLength("URL", w.URL, MaxURL), signing.CheckCount("Documents", len(w.Documents), signing.MaxList)); err != nil {
		return record, err
	}
	if !deliverable(w.URL) {
		return record, invalid("URL", "must be an absolute one, as in http://127.0.0.1:8080/webhook, not %q", w.URL)
	}
	if sources[record.Family] == "" {
		return record, invalid("Event", "must be %s, %s or %s, not %.64q", FormResponse, SignatureCompleted, TemplateResponse, w.Event)
	}
	record.ID, record.Secret = s.ids.UUID(), s.WebhookSecret
	return record, nil
}

// addWebhook stores a new webhook, or replaces the webhook with its id. It returns an error if a
// record that the webhook tracks does not exist.
func addWebhook(tx *store.Tx, record store.Webhook) error {
	for i, id := range record.Sources {
		if err := tracked(sources[record.Family], id, tx.KindOf(id)); err != nil {
			return invalid(fmt.Sprintf("Documents[%d]", i), "%v", err)
		}
	}
	if record.CreatedAt.IsZero() {
		record.CreatedAt = tx.Now
	}
	tx.PutWebhook(record)
	return nil
}

// deliverable reports whether requests can be sent to a URL. The URL must have a host name or
// address, and a port below 65536.
func deliverable(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(u.Host, "\"'<>`{}|\\^ ") {
		return false
	}
	_, err = strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return err == nil
}

// AddAPIKey adds another API key of the server's workspace and returns it. Each key has a reminder limit of its own.
func (s *Server) AddAPIKey() (string, error) {
	key := s.ids.Token()
	err := s.store.Update(func(tx *store.Tx) error {
		tx.PutKey(key)
		return nil
	})
	return key, err
}
