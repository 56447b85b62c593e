package service

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/cmd/signforms/internal/cli"
)

// accountRecord is an account as --json prints it.
type accountRecord struct {
	Account   string `json:"account"`
	Default   bool   `json:"default"` // used if no account is named
	BaseURL   string `json:"baseURL"`
	Workspace string `json:"workspace"`
	APIKey    string `json:"apiKey"` // location of the key
}

var accountColumns = []cli.Column[accountRecord]{
	{Name: "account", Value: func(a accountRecord) string { return a.Account }},
	{Name: "default", Value: func(a accountRecord) string { return map[bool]string{true: "yes"}[a.Default] }},
	{Name: "service", Value: func(a accountRecord) string { return a.BaseURL }},
	{Name: "workspace", Value: func(a accountRecord) string { return a.Workspace }},
	{Name: "apiKey", Value: func(a accountRecord) string { return a.APIKey }},
}

func newAccounts() *cobra.Command {
	var settings string
	var out cli.Output
	cmd := &cobra.Command{
		Use:   "accounts",
		Short: "List the accounts of the settings",
		Long: `List the accounts of a settings file, and where the API key of each is. It reads no key and asks no service: whoami
does. Commands use the default account when neither --account nor $SIGNFORMS_ACCOUNT names another.`,
		Example: "  signforms accounts\n  signforms documents list --account test",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, s, err := readSettings(settings)
			if err != nil {
				return err
			}
			var all []accountRecord
			for _, name := range slices.Sorted(maps.Keys(s.Accounts)) {
				a := s.Accounts[name]
				all = append(all, accountRecord{name, name == s.Current(), a.BaseURL, a.Workspace, fmt.Sprint(a.APIKey)})
			}
			if len(all) == 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s holds no account\n", path)
			}
			return cli.PrintItems(cmd, out, accountColumns, all)
		},
	}
	cmd.Flags().StringVar(&settings, "settings", "", "`file` with the accounts (default $SIGNFORMS_SETTINGS, or else signforms/accounts.json in the user's folder of settings)")
	out.AddFlags(cmd)
	return cmd
}
