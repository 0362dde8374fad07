package stacks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDeadlocksOfGuests compares the owners of mutexes in core files of other processors with what
// gdb reads.
func TestDeadlocksOfGuests(t *testing.T) {
	for _, tt := range []struct{ arch, qemu, compiler string }{
		{"arm64", "qemu-aarch64", "aarch64-linux-gnu-gcc"},
		{"s390x", "qemu-s390x", "s390x-linux-gnu-gcc"},
		{"arm", "qemu-arm", "arm-linux-gnueabihf-gcc"},
	} {
		t.Run(tt.arch, func(t *testing.T) {
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "deadlock.c"), gdbtest.Tool(t, tt.compiler), "-g", "-O2", "-static", "-pthread")
			here, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Chdir(dir) // qemu writes core files there
			p := gdbtest.Start(t, gdbtest.Tool(t, tt.qemu), "-s", "65536", program, "normal")
			t.Chdir(here)
			if err := unix.Prlimit(p.PID, unix.RLIMIT_CORE, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}, nil); err != nil {
				gdbtest.Cannot(t, "the limit of core files cannot be raised: "+err.Error())
			}
			if err := unix.Kill(p.PID, unix.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			gdbtest.Await(t, "the guest dies", func() bool { return unix.Kill(p.PID, 0) != nil })
			core := gdbtest.Glob(t, filepath.Join(dir, "qemu_*.core"))[0]
			doc := waitsOf(t, "sfwalk core", "core", core)
			out, err := exec.Command(gdbtest.Tool(t, "gdb-multiarch"), "-nx", "-batch", program, core,
				"-ex", `printf "owner of first: %d\n", first_lock.__data.__owner`, "-ex", `printf "owner of second: %d\n", second_lock.__data.__owner`).CombinedOutput()
			owners := map[string]int{}
			for _, m := range regexp.MustCompile(`owner of (\w+): (\d+)`).FindAllStringSubmatch(string(out), -1) {
				owners[m[1]], _ = strconv.Atoi(m[2])
			}
			if len(owners) != 2 {
				t.Fatalf("gdb: %v\n%s", err, out)
			}
			if n := doc.check(t, owners, "mutex"); n != 2 || len(doc.Deadlocks) != 1 {
				t.Errorf("%d threads wait for mutexes; deadlocks %+v", n, doc.Deadlocks)
			}
		})
	}
}
