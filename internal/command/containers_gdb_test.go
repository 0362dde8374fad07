//go:build linux

package command

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestMoreContainersAsGDB compares containers of other elements, and broken ones, with what libstdc++'s printers for gdb make of them.
func TestMoreContainersAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	for variant, source := range []string{"morecontainers.cc", "brokencontainers.cc"} {
		t.Run(source, func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts valuetest.Tally
			localsAsGDB(t, gdbtest.Build(t, source, "-g", "-O0", "-std=c++20"), "", &counts, nil, gdbtest.WithScripts())
			counts.Log(t)
		})
	}
}

// TestKnotsAsGDB compares objects that contain objects of any type. One that contains itself is too much for gdb's printers, and ends in its
// members for gdb and for us.
func TestKnotsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	program := gdbtest.Build(t, "anyknots.cc", "-g", "-O0", "-std=c++17")
	var counts valuetest.Tally
	localsAsGDB(t, program, "hold", &counts, nil, gdbtest.WithScripts())
	counts.Log(t)
	p := gdbtest.Start(t, program)
	gdb := exec.Command(gdbtest.Tool(t, "gdb"), "-nx", "-batch", "-p", strconv.Itoa(p.PID), "-ex", "frame function broken", "-ex", "print self")
	said, err := gdb.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, want, ok := strings.Cut(string(said), "{_M_manager = ")
	want, _, _ = strings.Cut(want, "\n")
	if !ok {
		t.Fatalf("gdb says %s", said)
	}
	out, stderr, err := command("attach", strconv.Itoa(p.PID), "--print", "self", "--frame", "broken")
	if err != nil || !strings.Contains(out, "self = {_M_manager = "+want) {
		t.Errorf("%v\n%s%s\nwant %s", err, out, stderr, want)
	}
}
