package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/signforms/signforms-go/internal/buildinfo"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "signforms", version())
			return err
		},
	}
}

// version returns the program's version as the go command recorded it, or "devel".
func version() string {
	return cmp.Or(buildinfo.Version("github.com/signforms/signforms-go/cmd/signforms"), "devel")
}
