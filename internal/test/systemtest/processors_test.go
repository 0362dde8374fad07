//go:build linux && system

package systemtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// models are qemu's processors of amd64: without AVX, with AVX2 and Intel's or AMD's way into the
// kernel, and what the emulation has of a larger one.
var models = []string{"Opteron_G1", "Haswell", "Skylake-Server", "EPYC", "max"}

// ofProcessors are the tests that depend on what the processor has: registers, states of threads,
// calls.
var ofProcessors = []struct{ pkg, run string }{
	{"./inferior/native", "^(TestSystemCalls|TestUndone|TestOnStack|TestAlternateStack|" +
		"TestStepFlags|TestStepsLate|TestShadowStack)$"},
	{"./inferior/stub", "^(TestCalls|TestDropped|TestDroppedAfterwards|TestWritesRefused)$/^amd64$"},
	{"./target/core", "^(TestVectors)$"},
	{"./internal/command/call", "^(TestCallVectors)$"},
}

// TestProcessors boots Debian's kernel of amd64 with each model, and runs those tests there.
func TestProcessors(t *testing.T) {
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			begin := time.Now()
			g := Boot(t, AMD64(model))
			flags := g.Shell(t, patience, "grep -m1 '^flags' /proc/cpuinfo")
			t.Logf("after %v; AVX: %v", time.Since(begin).Round(time.Second/10), strings.Contains(flags, " avx "))
			g.Put(t, filepath.Join(g.Source, "go.mod"), filepath.Join(g.Source, "go.mod"))
			g.PutTree(t, filepath.Join(g.Source, "testdata", "progs"))
			t.Run("vsyscall", g.vsyscall)
			for _, tests := range ofProcessors {
				t.Run(filepath.Base(tests.pkg), func(t *testing.T) { g.tests(t, tests.pkg, tests.run) })
			}
		})
	}
}

var total = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): .*$`)

// tests runs some of a package's tests in the guest.
func (g *Guest) tests(t *testing.T, pkg, run string) {
	if only := os.Getenv("SFWALK_SYSTEM_RUN"); only != "" {
		run = only
	}
	dir := filepath.Join(g.Source, filepath.Clean(pkg))
	binary := filepath.Join(g.Temp, filepath.Base(pkg)+".test")
	g.build(t, binary, pkg, "test", "-c")
	g.Put(t, binary, binary)
	if _, err := os.Stat(filepath.Join(dir, "testdata")); err == nil {
		g.PutTree(t, filepath.Join(dir, "testdata"))
	}
	out, code := g.Run(t, liveLimit+time.Minute, dir, binary, "-test.v", "-test.timeout", liveLimit.String(), "-test.run", run)
	if code != 0 || len(total.FindAllString(out, -1)) == 0 {
		t.Errorf("exit status %d:\n%s", code, out)
		return
	}
	t.Logf("%s\n%s", strings.Join(total.FindAllString(out, -1), "\n"), strings.Join(skipped.FindAllString(out, -1), "\n"))
}

// vsyscall compares the stack of a 32-bit process that is blocked in the vDSO with gdb's. Its code
// there depends on the processor's kind, and is read in place of the tables.
func (g *Guest) vsyscall(t *testing.T) {
	source, program, sfwalk := filepath.Join(g.Temp, "blocked.c"), filepath.Join(g.Temp, "blocked"), filepath.Join(g.Temp, "sfwalk")
	if err := os.WriteFile(source, []byte(blocked), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), "-O2", "-g", "-static", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	g.build(t, sfwalk, "./cmd/sfwalk", "build")
	g.Put(t, "/bin/sfwalk", sfwalk)
	g.Put(t, program, program)
	out := g.Shell(t, patience, program+` & p=$!; until grep -q '^168 ' /proc/$p/syscall; do sleep 0.1; done
		sfwalk attach --sniffers prologue $p; echo GDB; gdb -nx -batch -p $p -ex bt -ex 'x/5i $pc - 6'; kill $p`)
	ours, gdbs, _ := strings.Cut(out, "GDB\n")
	got, want := frameAddress.FindAllStringSubmatch(ours, frames), frameAddress.FindAllStringSubmatch(gdbs, frames)
	if len(got) < frames || len(want) < frames {
		t.Fatal(out)
	}
	for i := range want {
		if got[i][1] != want[i][1] {
			t.Errorf("frame %d is at %s, gdb's at %s:\n%s", i, got[i][1], want[i][1], out)
		}
	}
	t.Log(gdbs)
}

// frames is how many frames of the program are compared: __kernel_vsyscall, syscall, waits, outer,
// main.
const frames = 5

var frameAddress = regexp.MustCompile(`(?m)^#\d+ +0x([0-9a-f]+) in `)

const blocked = `#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noipa)) int waits(int a) { return syscall(SYS_poll, 0, 0, -1) + a; }
__attribute__((noipa)) int outer(int a) { return waits(a + 1) + 2; }
int main(void) { return outer(1); }
`
