package s390x

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/trad"
)

const stubSource = `
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) { puts(v[0]); printf("%d%s", c, v[1]); return c > 1 ? atoi(v[1]) + (getenv("X") == 0) + ((long)&free > 3) : 0; }
void drop(void *p) { free(p); abort(); }
`

// TestStubFrame looks at each instruction of each linkage stub that objdump
// shows. None of them names r15 but as the base of a store's address, so the
// stack is as it was at the call, which is what both readers must say. (The
// linker makes no unwind table for the stubs of this architecture.)
func TestStubFrame(t *testing.T) {
	cc := gdbtest.Tool(t, "s390x-linux-gnu-gcc")
	for _, flags := range []string{"-Wl,-z,lazy", "-Wl,-z,now", "-no-pie -Wl,-z,lazy", "-shared -fPIC"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			src, out := filepath.Join(dir, "s.c"), filepath.Join(dir, "s")
			if err := os.WriteFile(src, []byte(stubSource), 0o600); err != nil {
				t.Fatal(err)
			}
			if msg, err := exec.Command(cc, append(strings.Fields(flags), "-O1", "-w", "-o", out, src)...).CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, msg)
			}
			f, err := elf.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			pcs, text := processor.Instructions(t, out)
			s := f.Section(".plt")
			if s == nil {
				t.Fatal("no .plt")
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, pc := range pcs {
				if pc < s.Addr || pc >= s.Addr+s.Size {
					continue
				}
				at := (pc - s.Addr) &^ (stubSize - 1)
				block := data[at:min(at+stubSize, s.Size)]
				got, ok := stubFrame(block, s.Addr+at, pc)
				row, out := Machine.ReadEpilogue(data[pc-s.Addr:], pc)
				rowOK := out&arch.TearsDown != 0
				if strings.HasPrefix(text[pc], ".long") || strings.HasPrefix(text[pc], "nopr") {
					if ok || rowOK {
						t.Errorf("%#x: %s: %v %v for what is no code", pc, text[pc], ok, rowOK)
					}
					continue
				}
				compared++
				if strings.Contains(text[pc], "%r15") && !strings.Contains(text[pc], "(%r15)") && !strings.Contains(text[pc], ",%r15)") {
					t.Errorf("%#x: %s: moves the stack", pc, text[pc])
				}
				if !ok || got != 160 {
					t.Errorf("%#x: %s: %d %v, want 160", pc, text[pc], got, ok)
				}
				want := trad.Rule{Kind: trad.InReg, Reg: R15, Off: 160}
				// The last branch alone could be anything.
				if lone := strings.HasPrefix(text[pc], "jg") || strings.HasPrefix(text[pc], "br") && strings.HasPrefix(text[pcs[i+1]], "nopr") ||
					strings.HasPrefix(text[pc], "lg\t%r1,16"); lone != !rowOK {
					t.Errorf("%#x: %s: %v from the pc on", pc, text[pc], rowOK)
				} else if !lone && (row.CFA != want || row.RA.Kind != trad.Same || row.Lo != pc || row.Lo+uint64(row.Len) != pcs[i+1]) {
					t.Errorf("%#x: %s: %s", pc, text[pc], row.Format(Arch.RegName))
				}
				if in, ok := stubFrame(block, s.Addr+at, pc+1); !ok || in != got {
					t.Errorf("%#x: inside the instruction %d, at its start %d", pc, in, got)
				}
			}
			if compared < 20 {
				t.Errorf("%d instructions compared", compared)
			}
		})
	}
}

func TestStubFrameDeclines(t *testing.T) {
	for _, p := range [][]byte{
		nil,
		code(stmgR11, lay160, call),
		code("\xc0\x10\x00\x00\x0d\x09"), // the address alone
		code("\xc0\x10\x00\x00\x0d\x09\xe3\x10\x20\x00\x00\x04\x07\xf1"), // from elsewhere
		code("\x07\xf1"),
	} {
		if n, ok := stubFrame(p, 0x1000, 0x1000); ok {
			t.Errorf("% x: %d", p, n)
		}
	}
	if _, ok := stubFrame(make([]byte, 32), 0x1000, 0xfff); ok {
		t.Error("a pc before the stub")
	}
}
