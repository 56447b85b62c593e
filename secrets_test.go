package signforms_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/internal/clienttest"
)

// The values planted. Keys and links must never be printed. The others must not be in errors, attempts and logs.
const (
	secretKey   = "sk-Q7x9KEYSECRET"
	secretToken = "tok-LINKSECRET42"
	secretLink  = "https://sign.example.com/s/1?token=" + secretToken
	secretMail  = "pia.o'private+x@example.org"
	secretQuery = "QUERYSECRET lease"
	secretBody  = "BODYSECRET of a mail"
	secretPath  = "PATHSECRET"
)

var (
	neverPrinted = plant(secretKey, secretToken)
	notInErrors  = plant(secretKey, secretToken, "private", "QUERYSECRET", "BODYSECRET", secretPath)
)

// plant returns for each text the forms to look for, in lower case.
func plant(texts ...string) map[string][]string {
	planted := map[string][]string{}
	for _, text := range texts {
		for _, form := range forms(text) {
			planted[text] = append(planted[text], strings.ToLower(form))
		}
	}
	return planted
}

// renderings are the ways in which a value gets into a log.
func renderings(v any) map[string]string {
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	if b, err := json.Marshal(v); err == nil {
		out["json"] = string(b)
	}
	var text, asJSON bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&asJSON, nil)).Info("m", "v", v)
	out["slog text"], out["slog json"] = text.String(), asJSON.String()
	return out
}

// forms returns the renderings of a text to search for: the text itself, and its bytes.
func forms(secret string) []string {
	b := []byte(secret)
	middle := base64.StdEncoding.EncodeToString(b[:len(b)/3*3])
	forms := []string{secret, hex.EncodeToString(b), strings.Trim(fmt.Sprint(b), "[]"), strings.TrimSuffix(fmt.Sprintf("%#v", b)[7:], "}"), middle}
	for shift := 1; shift < 3; shift++ { // base64 of the same bytes, begun one or two bytes later
		rest := b[shift:]
		forms = append(forms, base64.StdEncoding.EncodeToString(rest[:len(rest)/3*3]))
	}
	return forms
}

func requireSilent(t *testing.T, what string, v any, secrets map[string][]string) {
	t.Helper()
	for how, text := range renderings(v) {
		lower := strings.ToLower(text)
		for secret, forms := range secrets {
			for _, form := range forms {
				if strings.Contains(lower, form) {
					require.Fail(t, "a secret is printed", "%s printed with %s holds %s:\n%s", what, how, secret, text)
				}
			}
		}
	}
}

// TestSecrets_areFoundByTheseTests: a test that looks for secrets has to find them where they are.
func TestSecrets_areFoundByTheseTests(t *testing.T) {
	for _, v := range []any{secretKey, []byte("ab" + secretKey + "c"), struct{ B []byte }{[]byte(secretKey)}, errors.New(secretKey)} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			found := 0
			for _, text := range renderings(v) {
				for _, form := range forms(secretKey) {
					if strings.Contains(text, form) {
						found++
						break
					}
				}
			}
			require.GreaterOrEqual(t, found, 5, "%T", v)
		})
	}
}

// stringError is an error that fmt prints whole even when it is a field of something.
type stringError string

func (e stringError) Error() string { return string(e) }

// secretCalls carry secrets in every input that takes text.
var secretCalls = []clienttest.Call{
	{Name: "Documents.List", Op: signforms.OpListDocuments, Do: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.List(ctx, signforms.DocumentListParams{Query: secretQuery}))
	}},
	{Name: "Templates.Send", Op: signforms.OpSend, Do: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Templates.Send(ctx, signforms.TemplateSendParams{
			TemplateID: clienttest.TemplateID, Mail: signforms.Mail{Subject: secretBody, Message: secretLink}, PDF: []byte(secretBody),
			Receivers: []signforms.Receiver{{Name: "Pia private", Email: secretMail, RoleTitle: secretBody}},
			Variables: []signforms.Variable{{Name: "[v]", Value: secretBody}},
		}))
	}},
	{Name: "FormResponses.List", Op: signforms.OpListFormResponses, Do: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.FormResponses.List(ctx, signforms.FormResponseListParams{FormID: secretQuery + secretMail}))
	}},
	{Name: "Documents.Remind", Op: signforms.OpRemind, Do: func(ctx context.Context, c *signforms.Client) error {
		return clienttest.Second(c.Documents.Remind(ctx, signforms.PDFDocument(clienttest.PDFID)))
	}},
}

