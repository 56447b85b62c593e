package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go"
	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// identity is the result of whoami, as --json prints it.
type identity struct {
	BaseURL   string `json:"baseURL"`
	ChosenBy  string `json:"chosenBy"`
	Key       proof  `json:"key"`
	Workspace string `json:"workspace"`               // empty: no workspace is named
	Named     proof  `json:"workspaceProof,omitzero"` // left out without a workspace
}

// proof reports whether the service checks a key or a workspace, and which requests showed it.
type proof struct {
	Verdict string `json:"verdict"`
	Seen    string `json:"seen"`
}

// The verdicts of a proof.
const (
	works      = "works"
	refused    = "refused"
	cannotTell = "cannot tell"
)

func (p proof) String() string { return p.Verdict + ": " + p.Seen }

func newWhoami() *cobra.Command {
	var conn Connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Show whether the API key works, and in which workspace",
		Long: `Whoami requests one document from the service, with the API key and the workspace. To find out whether the service
checks the key, it repeats the request with a random key of the same form, with a random workspace if one is named, and
finally with the first values again. It changes nothing, and prints no key.

The exit code is 0 if the key works. It is 1 if the key does not work, or if this cannot be found out, as with a service
that responds to every key in the same way.`,
		Example: "  signforms whoami --account test",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := conn.Resolve(); err != nil {
				return err
			}
			who, err := conn.identify(cmd.Context())
			if cmd.Context().Err() != nil {
				return cmd.Context().Err()
			}
			if err := errors.Join(who.print(cmd.OutOrStdout(), asJSON), err); err != nil || who.Key.Verdict == works {
				return err
			}
			return fmt.Errorf("it is unknown whether the key works: %s", who.Key.Seen)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	conn.AddFlags(cmd)
	return cmd
}

func (w identity) print(stdout io.Writer, asJSON bool) error {
	if asJSON {
		return cli.EncodeJSON(stdout, w, "  ")
	}
	workspace := w.Workspace + " " + w.Named.String()
	if w.Workspace == "" {
		workspace = "not named: the workspace of the key, which the service does not report"
	}
	cli.PrintRows(stdout, []string{"service", w.BaseURL}, []string{"chosen by", w.ChosenBy}, []string{"key", w.Key.String()}, []string{"workspace", workspace})
	return nil
}

// identify requests a document with the account's key, and then with a random key.
func (c *Connection) identify(ctx context.Context) (who identity, err error) {
	who = identity{BaseURL: c.baseURL, ChosenBy: c.chosen, Workspace: c.workspace}
	own, err := c.newest(ctx)
	if err != nil {
		who.Key = proof{cannotTell, "no response shows it"}
		who.Named = who.Key
		if errors.Is(err, signforms.ErrForbidden) {
			who.Key = proof{refused, "the service refuses it or, if the key is right, the workspace"}
			who.Named = proof{refused, "the service refuses it or, if it is right, the key"}
		}
		if c.workspace == "" {
			who.Named = proof{}
		}
		return who, InFlags(err)
	}
	if c.workspace != "" {
		other := *c
		other.workspace = stranger(c.workspace)
		who.Named = other.excluded(ctx, own, "a random workspace")
	}
	other := *c // this request may lock a client out, so it is the last one
	other.apiKey = stranger(c.apiKey)
	who.Key = other.excluded(ctx, own, "a random key")
	if again, err := c.newest(ctx); err != nil || own != "" && again == "" {
		// A service that responds to one request and then to no other proves nothing.
		for _, p := range []*proof{&who.Key, &who.Named} {
			if p.Verdict == works {
				*p = proof{cannotTell, "after other keys were refused, the service refuses the one that it accepted before"}
			}
		}
	}
	return who, nil
}

// newest returns the id of the newest document, or "" if there is none.
func (c *Connection) newest(ctx context.Context) (id string, err error) {
	client, err := c.Client(signforms.Options{})
	if err != nil {
		return "", err
	}
	page, err := client.Documents.List(ctx, signforms.DocumentListParams{Limit: 1, Page: 1})
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	return page.Items[0].ID, nil
}

// excluded reports whether a random key or workspace is refused the document that the account got.
// own is the id of that document.
func (c *Connection) excluded(ctx context.Context, own, stranger string) proof {
	seen, err := c.newest(ctx)
	e, answered := errors.AsType[*signforms.Error](err)
	switch {
	case answered && errors.Is(err, signforms.ErrForbidden) && e.Attempts > 0:
		return proof{works, fmt.Sprintf("the service responds, and refuses %s (%d)", stranger, e.StatusCode)}
	case err != nil:
		return proof{cannotTell, stranger + " gets no answer that shows it: " + err.Error()}
	case own != "" && seen == "":
		return proof{works, "the service shows documents, and none to " + stranger}
	}
	return proof{cannotTell, "the service answers " + stranger + " alike"}
}

// stranger returns a random text in the form of an API key or an id, which most likely nobody has.
// It keeps the text before the last separator that is followed by six characters, because a service
// may check only that part.
func stranger(text string) string {
	kept := strings.LastIndexAny(text[:max(0, len(text)-6)], "_-") + 1
	letters := "abcdefghijklmnopqrstuvwxyz"
	if !strings.ContainsFunc(text[kept:], func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF", c) }) {
		letters = letters[:6]
	}
	out := []byte(text)
	for i := kept; i < len(out); i++ {
		for _, kind := range []string{letters, strings.ToUpper(letters), "123456789"} {
			if strings.IndexByte(kind, out[i]) >= 0 || out[i] == '0' && kind[0] == '1' {
				out[i] = kind[rand.IntN(len(kind))]
				break
			}
		}
	}
	return string(out)
}
