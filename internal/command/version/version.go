package version

import (
	"io"
	"runtime"
	"runtime/debug"

	"github.com/sfwalk/sfwalk/internal/printable"
)

// version is set by the linker; without that, Go's build information has the version.
var version string

// Print writes the version of the program, its platform, and the version of Go.
func Print(out io.Writer) error {
	_, err := printable.Fprintf(out, "sfwalk %s %s/%s %s\n", Text(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	return err
}

// Text returns the version: "1.4.0", or "devel" where nobody has said one.
func Text() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// Asker returns the name by which plug-ins know this program: "sfwalk 1.4.0".
func Asker() string { return "sfwalk " + Text() }
