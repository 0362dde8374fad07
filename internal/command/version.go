package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// version is set by the linker; without that, Go's build information has the version.
var version string

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of sfwalk",
		Example: "  sfwalk version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := printable.Fprintf(cmd.OutOrStdout(), "%s\n", versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("sfwalk %s %s/%s %s", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
