package plugin

import (
	"encoding/json"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/command/cmdline"
	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/command/hosts"
	"github.com/sfwalk/sfwalk/internal/command/sniffers"
	"github.com/sfwalk/sfwalk/internal/command/version"
)

func newPluginCheck(host hosts.Plugins) *cobra.Command {
	var asJSON bool
	var snapshots []string
	cmd := &cobra.Command{
		Use:   "check PATH",
		Short: "Test whether a program is a good plug-in",
		Long: `check is the conformance test for the author of a plug-in. It starts the program,
asks it about recorded stacks, and prints the result of each check (handshake, versions,
deadlines, ranges, the same answers each time) and what to fix.

--snapshot adds a snapshot of yours, written by 'sfwalk attach --save', or a core file, of a
process with frames that the plug-in should claim or knows. A core file has the heap, too.

Exit codes: 0 all checks passed; 1 there is something to fix; 2 usage, or the program
cannot be tested.`,
		Example: `  sfwalk plugin check ./sniffer-mine
  sfwalk plugin check ./sniffer-mine --snapshot snapshot.4242
  sfwalk plugin check ./sniffer-mine --json | jq '.checks[] | select(.status == "fail")'`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: sniffers.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := plug(host, args[0])
			if err != nil {
				return err
			}
			for _, path := range snapshots {
				if _, err := os.Stat(path); err != nil {
					return exit.Misuse(errors.New("--snapshot " + path + ": " + exit.WithoutName(err).Error()))
				}
			}
			report, err := host.Check(cmd.Context(), p, version.Asker(), snapshots)
			if err != nil {
				return exit.With(exit.Trouble, err)
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(report)
			} else {
				err = report.Write(cmd.OutOrStdout())
			}
			if err == nil && !report.Passed() {
				return exit.With(exit.Error, nil)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document (see docs/json.md)")
	cmdline.Texts(cmd.Flags(), &snapshots, "snapshot", "also walk the stacks of this snapshot, or core file; repeatable")
	return cmd
}
