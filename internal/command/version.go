package command

import (
	"io"
	"os"
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
		RunE:    func(cmd *cobra.Command, args []string) error { return printVersion(cmd.OutOrStdout()) },
	}
}

// mainVersion is Main for a user who asks for the version alone.
func mainVersion() int {
	if err := printVersion(os.Stdout); err != nil {
		printable.Fprintf(os.Stderr, "sfwalk: %v\n", err)
		return exitError
	}
	return exitWhole
}

func printVersion(out io.Writer) error {
	_, err := printable.Fprintf(out, "sfwalk %s %s/%s %s\n", versionString(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
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
