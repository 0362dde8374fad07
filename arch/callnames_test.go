package arch_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestCallNames compares names of system calls with the kernel's headers, as package unix was made
// from them.
func TestCallNames(t *testing.T) {
	dir, err := exec.Command(gdbtest.Tool(t, "go"), "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file, a := range map[string]*arch.Arch{"amd64": amd64.Arch, "386": i386.Arch, "arm": arm.Arch, "arm64": arm64.Arch, "s390x": s390x.Arch} {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "unix", fmt.Sprintf("zsysnum_linux_%s.go", file)))
		if err != nil {
			t.Fatal(err)
		}
		named := 0
		for _, m := range regexp.MustCompile(`SYS_(\w+)\s*=\s*(\d+)`).FindAllStringSubmatch(string(text), -1) {
			number, _ := strconv.ParseUint(m[2], 10, 64)
			switch got := a.SystemCalls.Name(number); {
			case got == "":
			case got != strings.TrimLeft(strings.ToLower(m[1]), "_"):
				t.Errorf("%s: call %d is %s, want %s", a.Name, number, got, m[1])
			default:
				named++
			}
		}
		if named < 45 {
			t.Errorf("%s: %d names", a.Name, named)
		}
	}
}
