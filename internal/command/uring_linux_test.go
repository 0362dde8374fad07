package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// needURing skips a test where the kernel gives this user no io_uring (io_uring_setup(2)).
func needURing(t *testing.T) {
	t.Helper()
	var params [120]byte // struct io_uring_params
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		gdbtest.Cannot(t, fmt.Sprintf("io_uring_setup: %v (sysctl kernel.io_uring_disabled, a seccomp filter, or an old kernel)", errno))
	}
	unix.Close(int(fd))
}

// The threads that the kernel runs for a process are no stacks that end early. The kernel's own
// names tell which these are.
func TestURing(t *testing.T) {
	needURing(t)
	p := gdbtest.Start(t, gdbtest.Build(t, "uring.c", "-g", "-O2"))
	pid, dir := strconv.Itoa(p.PID), t.TempDir()
	snapshot, dump, core := filepath.Join(dir, "snapshot"), filepath.Join(dir, "dump"), filepath.Join(dir, "core")
	named := map[string]int{} // of the kernel's threads
	for _, path := range gdbtest.Glob(t, "/proc/"+pid+"/task/*/comm") {
		if name, _ := os.ReadFile(path); strings.HasPrefix(string(name), "iou-") {
			named[string(name[:7])]++
		}
	}
	if named["iou-sqp"] != 1 || len(named) == 0 {
		gdbtest.Cannot(t, fmt.Sprintf("this kernel's io_uring has other threads: %v", named))
	}
	kernel := regexp.MustCompile(`(?m)^Thread \d+( "iou-.*")? is the kernel's, .*: it has no user stack$`)
	for _, args := range [][]string{
		{"attach", pid}, {"attach", pid, "--consistent"}, {"attach", pid, "--save", snapshot}, {"attach", pid, "--save", dump, "--format", "minidump"},
		{"open", snapshot}, {"core", snapshot}, {"minidump", dump}, {"core", core},
	} {
		if args[1] == core {
			commandtest.GCore(t, p.PID, core)
		}
		out, said, err := command(args...)
		if err != nil {
			t.Errorf("%q: %v\n%s%s", args, err, out, said)
		}
		if n := len(kernel.FindAllString(out, -1)); n != named["iou-sqp"]+named["iou-wrk"] || !strings.Contains(out, " main ") {
			t.Errorf("%q: %d threads of the kernel's, want %v:\n%s", args, n, named, out)
		}
	}
	if out, said, err := command("attach", pid, "--merge"); err != nil || !strings.Contains(out, "io_uring") {
		t.Errorf("%v\n%s%s", err, out, said)
	}
	out, _, err := command("attach", pid, "--json")
	var doc struct {
		Threads []struct {
			Name, Kernel, Error string
			Frames              []struct{}
		}
	}
	if err != nil || json.Unmarshal([]byte(out), &doc) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, th := range doc.Threads {
		if is := strings.HasPrefix(th.Name, "iou-"); is != (th.Kernel != "") || is != (len(th.Frames) == 0) || th.Error != "" {
			t.Errorf("thread %+v", th)
		}
	}
	out, said, err := command("record", pid, "--wall", "-d", "200ms", "--format", "folded", "-o", "-")
	if err != nil || strings.Contains(said, "not whole") || !strings.Contains(out, ";main;") {
		t.Errorf("%v\n%s%s", err, said, out)
	}
	if out, said, err := command("call", pid, "getpid()"); err != nil || !strings.HasPrefix(out, pid) {
		t.Errorf("%v\n%s%s", err, out, said)
	}
}
