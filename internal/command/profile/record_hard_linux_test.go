package profile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// foldedCount returns how many samples have a stack that matches.
func foldedCount(t *testing.T, file, stack string) (n int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	is := regexp.MustCompile(stack)
	for l := range strings.Lines(string(text)) {
		i := strings.LastIndexByte(l, ' ')
		if is.MatchString(l[:i]) {
			x, _ := strconv.Atoi(strings.TrimSpace(l[i+1:]))
			n += x
		}
	}
	return n
}

// A program creates ten thousand threads, one after the other. Root samples processors before long;
// of others, threads that run for long enough are sampled, the rest are counted. The program
// notices nothing.
func TestRecordTenThousandThreads(t *testing.T) {
	commandtest.CanRecord(t)
	exe := gdbtest.Build(t, "manythreads.c", "-O2", "-pthread")
	out := filepath.Join(t.TempDir(), "p.folded")
	_, said, err := commandtest.Run("record", "-F", "999", "-o", out, "--", exe, "10000")
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	threads := regexp.MustCompile(`samples of (\d+) threads`).FindStringSubmatch(said)
	if threads == nil {
		t.Fatal(said)
	}
	n, _ := strconv.Atoi(threads[1])
	if ended := regexp.MustCompile(`; (\d+) threads ended before the first sample: `).FindStringSubmatch(said); os.Geteuid() == 0 {
		if ended != nil {
			t.Error(said)
		}
	} else if !strings.Contains(said, "lost") {
		if ended == nil || strings.Contains(said, "-F 999 finds") { // that is what was given
			t.Fatal(said)
		}
		if short, _ := strconv.Atoi(ended[1]); n+short < 9900 || n+short > 10001 { // several may have had the same number
			t.Errorf("%d threads are sampled, and %d are not, want 9900 to 10001 in all", n, short)
		}
	}
	if found := foldedCount(t, out, `;run;moment$`); n < 30 || found < 30 || found < n/2 {
		t.Errorf("%d samples are in moment: %s", found, said)
	}
}

// A profile that does not fit on the disk is an error, and nothing of it is left.
func TestRecordFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root mounts a small disk")
	}
	p := gdbtest.StartRunning(t, gdbtest.Build(t, "shares.c", "-O2", "-pthread"), "1", "5")
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"); err != nil {
		gdbtest.Cannot(t, "nothing can be mounted: "+err.Error())
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	_, said, err := commandtest.Run("record", strconv.Itoa(p.PID), "--wall", "-d", "300ms", "--format", "flamegraph", "-o", filepath.Join(dir, "p.svg"))
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Errorf("%v\n%s", err, said)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// The files of a process in another mount namespace are its own, even if there is none at their
// paths outside. A program that becomes another one is that one.
func TestRecordContainer(t *testing.T) {
	commandtest.CanRecord(t)
	if os.Geteuid() != 0 {
		gdbtest.Cannot(t, "only root makes a mount namespace")
	}
	unshare := gdbtest.Tool(t, "unshare")
	exe, dir := gdbtest.Build(t, "shares.c", "-O2", "-pthread"), t.TempDir()
	if said, err := exec.Command(unshare, "--mount", "mount", "-t", "tmpfs", "none", dir).CombinedOutput(); err != nil {
		gdbtest.Cannot(t, fmt.Sprintf("nothing can be mounted there: %v: %s", err, said))
	}
	p := gdbtest.StartRunning(t, unshare, "--mount", "sh", "-c", fmt.Sprintf("mount -t tmpfs none %[1]s && cp %[2]s %[1]s/inside && exec %[1]s/inside 1 7", dir, exe))
	for _, flag := range []string{"--no-cache", "--wall"} {
		out := filepath.Join(t.TempDir(), "p.folded")
		if _, said, err := commandtest.Run("record", strconv.Itoa(p.PID), flag, "-d", "1500ms", "-o", out); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		if n := foldedCount(t, out, `;run;(deeper;){8}(half|three_tenths|one_fifth)`); n < 2 {
			text, _ := os.ReadFile(out)
			t.Errorf("%s: %d samples have names\n%s", flag, n, text)
		}
	}
}

// A 32-bit program on a 64-bit kernel is walked with its own registers.
func TestRecord386(t *testing.T) {
	commandtest.CanRecord(t)
	gdbtest.NeedAMD64(t)
	exe := gdbtest.Build386(t, "shares.c", "-O2", "-pthread")
	if err := exec.Command(exe, "1", "1", "0").Run(); err != nil {
		gdbtest.Cannot(t, "this kernel runs no 32-bit programs: "+err.Error())
	}
	out := filepath.Join(t.TempDir(), "p.folded")
	if _, said, err := commandtest.Run("record", "-F", "499", "-o", out, "--", exe, "1", "7", "1"); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	text, _ := os.ReadFile(out)
	all, whole := foldedCount(t, out, `half|three_tenths|one_fifth`), foldedCount(t, out, `;run;(deeper;){8}(half|three_tenths|one_fifth)`)
	if all < 10 || whole < all*9/10 {
		t.Errorf("%d of %d stacks are whole\n%s", whole, all, text)
	}
}
