package operate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
	"github.com/signforms/signforms-go/webhook"
)

// trigger makes an event happen in a sandbox.
type trigger struct {
	document string
	set      []string

	client    *wire.Client
	overrides map[string]string
}

// acts has the events of documents that can be triggered, with the acts that cause them.
var acts = map[webhook.EventType]struct {
	template bool
	do       func(t *trigger, ctx context.Context, d *refserver.DocumentState) (string, error)
}{
	webhook.TypeSignatureViewed:    {false, (*trigger).view},
	webhook.TypeSignatureSigned:    {false, (*trigger).signOne},
	webhook.TypeSignatureCompleted: {false, (*trigger).signAll},
	webhook.TypeTemplateViewed:     {true, (*trigger).view},
	webhook.TypeTemplateSigned:     {true, (*trigger).signOne},
	webhook.TypeTemplateResponse:   {true, (*trigger).signAll},
}

func triggers() []string {
	names := []string{string(webhook.TypeFormResponse)}
	for e := range acts {
		names = append(names, string(e))
	}
	slices.Sort(names)
	return names
}

// Trigger returns the command trigger.
func Trigger() *cobra.Command {
	var t trigger
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "trigger EVENT",
		Short: "Make an event happen in a running sandbox",
		Long: `Trigger causes an event by acting on a record of the sandbox: a signer views or signs a document, or a form is
answered. That may cause further events: the last signature completes a document. Trigger uses the newest record
that fits, or that of --document. It prints what it did, and the deliveries that follow from it.

Events:
  ` + strings.Join(triggers(), "\n  ") + `

With --set: signer=ADDRESS says who acts, field.NAME=VALUE fills in a field, answer.QUESTION=TEXT answers a
question of the form, and email=ADDRESS is the respondent's address.`,
		Example: "  signforms trigger new_signature_pdf_completed --document 3f0c1c9e-7f1d-4f7b-9c62-0a4ad2a3b3b1 --set field.Fee=100",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(triggers(), args[0]) {
				return fmt.Errorf("give one event: %s", strings.Join(triggers(), ", "))
			}
			return nil
		},
		ValidArgs: triggers(),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		t.client = c
		return t.run(cmd.Context(), webhook.EventType(args[0]))
	})
	cmd.Flags().StringVar(&t.document, "document", "", "`id` of the document (createdDocumentId of one from a template) or of the form (default the newest that fits)")
	cmd.Flags().StringArrayVar(&t.set, "set", nil, "`field=value` to be used instead of the default; may be repeated")
	return cmd
}

// triggered is the result that trigger prints.
type triggered struct {
	Event      string          `json:"event"`
	Did        string          `json:"did"`
	Deliveries []wire.Delivery `json:"deliveries"`
}

func (t *trigger) run(ctx context.Context, event webhook.EventType) (any, func(io.Writer), error) {
	before, err := t.deliveries(ctx)
	if err != nil {
		return nil, nil, err
	}
	out := triggered{Event: string(event), Deliveries: []wire.Delivery{}}
	if event == webhook.TypeFormResponse {
		out.Did, err = t.submit(ctx)
	} else {
		out.Did, err = t.act(ctx, event)
	}
	if err != nil {
		return nil, nil, err
	}
	after, err := t.deliveries(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range after {
		if !slices.ContainsFunc(before, func(b wire.Delivery) bool { return b.ID == d.ID }) {
			d.Attempts, d.Body = nil, ""
			out.Deliveries = append(out.Deliveries, d)
		}
	}
	return out, out.print, nil
}

func (t triggered) print(w io.Writer) {
	for deed := range strings.SplitSeq(t.Did, "\n") {
		fmt.Fprintln(w, cli.Plain(deed))
	}
	for _, d := range slices.Backward(t.Deliveries) {
		fmt.Fprintf(w, "delivery %s of %s to webhook %s\n", d.ID, strings.Join(d.EventTypes, ", "), d.WebhookID)
	}
	if len(t.Deliveries) == 0 {
		fmt.Fprintln(w, "no webhook gets it: add one with signforms webhooks add, or run signforms listen")
	}
}

// deliveries returns the newest 100 deliveries.
func (t *trigger) deliveries(ctx context.Context) ([]wire.Delivery, error) {
	var page wire.Page[wire.Delivery]
	err := t.client.Get(ctx, "/deliveries", url.Values{"limit": {"100"}}, &page)
	return page.Items, err
}

// overridden reads --set. It accepts names, and names that begin with prefix.
func (t *trigger) overridden(prefix string, names ...string) error {
	t.overrides = map[string]string{}
	for _, text := range t.set {
		name, value, given := strings.Cut(text, "=")
		if rest, ok := strings.CutPrefix(name, prefix); !given || !slices.Contains(names, name) && (!ok || rest == "") {
			return cli.UsageError("--set %q: this event knows %s=… and %sNAME=…", text, strings.Join(names, "=…, "), prefix)
		}
		t.overrides[name] = value
	}
	return nil
}

// with returns the overrides whose names begin with prefix. The prefix is removed from the names.
func (t *trigger) with(prefix string) map[string]string {
	out := map[string]string{}
	for name, value := range t.overrides {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = value
		}
	}
	return out
}