// leakyTransports answer, or fail, with everything they know.
func leakyTransports() map[string]clienttest.Transport {
	said := fmt.Sprintf("no %s at %s for key %s, see https://api.example.com/%s/get-documents?query=%s or /x?query=%s",
		secretMail, secretLink, secretKey, secretPath, url.QueryEscape(secretQuery), url.QueryEscape(secretQuery))
	body, _ := json.Marshal(map[string]any{
		"message": said, "details": []string{secretBody, secretQuery, secretMail}, "code": secretBody, "sentUrl": secretLink,
	})
	all := map[string]clienttest.Transport{}
	for _, status := range []int{101, 200, 302, 400, 403, 404, 409, 429, 500, 503} {
		for kind, text := range map[string]string{"json": string(body), "text": said, "array": "[" + string(body) + "]"} {
			all[fmt.Sprint(status, " ", kind)] = func(req *http.Request) (*http.Response, error) {
				resp := clienttest.Reply(req, status, text)
				resp.Header.Set("X-Leak", secretKey+secretMail)
				resp.Header.Set("Location", secretLink)
				return resp, nil
			}
		}
	}
	for kind, err := range map[string]error{
		"plain error": errors.New(said), "string error": stringError(said), "joined errors": errors.Join(errors.New(said), stringError(said)),
		"url error": &url.Error{Op: "Post", URL: "https://api.example.com/" + secretPath + "?query=" + url.QueryEscape(secretQuery), Err: stringError(said)},
	} {
		all[kind] = func(*http.Request) (*http.Response, error) { return nil, err }
	}
	return all
}

func TestError_holdsNoSecret(t *testing.T) {
	for name, transport := range leakyTransports() {
		for _, call := range secretCalls {
			t.Run(name+"/"+call.Name, func(t *testing.T) {
				o := clienttest.Options(nil)
				o.Transport = transport
				attempts := 0
				o.OnAttempt = func(_ context.Context, a signforms.Attempt) {
					attempts++
					requireSilent(t, "Attempt", a, notInErrors)
					requireSilent(t, "*Attempt", &a, notInErrors)
				}
				c, err := signforms.New("https://api.example.com/"+secretPath, secretKey, o)
				require.NoError(t, err)
				err = call.Do(t.Context(), c)
				require.Positive(t, attempts)
				if err == nil {
					return // a 200 that a list or reminder can read
				}
				e := clienttest.AsError(t, err)
				requireSilent(t, "error", err, notInErrors)
				requireSilent(t, "wrapped error", fmt.Errorf("reminding: %w", err), notInErrors)
				requireSilent(t, "Error by value", *e, notInErrors)
				requireSilent(t, "joined error", errors.Join(err), notInErrors)
			})
		}
	}
}

func TestError_invalidInputHoldsNoSecret(t *testing.T) {
	c := clienttest.Scripted(t, clienttest.Silent(t))
	for _, err := range []error{
		clienttest.Second(c.Documents.Get(t.Context(), secretBody)),
		clienttest.Second(c.Documents.Void(t.Context(), signforms.TemplateDocument(secretBody, secretMail))),
		clienttest.Second(c.Forms.Send(t.Context(), signforms.FormSendParams{FormID: secretBody, Receivers: []signforms.Receiver{{Email: secretMail}}})),
		clienttest.Second(c.Respondents.List(t.Context(), signforms.RespondentListParams{TemplateID: secretMail, Page: -1})),
		clienttest.Second(c.FormResponses.Get(t.Context(), secretLink)),
		clienttest.Second(c.Documents.List(t.Context(), signforms.DocumentListParams{SortOrder: secretBody, DocumentID: secretBody})),
	} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			requireSilent(t, "error", err, notInErrors)
			requireSilent(t, "Error by value", *clienttest.AsError(t, err), notInErrors)
		})
	}
	for _, base := range []string{"https://u:" + secretKey + "@x", "https://x?" + secretKey, "https://x/%" + secretKey, secretKey, "https://x\n" + secretKey} {
		t.Run(base, func(t *testing.T) {
			_, err := signforms.New(base, "a\n"+secretKey, &signforms.Options{WorkspaceID: secretKey + "\n"})
			require.Error(t, err)
			requireSilent(t, "error of New", err, notInErrors)
		})
	}
}

