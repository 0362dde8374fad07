package rowtest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

const stubSource = `
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v) { puts(v[0]); printf("%d%s", c, v[1]); return c > 1 ? atoi(v[1]) + (getenv("X") == 0) + ((long)&free > 3) : 0; }
void drop(void *p) { free(p); abort(); }
`

// X86Stubs compares, of programs that are built with some flags, each instruction of each linkage
// stub with the linker's own unwind table, whose expression says from which byte of a stub on an
// index has been pushed.
func (p *Processor) X86Stubs(t *testing.T, builds ...string) {
	word := p.Arch.PtrSize
	sp := p.Arch.RegName(p.Arch.SP)
	shift := regexp.MustCompile(`DW_OP_breg\d \(` + sp + `\): ` + strconv.Itoa(word) + `; DW_OP_breg\d+ \([re]ip\): 0; DW_OP_lit15; DW_OP_and; DW_OP_lit(\d+); DW_OP_ge; DW_OP_lit\d; DW_OP_shl; DW_OP_plus`)
	for _, flags := range builds {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			src, out := filepath.Join(dir, "s.c"), filepath.Join(dir, "s")
			if err := os.WriteFile(src, []byte(stubSource), 0o600); err != nil {
				t.Fatal(err)
			}
			if msg, err := exec.Command(gdbtest.Tool(t, p.CC), append(strings.Fields(flags), "-O1", "-w", "-o", out, src)...).CombinedOutput(); err != nil {
				t.Fatalf("gcc: %v\n%s", err, msg)
			}
			f, err := elf.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			pcs, text := p.Instructions(t, out)
			fdes := FDEs(t, out)
			compared, other := 0, 0
			for _, s := range f.Sections {
				if !strings.HasPrefix(s.Name, ".plt") {
					continue
				}
				data, err := s.Data()
				if err != nil {
					t.Fatal(err)
				}
				size := uint64(16)
				if s.Name == ".plt.got" && len(data)%16 != 0 {
					size = 8
				}
				for _, pc := range pcs {
					if pc < s.Addr || pc >= s.Addr+s.Size {
						continue
					}
					at := (pc - s.Addr) &^ (size - 1)
					got, ok := p.Arch.StubFrame(data[at:min(at+size, uint64(len(data)))], s.Addr+at, pc)
					if strings.HasPrefix(text[pc], "nop") || strings.HasPrefix(text[pc], "xchg") || text[pc] == "add    %al,(%eax)" {
						if ok {
							t.Errorf("%s %#x: %d for the padding", s.Name, pc, got)
						}
						continue
					}
					i := slices.IndexFunc(fdes, func(f *FDE) bool { return pc >= f.Lo && pc < f.Hi })
					if i < 0 {
						t.Errorf("%s %#x: no table", s.Name, pc)
						continue
					}
					row := fdes[i].At(pc)
					want := int64(0)
					if _, err := fmt.Sscanf(row.CFA, sp+"+%d", &want); err != nil {
						m := shift.FindStringSubmatch(fdes[i].Expr)
						if m == nil {
							t.Fatalf("%s %#x: expression %q", s.Name, pc, fdes[i].Expr)
						}
						n, _ := strconv.ParseUint(m[1], 10, 64)
						if want = int64(word); pc&15 >= n {
							want *= 2
						}
					}
					compared++
					if !ok || int64(got) != want {
						t.Errorf("%s %#x: %s: %d %v, want %d", s.Name, pc, text[pc], got, ok, want)
					}
					if int(got) != word {
						other++
					}
					// Inside the instruction nothing has been pushed yet.
					if in, ok := p.Arch.StubFrame(data[at:min(at+size, uint64(len(data)))], s.Addr+at, pc+1); !ok || in != got {
						t.Errorf("%s %#x: inside the instruction %d, at its start %d", s.Name, pc, in, got)
					}
				}
			}
			if compared < 5 || strings.Contains(flags, "lazy") && other < 4 {
				t.Errorf("%d instructions compared, %d of them behind a push", compared, other)
			}
		})
	}
}