func (t *trigger) act(ctx context.Context, event webhook.EventType) (string, error) {
	if err := t.overridden("field.", "signer"); err != nil {
		return "", err
	}
	a := acts[event]
	d, err := t.find(ctx, a.template)
	if err != nil {
		return "", err
	}
	return a.do(t, ctx, d)
}

// find returns the document of --document, or the newest document in progress.
func (t *trigger) find(ctx context.Context, template bool) (*refserver.DocumentState, error) {
	var d refserver.DocumentState
	kind := refserver.KindPDF
	if template {
		kind = refserver.KindTemplate
	}
	if t.document != "" {
		if err := t.client.Get(ctx, "/documents/"+url.PathEscape(t.document), nil, &d); err != nil {
			return nil, err
		}
		if d.Type != kind {
			return nil, cli.UsageError("--document is of the type %s, but the event needs one of the type %s", d.Type, kind)
		}
		return &d, nil
	}
	var page wire.Page[refserver.DocumentState]
	if err := t.client.Get(ctx, "/documents", url.Values{"type": {string(kind)}, "status": {string(refserver.StatusPending)}, "limit": {"1"}}, &page); err != nil {
		return nil, err
	}
	if len(page.Items) == 0 && template {
		return nil, fmt.Errorf("no document that was made from a template is in progress: send one, as with signforms templates send, or name one with --document")
	}
	if len(page.Items) == 0 {
		return nil, fmt.Errorf("no document is in progress: add one with signforms documents add, or name one with --document")
	}
	return &page.Items[0], nil
}

// signer returns the signer who acts. That is the signer of --set. Without --set, it is the first
// signer whose turn it is and who has not caused the event yet.
func (t *trigger) signer(d *refserver.DocumentState, news func(refserver.SignerState) bool) (string, error) {
	if named := t.overrides["signer"]; named != "" {
		return named, nil
	}
	for _, s := range d.Signers {
		if s.InTurn && news(s) {
			return s.ID, nil
		}
	}
	return "", fmt.Errorf("the document %s is %s, and has no signer left who could still do this", d.ID, d.Status)
}

func (t *trigger) view(ctx context.Context, d *refserver.DocumentState) (string, error) {
	if len(t.with("field.")) > 0 {
		return "", cli.UsageError("--set field.…: viewing a document fills in no fields; leave it out")
	}
	signer, err := t.signer(d, func(s refserver.SignerState) bool { return s.ViewedAt.IsZero() })
	if err != nil {
		return "", err
	}
	err = t.client.Post(ctx, "/documents/"+url.PathEscape(d.ID)+"/view", wire.Viewing{Signer: signer}, nil)
	return fmt.Sprintf("%s viewed %s", t.name(d, signer), d.ID), err
}

func (t *trigger) name(d *refserver.DocumentState, signer string) string {
	for _, s := range d.Signers {
		if s.ID == signer {
			return cmp.Or(s.Email, signer)
		}
	}
	return signer
}

