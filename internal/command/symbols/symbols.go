package symbols

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/exit"
)

// New makes the verb symbols.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "symbols",
		Short: "Make and check Breakpad's symbol files",
		Long: `symbols works on the symbol files of Breakpad, Crashpad, Firefox, Chromium, Electron and
Sentry: it makes them of ELF files, and says what is wrong with them.`,
		Example: `  sfwalk symbols dump ./server --store ./symbols
  sfwalk symbols check server.sym ./server`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Misuse(errors.New("symbols: which command? dump or check"))
		},
	}
	cmd.AddCommand(newSymbolsDump(), newSymbolsCheck())
	return cmd
}
