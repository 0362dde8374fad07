//go:build linux

package arch_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
)

// Functions of the C library that the C standard, or POSIX, says do not return, and others
// that do, as each processor's compiler has made them.
func TestExits(t *testing.T) {
	for _, tt := range []struct {
		arch    *arch.Arch
		libc    string
		objdump string
	}{
		{amd64.Arch, "/lib/x86_64-linux-gnu/libc.so.6", "objdump"},
		{i386.Arch, "/usr/i686-linux-gnu/lib/libc.so.6", "i686-linux-gnu-objdump"},
		{arm64.Arch, "/usr/aarch64-linux-gnu/lib/libc.so.6", "aarch64-linux-gnu-objdump"},
		{s390x.Arch, "/usr/s390x-linux-gnu/lib/libc.so.6", "s390x-linux-gnu-objdump"},
	} {
		t.Run(tt.arch.Name, func(t *testing.T) {
			im := walktest.Open(t, gdbtest.File(t, tt.libc))
			for name, returns := range map[string]bool{
				"exit": false, "longjmp": false, "_exit": false, "quick_exit": false, "pthread_exit": false, "abort": false, "__assert_fail": false, "__stack_chk_fail": false,
				"getpid": true, "malloc": true, "qsort": true, "strtol": true, "memcpy": true, "printf": true, "pthread_create": true,
			} {
				found := im.Lookup(name, 1)
				if len(found) == 0 || found[0].Size == 0 {
					t.Errorf("no function %s", name)
					continue
				}
				code := im.Loaded(found[0].Addr, found[0].Size)
				by := tt.arch.Exits(code, 0)
				switch {
				case returns && by != 0, !returns && by == 0:
				case !returns && by == shown(t, tt.objdump, tt.libc, found[0].Addr, found[0].Size):
				default:
					t.Errorf("%s, %d bytes, is left by %b", name, len(code), by)
				}
			}
		})
	}
}

// shown is how the code in [addr, addr+size) leaves it as objdump shows it. glibc 2.41's
// __assert_fail ends with a plain jump or a return: another function does its work, and the
// compiler does not know that this one never returns.
func shown(t *testing.T, objdump, file string, addr, size uint64) (by arch.Exits) {
	out, err := exec.Command(gdbtest.Tool(t, objdump), "-d", "-w", "--no-show-raw-insn",
		fmt.Sprintf("--start-address=%#x", addr), fmt.Sprintf("--stop-address=%#x", addr+size), file).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)\t(?:jmp|b|j|jg)\s+([0-9a-f]+) <|\t(?:ret|br\s+%r14)\s*$`).FindAllStringSubmatch(string(out), -1) {
		if to, err := strconv.ParseUint(m[1], 16, 64); m[1] == "" {
			by |= arch.Returns
		} else if err != nil || to < addr || to >= addr+size {
			by |= arch.Jumps
		}
	}
	return by
}

// What is no function's code, from any offset: it ends, and most code is left.
func FuzzExits(f *testing.F) {
	f.Add([]byte{0x90, 0xeb, 0xfd}, 0)
	f.Add([]byte{0, 0, 0, 0x14, 0xff, 0xff, 0xff, 0x17}, 4)
	f.Add([]byte{0xa7, 0xf4, 0, 0, 0xc0, 0xe5, 0, 0, 0, 0}, 0)
	f.Fuzz(func(t *testing.T, code []byte, at int) {
		bounds.Hold(t, 8<<20+1<<10*len(code), func() {
			if at < 0 || at > len(code) {
				return
			}
			for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, i386.Arch, s390x.Arch} {
				a.Exits(code, at)
			}
		})
	})
}
