//go:build linux

package plugintest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/plugin/protocol"
)

// Prefix is that of the names of the programs.
const Prefix = "sniffer-"

// Main turns the test binary into the plug-in that its name asks for, if a host has started
// it, and does not return then.
func Main() {
	mode, found := strings.CutPrefix(filepath.Base(os.Args[0]), Prefix)
	if !found {
		return
	}
	run, found := modes[mode]
	if !found {
		fmt.Fprintf(os.Stderr, "no plug-in for tests named %q\n", mode)
		os.Exit(1)
	}
	if os.Getenv(protocol.CookieKey) != protocol.CookieValue && !withoutCookie[mode] {
		fmt.Fprintln(os.Stderr, "this is a plug-in for tests")
		os.Exit(2)
	}
	run()
	os.Exit(0)
}

// Parallel has more tests run at once than there are processors: those of plug-ins wait more
// than they work. TestMain calls it. A fuzz test has as many processes as it was told.
func Parallel() {
	flag.Parse()
	if !Fuzzing() {
		flag.Set("test.parallel", "8")
	}
}

// Fuzzing reports whether this is a fuzz test that goes on for a time, or one of its processes.
func Fuzzing() bool {
	flag.Parse()
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// Modes lists what plug-ins there are.
func Modes() []string {
	var list []string
	for mode := range modes {
		list = append(list, mode)
	}
	slices.Sort(list)
	return list
}

// Path returns the path of the plug-in of that mode, in a folder of the test.
func Path(t testing.TB, mode string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), Prefix+mode)
	if err := Copy(path); err != nil {
		t.Fatal(err)
	}
	return path
}

const hangs = ".hangs"

// Hangs reports whether the plug-in at path has come to where it does nothing.
func Hangs(path string) bool {
	_, err := os.Stat(path + hangs)
	return err == nil
}

// Copy makes a file that is this program, by a link where it can be, unless it is there.
func Copy(path string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Link(self, path); err == nil || errors.Is(err, os.ErrExist) {
		return nil
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err != nil {
		to.Close()
		return err
	}
	return to.Close()
}