// values returns the fields of --set, and a suitable value for each other required field of the signer.
func (t *trigger) values(d *refserver.DocumentState, signer refserver.SignerState) (values []refserver.FieldValue) {
	set := t.with("field.")
	for _, name := range slices.Sorted(maps.Keys(set)) {
		values = append(values, refserver.FieldValue{Name: name, Value: set[name]})
	}
	for _, f := range d.Fields {
		mine := f.Role == signer.Role || f.Role == signer.Email
		if _, given := set[f.Name]; !mine || !f.Required || given {
			continue
		}
		values = append(values, refserver.FieldValue{Name: f.Name, Value: fitting(f.Kind, signer)})
	}
	return values
}

func fitting(kind refserver.FieldKind, signer refserver.SignerState) string {
	switch kind {
	case refserver.DateField:
		return "2026-01-01"
	case refserver.CheckboxField:
		return "true"
	}
	return cmp.Or(signer.Name, signer.Email)
}

func (t *trigger) signOne(ctx context.Context, d *refserver.DocumentState) (string, error) {
	signer, err := t.signer(d, func(s refserver.SignerState) bool { return s.SignedAt.IsZero() })
	if err != nil {
		return "", err
	}
	return t.sign(ctx, d, signer)
}

func (t *trigger) sign(ctx context.Context, d *refserver.DocumentState, signer string) (string, error) {
	var record refserver.SignerState
	for _, s := range d.Signers {
		if s.ID == signer || s.Email == signer {
			record = s
		}
	}
	in := wire.Signature{Signer: signer, Fields: t.values(d, record)}
	if err := t.client.Post(ctx, "/documents/"+url.PathEscape(d.ID)+"/sign", in, d); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s signed %s, which is %s", t.name(d, signer), d.ID, d.Status), nil
}

// signAll signs as every signer who has not signed yet, in their order.
func (t *trigger) signAll(ctx context.Context, d *refserver.DocumentState) (string, error) {
	if t.overrides["signer"] != "" {
		return "", cli.UsageError("--set signer=…: for this event every signer signs who has not signed yet; leave it out")
	}
	var did []string
	for range d.Signers {
		signer, err := t.signer(d, func(s refserver.SignerState) bool { return s.SignedAt.IsZero() })
		if err != nil {
			if len(did) > 0 {
				break
			}
			return "", err
		}
		text, err := t.sign(ctx, d, signer)
		if err != nil {
			return "", err
		}
		did = append(did, text)
	}
	return strings.Join(did, "\n"), nil
}

// submit submits a form.
func (t *trigger) submit(ctx context.Context) (string, error) {
	if err := t.overridden("answer.", "email"); err != nil {
		return "", err
	}
	var form refserver.FormState
	if t.document != "" {
		if err := t.client.Get(ctx, "/forms/"+url.PathEscape(t.document), nil, &form); err != nil {
			return "", err
		}
	} else {
		var page wire.Page[refserver.FormState]
		if err := t.client.Get(ctx, "/forms", url.Values{"limit": {"1"}}, &page); err != nil {
			return "", err
		}
		if len(page.Items) == 0 {
			return "", fmt.Errorf("there is no form: add one with signforms seed")
		}
		form = page.Items[0]
	}
	in := refserver.Submission{RespondentEmail: "respondent@example.com", Answers: t.with("answer.")}
	if email := t.overrides["email"]; email != "" {
		in.RespondentEmail = email
	}
	for _, f := range form.Fields {
		if _, given := in.Answers[f.Question]; f.Required && !given {
			in.Answers[f.Question] = answerTo(f)
		}
	}
	var out wire.Submitted
	err := t.client.Post(ctx, "/forms/"+url.PathEscape(form.ID)+"/submit", in, &out)
	return fmt.Sprintf("%s answered %s: response %s", in.RespondentEmail, form.ID, out.FormResponseID), err
}

func answerTo(f refserver.Field) string {
	switch {
	case len(f.Choices) > 0:
		return f.Choices[0]
	case f.Kind == refserver.DateQuestion:
		return "2026-01-01"
	case f.Kind == refserver.CheckboxQuestion:
		return "true"
	}
	return "an answer"
}
