//go:build linux

package elf

import (
	"debug/dwarf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

func TestWholeName(t *testing.T) {
	for name, want := range map[string]string{
		"foo.cold": "foo", "foo.cold.1": "foo", "foo.cold.12": "foo", "foo.warm": "foo", "foo.__part.3": "foo", // gcc, LLVM; BOLT; LLVM
		"foo.part.0.cold": "foo.part.0", "foo.isra.0.cold": "foo.isra.0", "_ZN1a1bEv.cold": "_ZN1a1bEv", "foo.lto_priv.0.cold": "foo.lto_priv.0",
		"foo": "", "foo.part.0": "", "foo.isra.0": "", "foo.constprop.0": "", "foo.colder": "", "foo.cold.x": "", ".cold": "", "foo.cold1": "", "foo.cold.": "", "cold": "", "": "",
	} {
		if got, ok := wholeName(name); got != want || ok != (want != "") {
			t.Errorf("%q is a part of %q, %t; want %q", name, got, ok, want)
		}
	}
}

// split is a source file with functions whose unlikely parts compilers move away.
const split = `
#include <stdlib.h>
extern volatile int z%[1]d;
volatile int z%[1]d;
extern __attribute__((cold, noinline)) void bad(int);
__attribute__((noinline)) static int same(int x, int *p) {
	if (__builtin_expect(x > 5, 0)) { bad(x); z%[1]d += %[1]d; bad(z%[1]d); *p = z%[1]d; }
	return x * *p + %[1]d;
}
__attribute__((noinline)) int alone%[1]d(int x, int *p) {
	if (__builtin_expect(x > 7, 0)) { bad(x + 1); z%[1]d *= 3; bad(z%[1]d); *p -= z%[1]d; }
	return x - *p;
}
#if %[1]d
static
#endif
__attribute__((noinline)) int twin(int x, int *p) { // one of them is global
	if (__builtin_expect(x > 9, 0)) { bad(x + 2); z%[1]d -= 3; bad(z%[1]d); *p += z%[1]d; }
	return x + *p * %[1]d;
}
int use%[1]d(int x, int *p) { return same(x, p) + alone%[1]d(x, p) + twin(x, p); }
`

const splitMain = `
extern int use1(int, int *);
volatile int bads;
__attribute__((cold, noinline)) void bad(int x) { bads += x; }
int main(int c, char **v) { return use0(c, &c) + use1(c, &c); }
`

// All ranges that a function has in DWARF have the same entry. Where several functions have a name,
// and the table has no names of files, a part has its own.
func TestFunctionEntry(t *testing.T) {
	for _, flags := range [][]string{{"-O2"}, {"-O2", "-flto"}, {"-O2", "-ffunction-sections"}} {
		dir := t.TempDir()
		for i := range 2 {
			text := fmt.Sprintf(split, i)
			if i == 0 {
				text += splitMain
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part%d.c", i)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(gdbtest.Tool(t, "cc"), append([]string{"-g", "-o", "split", "part0.c", "part1.c"}, flags...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		im := openFile(t, filepath.Join(dir, "split"))
		nameless := im
		if len(flags) == 1 {
			cmd := exec.Command(gdbtest.Tool(t, "objcopy"), "-w", "--strip-symbol=part?.c", "split", "nameless")
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			nameless = openFile(t, filepath.Join(dir, "nameless"))
		}
		file, err := im.Standard()
		must(t, err)
		data, err := file.DWARF()
		must(t, err)
		parts := 0
		for r := data.Reader(); ; {
			e, err := r.Next()
			must(t, err)
			if e == nil {
				break
			}
			if e.Tag != dwarf.TagSubprogram {
				continue
			}
			ranges, err := data.Ranges(e)
			if err != nil || len(ranges) == 0 {
				continue
			}
			for i, x := range ranges {
				for at := x[0]; at < x[1]; at++ {
					if entry, ok := im.FunctionEntry(at); !ok || entry != ranges[0][0] {
						t.Fatalf("%q: %#x, of a function at %#x, is entered at %#x, %t", flags, at, ranges, entry, ok)
					}
				}
				if i == 0 {
					continue
				}
				parts++
				if entry, ok := nameless.FunctionEntry(x[0]); nameless != im && e.Val(dwarf.AttrName) == "same" && (!ok || entry != x[0]) {
					t.Errorf("%q: %#x, of one of two functions, is entered at %#x, %t", flags, x, entry, ok)
				}
			}
		}
		if t.Logf("%q: %d parts", flags, parts); parts < 3 {
			t.Errorf("%q: %d functions have another part: nothing is tested", flags, parts)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
