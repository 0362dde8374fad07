package i386

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func TestStubFrame(t *testing.T) {
	processor.X86Stubs(t, "-Wl,-z,lazy", "-fpie -pie -Wl,-z,now", "-Wl,-z,lazy -fcf-protection=full -Wl,-z,ibtplt", "-fpie -pie -Wl,-z,lazy -Wl,-z,ibtplt", "-no-pie -Wl,-z,lazy")
}

func TestStubFrameDeclines(t *testing.T) {
	for _, code := range [][]byte{
		nil,
		{0x55, 0x89, 0xe5, 0xff, 0x25, 0, 0, 0, 0}, // a prologue
		{0xe9, 0, 0, 0, 0},                         // a jump, with nothing pushed
		{0xff, 0xe0},                               // a jump through a register
		{0xff, 0xa1, 0, 0, 0, 0},                   // and through memory by one that is not ebx
		{0x68, 1, 0, 0, 0},                         // ends before the jump
		{0xf3, 0x0f, 0x1e, 0xfb, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0}, // a function that returns
	} {
		if n, ok := Arch.StubFrame(code, 0x1000, 0x1000); ok {
			t.Errorf("% x: %d", code, n)
		}
	}
}

// TestStubSlot: the stubs of a program are as many as the relocations of its global offset table
// that they jump through, and jump through each.
func TestStubSlot(t *testing.T) {
	for _, flags := range []string{"-no-pie -Wl,-z,lazy", "-fpie -pie -Wl,-z,lazy", "-fpie -pie -Wl,-z,now", "-fpie -pie -fcf-protection=full -Wl,-z,ibtplt -Wl,-z,lazy", "-no-pie -fcf-protection=full -Wl,-z,ibtplt"} {
		dir := t.TempDir()
		src, out := filepath.Join(dir, "s.c"), filepath.Join(dir, "s")
		if err := os.WriteFile(src, []byte("#include <stdlib.h>\n#include <stdio.h>\nint main(int c, char **v) { puts(v[0]); return c > 1 ? atoi(v[1]) : getenv(\"X\") == 0; }"), 0o600); err != nil {
			t.Fatal(err)
		}
		if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), append(strings.Fields(flags), "-O1", "-w", "-o", out, src)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", flags, err, msg)
		}
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := f.DynValue(elf.DT_PLTGOT)
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: DT_PLTGOT %v, %v", flags, got, err)
		}
		want := map[uint64]bool{}
		rel, err := f.Section(".rel.plt").Data()
		if err != nil {
			t.Fatal(err)
		}
		for ; len(rel) >= 8; rel = rel[8:] {
			if Arch.Order.Uint32(rel[4:])&0xff == Arch.Relocations.JumpSlot {
				want[uint64(Arch.Order.Uint32(rel))] = true
			}
		}
		found := map[uint64]bool{}
		for _, s := range f.Sections {
			if !strings.HasPrefix(s.Name, ".plt") {
				continue
			}
			code, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			for at := 0; at < len(code); {
				slot, length, ok := Arch.StubSlot(code[at:], s.Addr+uint64(at), got[0])
				if !ok {
					at += 4
					continue
				}
				if want[slot] {
					found[slot] = true
				}
				at += length
			}
		}
		if len(want) < 3 || len(found) != len(want) {
			t.Errorf("%s: stubs for %d of %d slots", flags, len(found), len(want))
		}
	}
}
