//go:build linux

package arch_test

import (
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/bounds"
	"github.com/sfwalk/sfwalk/internal/walktest"
)

// Functions of the C library that the C standard, or POSIX, says do not return, and others
// that do, as each processor's compiler has made them.
func TestExits(t *testing.T) {
	for _, tt := range []struct {
		arch *arch.Arch
		libc string
	}{
		{amd64.Arch, "/lib/x86_64-linux-gnu/libc.so.6"},
		{arm64.Arch, "/usr/aarch64-linux-gnu/lib/libc.so.6"},
		{s390x.Arch, "/usr/s390x-linux-gnu/lib/libc.so.6"},
	} {
		t.Run(tt.arch.Name, func(t *testing.T) {
			if _, err := os.Stat(tt.libc); err != nil {
				t.Skip(err)
			}
			im := walktest.Open(t, tt.libc)
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
				if by := tt.arch.Exits(code, 0); (by != 0) != returns {
					t.Errorf("%s, %d bytes, is left by %b", name, len(code), by)
				}
			}
		})
	}
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
			for _, a := range []*arch.Arch{amd64.Arch, arm64.Arch, s390x.Arch} {
				a.Exits(code, at)
			}
		})
	})
}
