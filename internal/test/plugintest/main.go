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

// Prefix begins the names of the programs.
const Prefix = "sniffer-"

// Main runs the plug-in that the program's name says, and does not return, if the name begins with
// [Prefix].
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

// Parallel lets more tests run at once than there are processors, because tests of plug-ins mostly
// wait. TestMain calls it. It leaves fuzz tests alone.
func Parallel() {
	flag.Parse()
	if !Fuzzing() {
		flag.Set("test.parallel", "8")
	}
}

// Fuzzing reports whether this process runs a fuzz test with -test.fuzz, or is one of its workers.
func Fuzzing() bool {
	flag.Parse()
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// Modes lists the modes of plug-ins.
func Modes() []string {
	var list []string
	for mode := range modes {
		list = append(list, mode)
	}
	slices.Sort(list)
	return list
}

// Path makes a plug-in of a mode in a folder of the test, and returns its path.
func Path(t testing.TB, mode string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), Prefix+mode)
	if err := Copy(path); err != nil {
		t.Fatal(err)
	}
	return path
}

const hangs = ".hangs"

// Hangs reports whether the plug-in at path hangs by now.
func Hangs(path string) bool {
	_, err := os.Stat(path + hangs)
	return err == nil
}

// Copy puts a copy of this program at path, a link if possible. An existing file stays.
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
