package fromelf_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/format/breakpad/fromelf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

var (
	fdeLine  = regexp.MustCompile(`(?m) FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)
	initLine = regexp.MustCompile(`(?m)^STACK CFI INIT ([0-9a-f]+) `)
	symLine  = regexp.MustCompile(`(?m)^PUBLIC ([0-9a-f]+) \S+ (\S+)$`)
)

// TestDroppedFunctions: functions that the linker has dropped have no stack rules; all others that
// objdump shows have some.
func TestDroppedFunctions(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, flags := range [][]string{{}, {"-no-pie"}, {"-Wl,-z,noseparate-code"}} {
		source, _ := filepath.Abs("testdata/dropped.c")
		path := gdbtest.Compile(t, source, append([]string{gdbtest.Tool(t, "cc"), "-g", "-O1", "-ffunction-sections", "-fno-asynchronous-unwind-tables",
			"-fno-inline", "-Wl,--gc-sections"}, flags...)...)
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		base := uint64(0)
		for _, p := range slices.Backward(f.Progs) {
			if p.Type == elf.PT_LOAD {
				base = p.Vaddr
			}
		}
		out, err := exec.Command(gdbtest.Tool(t, "objdump"), "--dwarf=frames", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want, got []uint64
		dropped := 0
		for _, m := range fdeLine.FindAllStringSubmatch(string(out), -1) {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			if slices.ContainsFunc(f.Sections, func(s *elf.Section) bool { return s.Flags&elf.SHF_EXECINSTR != 0 && pc-s.Addr < s.Size }) {
				want = append(want, pc-base)
			} else {
				dropped++
			}
		}
		text := ours(t, program{name: path, path: path}, fromelf.Options{})
		for _, m := range initLine.FindAllStringSubmatch(text, -1) {
			pc, _ := strconv.ParseUint(m[1], 16, 64)
			got = append(got, pc)
		}
		slices.Sort(want)
		slices.Sort(got)
		if dropped < 2 {
			gdbtest.Cannot(t, "this linker leaves no call frame information of functions that it drops")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: stack rules at %#x, objdump has %#x", flags, got, want)
		}
		checked, err := breakpad.Check(strings.NewReader(text))
		if err != nil || len(checked.Problems) > 0 {
			t.Errorf("%v: %v, %v", flags, checked.Problems, err)
		}
	}
}

// TestMiniDebug: a program without symbols but with .gnu_debugdata, as Fedora's, has the PUBLIC
// records of the whole program.
func TestMiniDebug(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.Tool(t, "xz")
	whole := shapes(t, "c++", "-O2")
	path := filepath.Join(t.TempDir(), filepath.Base(whole))
	out, err := exec.Command("sh", "-ec", `cp "$0" "$1" && cd "$(dirname "$1")" && PROG="$(basename "$1")"
		nm -D "$PROG" --format=posix --defined-only | awk '{ print $1 }' | sort > dynsyms
		nm "$PROG" --format=posix --defined-only | awk '{ if ($2 == "T" || $2 == "t" || $2 == "D" || $2 == "W") print $1 }' | sort > funcsyms
		comm -13 dynsyms funcsyms > keep
		objcopy --only-keep-debug "$PROG" full
		objcopy -S --remove-section .comment --keep-symbols=keep full mini
		xz mini
		objcopy -S --add-section .gnu_debugdata=mini.xz "$PROG"`, whole, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// nm has what the whole program's table has. Of an address, any name will do.
	names, err := exec.Command(gdbtest.Tool(t, "nm"), "--defined-only", whole).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[uint64][]string{}
	for line := range strings.Lines(string(names)) {
		f := strings.Fields(line)
		addr, _ := strconv.ParseUint(f[0], 16, 64)
		all[addr] = append(all[addr], f[2])
	}
	publics := func(path string) map[string]string {
		list := map[string]string{}
		for _, m := range symLine.FindAllStringSubmatch(ours(t, program{name: path, path: path}, fromelf.Options{}), -1) {
			list[m[1]] = m[2]
		}
		return list
	}
	want, got := publics(whole), publics(path)
	found := 0
	for addr := range want {
		if got[addr] != "" {
			found++
		} else if n, _ := strconv.ParseUint(addr, 16, 64); all[n] != nil {
			t.Errorf("no symbol at %s: %q", addr, all[n])
		}
	}
	if found < 10 {
		t.Errorf("%d symbols of %d", found, len(want))
	}
}

// TestPackageWithin: split DWARF in a package that lies within the program itself gives the records
// that it gives beside the program.
func TestPackageWithin(t *testing.T) {
	gdbtest.NeedAMD64(t)
	dir := t.TempDir()
	source, _ := filepath.Abs("testdata/shapes.cc")
	out, err := exec.Command("sh", "-ec", `cd "$1" && c++ -std=c++17 -O2 -g -gdwarf-4 -gsplit-dwarf -o program "$0" && dwp -e program -o program.dwp && rm -f *.dwo`, source, dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	path := filepath.Join(dir, "program")
	beside := ours(t, program{name: path, path: path}, fromelf.Options{})
	gdbtest.PackageWithin(t, path)
	got := ours(t, program{name: path, path: path}, fromelf.Options{})
	if got != beside || strings.Count(got, "\nFUNC ") < 5 {
		t.Errorf("%d FUNCs within, %d beside: %v", strings.Count(got, "\nFUNC "), strings.Count(beside, "\nFUNC "), only(records(beside), records(got)))
	}
}
