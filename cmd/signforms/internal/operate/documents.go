package operate

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
	"github.com/signforms/signforms-go/cmd/signforms/internal/control/wire"
	"github.com/signforms/signforms-go/internal/refserver"
)

// Documents returns the commands on documents that work only with a sandbox.
func Documents() []*cobra.Command {
	return []*cobra.Command{newDocumentsAdd(), newDocumentsSign(), newDocumentsDecline()}
}

func newDocumentsAdd() *cobra.Command {
	var d wire.Document
	var signers []string
	var pdf string
	cmd := newSandboxCommand(&cobra.Command{
		Use:     "add NAME --signer EMAIL...",
		Short:   "Add a PDF document to a running sandbox and send it to its signers",
		Long:    "Add a PDF document to a running sandbox, send it to its signers unless it is a draft, and print its id.",
		Example: `  signforms documents add Lease --signer ann@example.com --signer "Ben <ben@example.com>" --in-order`,
		Args:    cli.ExactlyOne("NAME of a document"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		if len(signers) == 0 {
			return nil, nil, cli.UsageError("name who signs with --signer, as in --signer ann@example.com")
		}
		d.Name = args[0]
		for _, text := range signers {
			d.Signers = append(d.Signers, parseSigner(text))
		}
		if pdf != "" {
			content, err := cli.ReadFile(pdf, maxPDF)
			if err != nil {
				return nil, nil, cli.UsageError("--pdf: %w", err)
			}
			d.PDF = content
		}
		return newID(cmd, c, "/documents", d)
	})
	f := cmd.Flags()
	f.StringArrayVar(&signers, "signer", nil, "`address` of a signer, as in ann@example.com or \"Ann <ann@example.com>\"; may be repeated")
	f.BoolVar(&d.SigningOrder, "in-order", false, "signers sign in the order in which they are given")
	f.StringVar(&pdf, "pdf", "", "`file` to be signed (default: an empty page)")
	f.StringVar(&d.AuthorEmail, "author", "", "`address` of the author")
	cli.DurationVar(f, &d.ExpiresFor, "expires-in", "time until it expires, as in 72h or 3d (default: never)")
	f.BoolVar(&d.Draft, "draft", false, "do not send it")
	return cmd
}

// maxPDF is the maximum size of a PDF that is sent, in bytes. The sandbox accepts less.
const maxPDF = 20 << 20

// parseSigner reads an address with or without a name before it. It checks nothing, because the
// sandbox refuses an invalid address.
func parseSigner(text string) refserver.Signer {
	name, address, named := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	if !named {
		return refserver.Signer{Email: text}
	}
	return refserver.Signer{Name: strings.TrimSpace(name), Email: address}
}

// newID posts a new record and prints only its id, so that a script can store it.
func newID(cmd *cobra.Command, c *wire.Client, path string, in any) (any, func(io.Writer), error) {
	var made wire.ID
	err := c.Post(cmd.Context(), path, in, &made)
	return made, func(w io.Writer) { fmt.Fprintln(w, made.ID) }, err
}

func newDocumentsSign() *cobra.Command {
	var in wire.Signature
	var fields []string
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "sign ID --as EMAIL",
		Short: "Sign a document of a running sandbox as one of its signers",
		Long: "Sign a document of a running sandbox, given by its documentId, or by its createdDocumentId if it was made from\n" +
			"a template.",
		Example: "  signforms documents sign 3f0c1c9e-7f1d-4f7b-9c62-0a4ad2a3b3b1 --as ann@example.com --field Fee=100",
		Args:    cli.ExactlyOne("ID of a document"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		for _, text := range fields {
			name, value, given := strings.Cut(text, "=")
			if !given {
				return nil, nil, cli.UsageError("--field %q: write it as in Fee=100", text)
			}
			in.Fields = append(in.Fields, refserver.FieldValue{Name: name, Value: value})
		}
		if in.Signer == "" {
			return nil, nil, cli.UsageError("say who signs with --as, as in --as ann@example.com")
		}
		return act(cmd, c, args[0], "sign", in)
	})
	cmd.Flags().StringVar(&in.Signer, "as", "", "`address` or signerId of who signs")
	cmd.Flags().StringArrayVar(&fields, "field", nil, "`name=value` of a field of the document; may be repeated")
	return cmd
}

func newDocumentsDecline() *cobra.Command {
	var in wire.Refusal
	cmd := newSandboxCommand(&cobra.Command{
		Use:   "decline ID --as EMAIL",
		Short: "Decline to sign a document of a running sandbox",
		Args:  cli.ExactlyOne("ID of a document"),
	}, func(cmd *cobra.Command, args []string, c *wire.Client) (any, func(io.Writer), error) {
		if in.Signer == "" {
			return nil, nil, cli.UsageError("say who declines with --as, as in --as ann@example.com")
		}
		return act(cmd, c, args[0], "decline", in)
	})
	cmd.Flags().StringVar(&in.Signer, "as", "", "`address` or signerId of who declines")
	cmd.Flags().StringVar(&in.Reason, "reason", "", "why")
	return cmd
}

// act posts the act of a signer and prints the document's new status.
func act(cmd *cobra.Command, c *wire.Client, id, what string, in any) (any, func(io.Writer), error) {
	var after refserver.DocumentState
	err := c.Post(cmd.Context(), "/documents/"+url.PathEscape(id)+"/"+what, in, &after)
	return after, func(w io.Writer) { fmt.Fprintln(w, after.Status) }, err
}
