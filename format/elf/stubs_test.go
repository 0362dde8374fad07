//go:build linux

package elf

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Linkage stubs begin where objdump has a label for each.
func TestStub(t *testing.T) {
	const source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { puts(v[0]); printf(\"%d%s\", c, v[1]); free(v); return atoi(v[1]) + ((long)&free > 3); }\n"
	src := filepath.Join(t.TempDir(), "calls.c")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cc, objdump string
		flags       []string
	}{
		{"gcc", "objdump", []string{"-Wl,-z,lazy"}},
		{"gcc", "objdump", []string{"-Wl,-z,lazy", "-fcf-protection", "-Wl,-z,ibtplt"}},
		{"gcc", "objdump", []string{"-Wl,-z,now", "-no-pie"}},
		{"gcc", "objdump", []string{"-static"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", nil},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-mbranch-protection=standard", "-Wl,-z,force-bti,-z,pac-plt"}},
		{"aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", []string{"-static"}},
		{"s390x-linux-gnu-gcc", "s390x-linux-gnu-objdump", nil},
		{"s390x-linux-gnu-gcc", "s390x-linux-gnu-objdump", []string{"-static"}},
	} {
		t.Run(fmt.Sprint(tt.cc, tt.flags), func(t *testing.T) {
			file := gdbtest.Compile(t, src, append([]string{gdbtest.Tool(t, tt.cc), "-O2", "-w"}, tt.flags...)...)
			out, err := exec.Command(gdbtest.Tool(t, tt.objdump), "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", "-j", ".iplt", file).Output()
			if err != nil && len(out) == 0 {
				t.Fatal(err)
			}
			im := openFile(t, file)
			labels, instructions, start := 0, 0, uint64(0)
			for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
				var addr uint64
				var name string
				if n, _ := fmt.Sscanf(lines.Text(), "%x <%s", &addr, &name); n == 2 {
					if start = 0; strings.HasSuffix(name, "@plt>:") {
						labels, start = labels+1, addr
						if lo, _, ok := im.Stub(addr); !ok || lo != addr {
							t.Errorf("%s at %#x begins at %#x, %t", name, addr, lo, ok)
						}
					}
					continue
				}
				if n, _ := fmt.Sscanf(lines.Text(), " %x:", &addr); n == 1 && start != 0 {
					instructions++
					if lo, hi, ok := im.Stub(addr); !ok || lo != start || addr >= hi {
						t.Errorf("%#x is in the stub at %#x, %t; want %#x", addr, lo, ok, start)
					}
				}
			}
			if t.Logf("%d stubs, %d instructions", labels, instructions); labels < 3 && len(im.linkage()) == 0 {
				t.Error("nothing is tested")
			}
		})
	}
}