// TestLimitStore_errorHoldsNoSecret: a store that somebody else wrote may print what it was given, or what it is called for.
func TestLimitStore_errorHoldsNoSecret(t *testing.T) {
	store := clienttest.NewOddStore()
	store.BeforeTake = func(context.Context) error { return stringError("no slot for " + secretKey + " and " + secretMail) }
	store.BeforePeek = store.BeforeTake
	o := clienttest.Options(nil)
	o.LimitStore = store
	c, err := signforms.New("https://api.example.com", secretKey, o)
	require.NoError(t, err)
	_, reminding := c.Documents.Remind(t.Context(), signforms.PDFDocument(clienttest.PDFID))
	_, looking := c.Documents.ReminderBudget(t.Context())
	for _, err := range []error{reminding, looking} {
		t.Run(fmt.Sprint(err), func(t *testing.T) {
			require.ErrorIs(t, err, signforms.ErrUnavailable)
			require.ErrorContains(t, err, "no slot for [key]")
			requireSilent(t, "error", err, notInErrors)
		})
	}
}

// TestClient_holdsNoSecret: records hold what the service says of people, but keys and links are never printed.
func TestClient_holdsNoSecret(t *testing.T) {
	o := clienttest.Options(nil)
	o.Transport = clienttest.Answers(200, `{"message":"ok","createdDocumentId":"`+clienttest.CreatedID+`","link":"`+secretLink+`",
		"signers":[{"email":"ann@example.com","sentUrl":"`+secretLink+`"}],
		"documents":[{"documentId":"`+clienttest.PDFID+`","x":"`+secretLink+`"}],"respondents":[{"history":[]}]}`)
	c, err := signforms.New("https://api.example.com", secretKey, o)
	require.NoError(t, err)
	ctx := t.Context()
	sent, err := c.Templates.Send(ctx, signforms.TemplateSendParams{TemplateID: clienttest.TemplateID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	require.Equal(t, secretLink, string(sent.Signers[0].SentURL), "whoever asks for it gets it")
	form, err := c.Forms.Send(ctx, signforms.FormSendParams{FormID: clienttest.FormID, Receivers: clienttest.OneReceiver})
	require.NoError(t, err)
	page, err := c.Documents.List(ctx, signforms.DocumentListParams{})
	require.NoError(t, err)
	respondents, err := c.Respondents.List(ctx, signforms.RespondentListParams{TemplateID: clienttest.TemplateID})
	require.NoError(t, err)
	voided, err := c.Documents.Void(ctx, signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	reminded, err := c.Documents.Remind(ctx, signforms.PDFDocument(clienttest.PDFID))
	require.NoError(t, err)
	for _, row := range []struct {
		what string
		v    any
	}{
		{what: "Client", v: *c}, {what: "*Client", v: c}, {what: "Documents", v: c.Documents}, {what: "Documents by value", v: *c.Documents},
		{what: "Templates", v: *c.Templates}, {what: "Forms", v: *c.Forms},
		{what: "Options", v: *o}, {what: "*Options", v: o},
		{what: "TemplateSendResult", v: *sent}, {what: "*TemplateSendResult", v: sent}, {what: "Signer", v: sent.Signers[0]}, {what: "Signers", v: sent.Signers},
		{what: "SentURL", v: sent.Signers[0].SentURL},
		{what: "FormSendResult", v: *form}, {what: "*FormSendResult", v: form}, {what: "Page", v: *page}, {what: "*Page", v: page},
		{what: "Respondents", v: respondents},
		{what: "VoidResult", v: *voided}, {what: "RemindResult", v: *reminded}, {what: "Raw", v: sent.Raw},
	} {
		t.Run(row.what, func(t *testing.T) {
			requireSilent(t, row.what, row.v, neverPrinted)
		})
	}
	require.Equal(t, "[redacted]", fmt.Sprint(sent.Signers[0].SentURL))
	require.Empty(t, fmt.Sprint(signforms.SigningLink("")))
	require.Equal(t, fmt.Sprintf("[%d bytes]", len(sent.Raw)), fmt.Sprintf("%s", sent.Raw))
	for _, v := range []any{sent.Signers[0].SentURL, sent.Raw} {
		t.Run(fmt.Sprint(v), func(t *testing.T) {
			require.Equal(t, slog.KindString, slog.AnyValue(v).Resolve().Kind(), "%T, for handlers that know no other method", v)
		})
	}
	b, err := json.Marshal(sent)
	require.NoError(t, err)
	require.Contains(t, string(b), `"sentUrl":"[redacted]"`)
}
