//go:build linux

package symbol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/i386"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
)

// manyCalls has more than a few stubs, an IFUNC of its own, a function whose address it takes as
// well, and two descriptors of threads' own variables, for which arm64's linker adds a stub without
// a name.
const manyCalls = `
#include <stdio.h>
#include <stdlib.h>
static int one(int x) { return x + 1; }
static void *pick(void) { return one; }
int chosen(int) __attribute__((ifunc("pick")));
__thread int counter;
#ifdef __PIC__
extern __thread int missing __attribute__((weak));
int take(void) { return counter + missing; }
#endif
int main(int c, char **v) { puts(v[0]); printf("%d%s", c, v[1]); return atoi(v[1]) + chosen(c) + (getenv("X") == 0) + ((long)&free > 3); }
void drop(void *p) { free(p); abort(); }
`

// Each byte of a stub has the name that objdump gives the stub. binutils 2.44 takes arm64's stubs
// with a bti for 16 bytes long, but they have 24. There the names come from the relocations of the
// slots.
func TestStubsObjdump(t *testing.T) {
	for _, p := range []struct {
		name, triple, folder, branch string
		flags                        [][]string
	}{
		{"amd64", "", "/lib/x86_64-linux-gnu", "jmp", [][]string{
			{"-Wl,-z,lazy", "-fplt"}, {"-Wl,-z,now", "-fplt"}, {"-Wl,-z,lazy", "-fplt", "-fcf-protection", "-Wl,-z,ibtplt"},
			{"-Wl,-z,now", "-fcf-protection", "-Wl,-z,ibtplt"}, {"-no-pie", "-Wl,-z,lazy"}, {"-fno-plt"}, {"-shared", "-fPIC"}, {"-static-pie"},
		}},
		{"arm64", "aarch64-linux-gnu-", "/usr/aarch64-linux-gnu/lib", "br\tx17", [][]string{
			{"-Wl,-z,lazy"}, {"-Wl,-z,now"}, {"-no-pie"}, {"-fno-plt"}, {"-static-pie"}, {"-shared", "-fPIC", "-Wl,-z,lazy"},
			{"-mbranch-protection=standard", "-Wl,-z,force-bti"}, {"-mbranch-protection=pac-ret", "-Wl,-z,pac-plt"},
			{"-mbranch-protection=standard", "-Wl,-z,force-bti,-z,pac-plt", "-shared", "-fPIC", "-Wl,-z,lazy"},
		}},
		{"386", "i686-linux-gnu-", "/usr/i686-linux-gnu/lib", "jmp", [][]string{
			{"-Wl,-z,lazy"}, {"-fpie", "-pie", "-Wl,-z,now"}, {"-no-pie", "-Wl,-z,lazy"}, {"-shared", "-fPIC"},
			{"-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,lazy"}, {"-no-pie", "-fcf-protection", "-Wl,-z,ibtplt", "-Wl,-z,now"},
		}},
		{"s390x", "s390x-linux-gnu-", "/usr/s390x-linux-gnu/lib", "br\t%r1", [][]string{
			{"-Wl,-z,lazy"}, {"-Wl,-z,now"}, {"-no-pie"}, {"-fno-plt"}, {"-shared", "-fPIC"},
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			if p.triple == "" {
				gdbtest.NeedAMD64(t)
			}
			cc, objdump := gdbtest.Tool(t, p.triple+"gcc"), gdbtest.Tool(t, p.triple+"objdump")
			src := filepath.Join(t.TempDir(), "calls.c")
			if err := os.WriteFile(src, []byte(manyCalls), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, flags := range p.flags {
				t.Run(strings.Join(flags, " "), func(t *testing.T) {
					sameStubs(t, gdbtest.Compile(t, src, append([]string{cc, "-O1", "-w"}, flags...)...), objdump, p.branch)
				})
			}
			for _, library := range []string{"libc.so.6", "libm.so.6", "libstdc++.so.6"} {
				t.Run(library, func(t *testing.T) {
					sameStubs(t, gdbtest.File(t, filepath.Join(p.folder, library)), objdump, p.branch)
				})
			}
		})
	}
}

// sameStubs compares the name and the beginning of the stub at each byte with objdump's. A stub
// ends with branch: objdump counts relocations, and some of arm64's belong to no stub
// (R_AARCH64_TLSDESC).
func sameStubs(t *testing.T, file, objdump, branch string) {
	im := walktest.Open(t, file)
	s, err := readStubs(im)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-d", "-z", "--no-show-raw-insn"}
	for _, section := range im.StubSections() {
		args = append(args, "-j", section.Name)
	}
	out, err := exec.Command(objdump, append(args, file)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	named, label, branches := 0, "", false
	var start, last uint64
	compare := func(end uint64) {
		isStub := branches && strings.HasSuffix(label, "@plt")
		if isStub {
			named++
		}
		for pc := start; pc < end; pc++ {
			name, lo, _, ok := s.find(pc)
			if im.ELF().Section(".rel.plt") != nil && strings.HasPrefix(name, "*ABS*+") { // objdump reads no addend in place
				name = "*ABS*@plt"
			}
			if ok != isStub || ok && (name != label || lo != start) {
				t.Errorf("%#x: %q at %#x, %t; objdump has %q at %#x", pc, name, lo, ok, label, start)
				return
			}
		}
	}
	if branch == "br\tx17" {
		out = labelBySlots(t, out, file)
	}
	for line := range strings.Lines(string(out)) {
		var addr uint64
		var name string
		if strings.HasPrefix(line, "Disassembly") {
			compare(last + 1)
			start, last, branches = 0, 0, false
		} else if n, _ := fmt.Sscanf(line, "%x <%s", &addr, &name); n == 2 {
			if start != 0 {
				compare(addr)
			}
			label, start, branches = strings.TrimSuffix(name, ">:"), addr, false
		} else if n, _ := fmt.Sscanf(line, " %x:", &addr); n == 1 {
			last, branches = addr, branches || strings.Contains(line, branch)
		}
	}
	compare(last + 1)
	if t.Logf("%d stubs", named); s != nil && named != len(s.list) {
		t.Errorf("%d stubs, objdump has %d", len(s.list), named)
	}
}

// labelBySlots replaces objdump's labels of arm64's stubs by the labels of the slots that the stubs
// load from. These are the symbols of readelf's relocations.
func labelBySlots(t *testing.T, disassembly []byte, file string) []byte {
	relocations, err := exec.Command(gdbtest.Tool(t, "aarch64-linux-gnu-readelf"), "-rW", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[uint64]string{}
	for line := range strings.Lines(string(relocations)) {
		f := strings.Fields(line)
		if len(f) < 4 || f[2] != "R_AARCH64_JUMP_SLOT" && f[2] != "R_AARCH64_IRELATIVE" {
			continue
		}
		slot, _ := strconv.ParseUint(f[0], 16, 64)
		if names[slot] = "*ABS*+0x" + f[len(f)-1] + "@plt"; f[2] == "R_AARCH64_JUMP_SLOT" {
			name, _, _ := strings.Cut(f[4], "@")
			names[slot] = name + "@plt"
		}
	}
	var lines []string
	var page uint64
	begin, branched := 0, false // index of the line that the stub begins with
	for line := range strings.Lines(string(disassembly)) {
		var addr, off uint64
		if n, _ := fmt.Sscanf(line, "%x <", &addr); n == 1 && strings.Contains(line, "@plt>:") {
			continue
		}
		if n, _ := fmt.Sscanf(line, " %x:", &addr); n == 1 && branched && !strings.Contains(line, "nop") {
			lines = append(lines, fmt.Sprintf("%016x <another>:\n", addr))
			branched = false
		}
		lines = append(lines, line)
		branched = branched || strings.Contains(line, "br\tx17")
		if _, at, ok := strings.Cut(line, "adrp\tx16, "); ok {
			fmt.Sscanf(at, "%x", &page)
			if begin = len(lines) - 1; strings.Contains(lines[begin-1], "bti") {
				begin--
			}
		}
		if _, at, ok := strings.Cut(line, "ldr\tx17, [x16"); ok {
			fmt.Sscanf(at, ", #%d]", &off)
			if name := names[page+off]; name != "" {
				fmt.Sscanf(lines[begin], " %x:", &addr)
				lines = slices.Insert(lines, begin, fmt.Sprintf("%016x <%s>:\n", addr, name))
			}
		}
	}
	return []byte(strings.Join(lines, ""))
}
