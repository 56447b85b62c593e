package receive

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// webhookSecrets are the sources of the secrets that sign webhooks.
type webhookSecrets struct {
	secrets []string
	files   []string
}

func (s *webhookSecrets) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.files, "secret-file", nil, "`file` with the secret of the webhook (default $SIGNFORMS_WEBHOOK_SECRET, or $SIGNFORMS_WEBHOOK_SECRETS with commas); may be repeated")
	cmd.Flags().StringArrayVar(&s.secrets, "secret", nil, "the `secret` itself, which others on this machine can see: rather use a variable or a file")
}

// read returns the secrets, at least one. White space around a secret is trimmed only in files. In
// flags and environment variables it stays, so that the command diagnose can detect it.
func (s *webhookSecrets) read(stderr io.Writer) ([]string, error) {
	all := append([]string(nil), s.secrets...)
	for _, file := range s.files {
		secret, err := cli.Secret(stderr, file, "")
		if err != nil {
			return nil, err
		}
		all = append(all, secret)
	}
	if len(all) == 0 {
		if one := os.Getenv("SIGNFORMS_WEBHOOK_SECRET"); one != "" {
			all = append(all, one)
		}
		if several := os.Getenv("SIGNFORMS_WEBHOOK_SECRETS"); several != "" {
			all = append(all, strings.Split(several, ",")...)
		}
	}
	if len(all) == 0 {
		return nil, cli.UsageError("no webhook secret is given: set SIGNFORMS_WEBHOOK_SECRET, or --secret-file to a file that holds it")
	}
	return all, nil
}
