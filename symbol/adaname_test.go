package symbol

import (
	"bufio"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// controlled matches operations that the compiler has made for a type, and numbers that gdb leaves
// in names.
var controlled = regexp.MustCompile(`(D[AFI]|S[ROIW]|B)(__\d+)?(X[bn]*)?$|__\d+X[bn]*$`)

// TestAdaNames compares decoded names with binutils' c++filt, of all functions of GNAT's library if
// it is there.
func TestAdaNames(t *testing.T) {
	names := []string{
		"pkg__proc", "pkg__proc__2", "_ada_main", "pkg__child__Oadd", "pkg__Oeq__3", "pkg__workerTKB", "ada__text_io__get_line__2",
		"system__img_int__impl__image_integer", "main", "pkg__proc.3", "_start", "pkg__Ooops",
	}
	if out, err := exec.Command("sh", "-c", "nm -D --defined-only /usr/lib/*/libgnat-*.so").Output(); err == nil {
		for _, line := range strings.Split(string(out), "\n") {
			if f := strings.Fields(line); len(f) == 3 && f[1] == "T" {
				names = append(names, f[2])
			}
		}
	}
	cmd := exec.Command(gdbtest.Tool(t, "c++filt"), "-s", "gnat")
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, wrong := bufio.NewScanner(strings.NewReader(string(out))), 0
	for _, name := range names {
		if !lines.Scan() {
			t.Fatal("c++filt says too little")
		}
		if strings.Contains(name, "___") || controlled.MatchString(name) {
			continue // c++filt has names for them, gdb has not
		}
		if got := adaName(name); got != lines.Text() {
			if wrong++; wrong < 40 {
				t.Errorf("%s: %s, c++filt has %s", name, got, lines.Text())
			}
		}
	}
	t.Logf("%d names, %d wrong", len(names), wrong)
}
