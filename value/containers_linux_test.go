package value_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
	"github.com/sfwalk/sfwalk/logical"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// TestContainersAsGDB compares libstdc++'s containers with what its own printers for gdb make of
// them.
func TestContainersAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	for _, flags := range [][]string{{"-O0"}, {"-O2"}} {
		t.Run(flags[0], func(t *testing.T) {
			if flags[0] != "-O0" {
				gdbtest.NeedSoak(t)
			}
			var counts valuetest.Tally
			program := gdbtest.Build(t, "containers.cc", append([]string{"-g"}, flags...)...)
			localsAsGDB(t, program, "", &counts, pretty, gdbtest.WithScripts())
			localsAsGDB(t, program, "", &counts, raw)
			counts.Log(t)
		})
	}
}

// TestMoreContainersAsGDB compares containers of other elements, and broken ones, with what
// libstdc++'s printers for gdb make of them.
func TestMoreContainersAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	for variant, source := range []string{"morecontainers.cc", "brokencontainers.cc"} {
		t.Run(source, func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts valuetest.Tally
			localsAsGDB(t, gdbtest.Build(t, source, "-g", "-O0", "-std=c++20"), "", &counts, pretty, gdbtest.WithScripts())
			counts.Log(t)
		})
	}
}

// TestKnotsAsGDB compares objects that contain objects of any type. One that contains itself is too
// much for gdb's printers, and ends in its members for gdb and for us.
func TestKnotsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	program := gdbtest.Build(t, "anyknots.cc", "-g", "-O0", "-std=c++17")
	var counts valuetest.Tally
	localsAsGDB(t, program, "hold", &counts, pretty, gdbtest.WithScripts())
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
	evaluated := 0
	eachFrame(t, attach(t, p.PID), func(_ target.Thread, f *logical.Frame, in *value.Frame) {
		if !strings.Contains(f.Function, "broken") {
			return
		}
		evaluated++
		if v, err := in.Evaluate("self"); err != nil {
			t.Error(err)
		} else if got := pretty.Print(&v); !strings.HasPrefix(got, "{_M_manager = "+want) {
			t.Errorf("self = %s, want %s", got, want)
		}
	})
	if evaluated != 1 {
		t.Errorf("%d frames of broken", evaluated)
	}
}
