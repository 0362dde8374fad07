package arm64

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestStubs: every instruction of the linkage table of a program, plain and with
// branch protection: what stands on the stack is what its own instructions put there.
func TestStubs(t *testing.T) {
	cc := gdbtest.Tool(t, "aarch64-linux-gnu-gcc")
	src := filepath.Join(t.TempDir(), "stubs.c")
	if err := os.WriteFile(src, []byte("#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) { puts(v[0]); printf(\"%d\", rand()); return atoi(v[0]); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-z,lazy", "-z,lazy,-z,force-bti"} {
		out := filepath.Join(t.TempDir(), "stubs")
		if msg, err := exec.Command(cc, "-O2", "-mbranch-protection=bti", "-Wl,"+flags, "-o", out, src).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		_, text := processor.Instructions(t, out)
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		plt := f.Section(".plt")
		code, err := plt.Data()
		if err != nil {
			t.Fatal(err)
		}
		depth, start, seen, epilogues := int32(0), uint64(0), 0, 0
		for at := uint64(0); at < uint64(len(code)); at += size {
			x := text[plt.Addr+at]
			if strings.HasPrefix(x, "nop") && !strings.HasPrefix(text[plt.Addr+at+size], "br\t") { // which stands for an add
				start, depth = at+size, 0
				continue
			}
			n, ok := stubFrame(code[start:], plt.Addr+start, plt.Addr+at)
			if !ok || n != depth {
				t.Errorf("%s %#x: %s: %d, %v, want %d", flags, plt.Addr+at, x, n, ok, depth)
			}
			row, out := Machine.ReadEpilogue(code[at:], plt.Addr+at)
			ok = out&arch.TearsDown != 0
			switch {
			case ok && depth == 0 && row.Format(Arch.RegName) != "CFA=sp RA=same FP=same in-prologue":
				t.Errorf("%s %#x: %s: row %s", flags, plt.Addr+at, x, row.Format(Arch.RegName))
			case ok && depth == 0:
				epilogues++
			}
			seen++
			switch {
			case strings.Contains(x, "[sp, #-16]!"):
				depth += 16
			case strings.HasPrefix(x, "br\t"):
				start, depth = at+size, 0
			}
		}
		t.Logf("%s: %d instructions, %d of them by the epilogue reader", flags, seen, epilogues)
		if seen < 20 || epilogues < seen/2 {
			t.Errorf("%s: only %d instructions, %d of them by the epilogue reader", flags, seen, epilogues)
		}
	}
}

// TestStubPageStart: the stub of a slot that begins a page, as binutils 2.47 links TestStubs'
// program: there is nothing to add, and a nop stands there. A nop before a branch by x17 is no
// stub elsewhere.
func TestStubPageStart(t *testing.T) {
	stub := insns(0xd503245f, 0x90000110, 0xf9400211, 0xd503201f, 0xd61f0220, 0xd503201f) // objdump: bti c; adrp x16; ldr x17, [x16]; nop; br x17; nop
	for off := uint64(0); off < 5*size; off += size {
		if n, ok := stubFrame(stub, 0x750, 0x750+off); !ok || n != 0 {
			t.Errorf("+%d: %d, %v", off, n, ok)
		}
	}
	if row, out := Machine.ReadEpilogue(stub[size:], 0x754); out&arch.TearsDown == 0 || row.Format(Arch.RegName) != "CFA=sp RA=same FP=same in-prologue" {
		t.Errorf("behind its bti: %s, %v", row.Format(Arch.RegName), out)
	}
	if _, ok := stubFrame(stub, 0x750, 0x750+5*size); ok {
		t.Error("the padding behind it is part of it")
	}
	for _, other := range [][]byte{stub[3*size:], insns(0x90000110, 0xf9400611, 0xd503201f, 0xd61f0220)} { // nop; br x17, and a slot 8 bytes on
		if inStub(other) {
			t.Errorf("%x is taken for a stub", other)
		}
	}
}
