package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// BindEnv lets environment variables set every flag that a command has so far. The variable of
// --public-url is the prefix followed by PUBLIC_URL. A flag on the command line overrides its
// variable. For a flag that may be given several times, the variable contains all values, separated
// by white space.
func BindEnv(prefix string, cmd *cobra.Command) *cobra.Command {
	var bound []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		f.Usage += " [$" + variable(prefix, f) + "]"
		bound = append(bound, f)
	})
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, f := range bound {
			if err := setFromEnv(f, variable(prefix, f), cmd.Flags()); err != nil {
				return err
			}
		}
		return work(cmd, args)
	}
	return cmd
}

func variable(prefix string, f *pflag.Flag) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

func setFromEnv(f *pflag.Flag, name string, flags *pflag.FlagSet) error {
	text, found := os.LookupEnv(name)
	if f.Changed || !found {
		return nil
	}
	values := []string{text}
	if _, several := f.Value.(pflag.SliceValue); several {
		values = strings.Fields(text)
	}
	for _, value := range values {
		if err := flags.Set(f.Name, value); err != nil {
			return UsageError("the variable %s: %w", name, valueError(err))
		}
	}
	f.Changed = false // from now on, Changed means that the flag was given on the command line
	return nil
}
