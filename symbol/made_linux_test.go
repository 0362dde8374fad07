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

	_ "github.com/sfwalk/sfwalk/arch/arm"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// sized is a function as nm lists it.
type sized struct {
	lo, size uint64
	name     string
}

// said returns what a tool prints.
func said(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(gdbtest.Tool(t, name), args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return string(out)
}

// functionsOf returns the functions of a program that nm knows the sizes of, by address, and the
// addresses of all its symbols of code.
func functionsOf(t *testing.T, file string) (list []sized, at map[uint64]bool) {
	t.Helper()
	at = map[uint64]bool{}
	for line := range strings.Lines(said(t, "nm", "-S", file)) {
		f := strings.Fields(line)
		if kind := f[len(f)-2]; len(f) < 3 || !strings.Contains("tTwWiV", kind) {
			continue
		}
		lo, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			continue // undefined
		}
		at[lo] = true
		if len(f) == 4 {
			size, _ := strconv.ParseUint(f[1], 16, 64)
			list = append(list, sized{lo, size, f[3]})
		}
	}
	slices.SortFunc(list, func(a, b sized) int { return int(int64(a.lo - b.lo)) })
	return list, at
}

// checkMade holds the names that a stripped program's functions have against nm's list of the
// program before it was stripped: each is made of the address of a symbol, which covers the code.
// Of the functions for which ours returns true, each byte must have such a name. from is the table
// that tells it.
func checkMade(t *testing.T, whole, stripped, from string, ours func(name string) bool) {
	t.Helper()
	list, at := functionsOf(t, whole)
	ms, bias := mapped(t, stripped)
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	named := 0
	for _, f := range list {
		for pc := f.lo; pc < f.lo+f.size; pc++ {
			l := s.Locate(ms, pc+bias)[0]
			if l.Named() || l.Function == "" || strings.HasPrefix(f.name, "_dl_tlsdesc_") { // glibc has their FDEs begin in the padding before them
				if ours(f.name) && l.Function != f.name {
					t.Fatalf("%s, %#x in %s: %q from %q", from, pc, f.name, l.Function, l.NameFrom)
				}
				continue
			}
			base, addr, _ := strings.Cut(l.Function, "!fn_")
			lo, err := strconv.ParseUint(addr, 16, 64)
			if base != filepath.Base(stripped) || err != nil || !at[lo] || lo > pc || l.NameFrom != from || l.Start != lo+bias || l.Offset != pc-lo || l.End <= pc+bias {
				t.Fatalf("%s, %#x in %s: %+v", from, pc, f.name, l)
			}
			if ours(f.name) && lo != f.lo {
				t.Fatalf("%s, %#x in %s: %q; the function is at %#x", from, pc, f.name, l.Function, f.lo)
			}
			named++
		}
	}
	if named < 100 {
		t.Errorf("%s: %d bytes of code have names", from, named)
	}
	// Linkage stubs have names of their own, or none: one FDE covers all.
	for _, section := range sectionNames(t, stripped) {
		if strings.HasPrefix(section, ".plt") {
			for _, pc := range textAddresses(t, stripped, section, 1) {
				if l := s.Locate(ms, pc+bias)[0]; l.NameFrom != "" {
					t.Fatalf("%s, %#x: %q", section, pc, l.Function)
				}
			}
		}
	}
}

func sectionNames(t *testing.T, file string) (list []string) {
	t.Helper()
	for line := range strings.Lines(said(t, "readelf", "-SW", file)) {
		if _, rest, ok := strings.Cut(line, "] "); ok {
			list = append(list, strings.Fields(rest + " ")[0])
		}
	}
	return list
}

// isUnnamed reports whether a symbol is of a function of testdata/unnamed.c, or of a part of one.
func isUnnamed(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return slices.Contains([]string{"rare", "leaf", "branches", "compare", "sorted", "tail", "main"}, name)
}

// TestMadeNames: a function of a stripped program has a name by its unwind table.
func TestMadeNames(t *testing.T) {
	for _, v := range []struct {
		name, compiler, from string
		flags, strip         []string
	}{
		{name: "gcc", compiler: "cc", flags: []string{"-O2"}},
		{name: "unoptimized", compiler: "cc", flags: []string{"-O0"}},
		{name: "fixed address", compiler: "cc", flags: []string{"-O2", "-no-pie", "-fno-pie"}},
		{name: "no index", compiler: "cc", flags: []string{"-O2", "-static"}, strip: []string{"-R", ".eh_frame_hdr"}},
		{name: "musl", compiler: "musl-gcc", flags: []string{"-O2", "-static"}},
		{name: "debug frame", compiler: "cc", from: ".debug_frame", flags: []string{"-O2", "-g", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"},
			strip: []string{"-R", ".eh_frame", "-R", ".eh_frame_hdr", "--keep-section=.debug_frame"}},
		{name: "SFrame", compiler: "cc", from: ".sframe", flags: []string{"-O2", "-Wa,--gsframe"}, strip: []string{"-R", ".eh_frame", "-R", ".eh_frame_hdr"}},
	} {
		t.Run(v.name, func(t *testing.T) {
			if v.from == "" {
				v.from = ".eh_frame"
			}
			whole := compile(t, sources(t), v.compiler, "unnamed.c", v.flags...)
			stripped := filepath.Join(t.TempDir(), "stripped")
			run(t, "", "strip", append(v.strip, "-o", stripped, whole)...)
			checkMade(t, whole, stripped, v.from, isUnnamed)
		})
	}
}

// TestStubsWithoutSections: without section headers, as a file is in memory, linkage stubs are
// known by their code: one FDE covers all of them, and is no function.
func TestStubsWithoutSections(t *testing.T) {
	whole := compile(t, sources(t), "cc", "unnamed.c", "-O2")
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	clear(data[0x28:0x30]) // e_shoff
	clear(data[0x3c:0x40]) // e_shnum, e_shstrndx
	bare := filepath.Join(t.TempDir(), "bare")
	if err := os.WriteFile(bare, data, 0o700); err != nil {
		t.Fatal(err)
	}
	list, _ := functionsOf(t, whole)
	ms, bias := mapped(t, bare)
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	stubs, named := 0, 0
	for _, section := range sectionNames(t, whole) {
		if strings.HasPrefix(section, ".plt") {
			for _, pc := range textAddresses(t, whole, section, 1) {
				if l := s.Locate(ms, pc+bias)[0]; l.NameFrom != "" {
					t.Errorf("%s, %#x: %q", section, pc, l.Function)
				}
				stubs++
			}
		}
	}
	for _, f := range list {
		if want := fmt.Sprintf("bare!fn_%x", f.lo); isUnnamed(f.name) {
			if l := s.Locate(ms, f.lo+bias)[0]; l.Function != want {
				t.Errorf("%s: %q, want %s", f.name, l.Function, want)
			}
			named++
		}
	}
	if stubs == 0 || named == 0 {
		t.Errorf("%d bytes of stubs, %d functions", stubs, named)
	}
}

// TestThreadBegins: the C library's function that begins a thread has an FDE of its own for what
// the thread executes. The name is of the whole function.
func TestThreadBegins(t *testing.T) {
	dir := t.TempDir()
	source, whole, stripped := filepath.Join(dir, "thread.c"), filepath.Join(dir, "whole"), filepath.Join(dir, "stripped")
	const text = "#include <pthread.h>\nstatic void *f(void *p) { return p; }\nint main(void) { pthread_t t; return pthread_create(&t, 0, f, 0); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	gdbtest.NeedAMD64(t)
	run(t, dir, "cc", "-static", "-pthread", "-o", whole, source)
	run(t, dir, "strip", "-o", stripped, whole)
	list, _ := functionsOf(t, whole)
	i := slices.IndexFunc(list, func(f sized) bool { return f.name == "__clone3" || f.name == "clone3" })
	if i < 0 {
		gdbtest.Cannot(t, "this C library begins threads otherwise")
	}
	f, called := list[i], false
	ms, bias := mapped(t, stripped)
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	from, to := fmt.Sprintf("--start-address=%#x", f.lo), fmt.Sprintf("--stop-address=%#x", f.lo+f.size)
	for line := range strings.Lines(said(t, "objdump", "-d", "--no-show-raw-insn", from, to, whole)) {
		if addr, code, _ := strings.Cut(strings.TrimSpace(line), ":"); strings.Contains(code, "call ") {
			pc, err := strconv.ParseUint(addr, 16, 64)
			l := s.Locate(ms, pc+bias)[0]
			if want := fmt.Sprintf("stripped!fn_%x", f.lo); err != nil || l.Function != want || l.Offset != pc-f.lo {
				t.Errorf("%#x: %+v, want %s", pc, l, want)
			}
			called = true
		}
	}
	if !called {
		t.Error("nothing is called there")
	}
}

// TestMadeNamesOfOthers: the same with other compilers, for other processors.
func TestMadeNamesOfOthers(t *testing.T) {
	for _, v := range []struct {
		tools, compiler, from string
		flags                 []string
	}{
		{"", "clang", ".eh_frame", []string{"-O2"}},
		{"aarch64-linux-gnu-", "gcc", ".eh_frame", []string{"-O2"}},
		{"s390x-linux-gnu-", "gcc", ".eh_frame", []string{"-O2"}},
		{"i686-linux-gnu-", "gcc", ".eh_frame", []string{"-O2"}},
	} {
		t.Run(v.tools+v.compiler, func(t *testing.T) {
			whole := filepath.Join(t.TempDir(), "program")
			run(t, sources(t), gdbtest.Tool(t, v.tools+v.compiler), append(v.flags, "-o", whole, "unnamed.c")...)
			stripped := whole + "-stripped"
			run(t, "", gdbtest.Tool(t, v.tools+"strip"), "-o", stripped, whole)
			checkMade(t, whole, stripped, v.from, isUnnamed)
		})
	}
}

// TestMadeNamesOfArm: of the functions of 32-bit Arm, whose table lacks the entries of functions
// that unwind like the one before, those have names that are certain.
func TestMadeNamesOfArm(t *testing.T) {
	for _, mode := range []string{"-marm", "-mthumb"} {
		whole := filepath.Join(t.TempDir(), "program")
		run(t, sources(t), gdbtest.Tool(t, "arm-linux-gnueabihf-gcc"), "-O2", mode, "-funwind-tables", "-o", whole, "unnamed.c")
		stripped := whole + "-stripped"
		run(t, "", gdbtest.Tool(t, "arm-linux-gnueabihf-strip"), "-o", stripped, whole)
		list, _ := functionsOf(t, whole)
		ms, bias := mapped(t, stripped)
		s := New(Options{DebugDirs: []string{}})
		defer s.Close()
		named := map[string]bool{}
		for _, f := range list {
			f.lo &^= 1 // which says that it is Thumb code
			for pc := f.lo; isUnnamed(f.name) && pc < f.lo+f.size; pc += 2 {
				l := s.Locate(ms, pc+bias)[0]
				if l.Function != "" {
					named[f.name] = true
				}
				if want := fmt.Sprintf("%s!fn_%x", filepath.Base(stripped), f.lo); l.Function != "" && (l.Function != want || l.NameFrom != ".ARM.exidx") {
					t.Errorf("%s: %#x in %s: %q, want %q", mode, pc, f.name, l.Function, want)
				}
			}
		}
		if len(named) == 0 {
			t.Errorf("%s: no function has a name", mode)
		}
	}
}

// TestBehindExported: code behind a function that a stripped library exports is not the exported
// function's, if a table tells that another one begins there. The symbol of a function in assembly
// often has no size: gdb names what follows by it.
func TestBehindExported(t *testing.T) {
	dir := t.TempDir()
	source, whole := filepath.Join(dir, "exports.s"), filepath.Join(dir, "exports.so")
	function := func(name, exported string) string {
		return exported + "\n" + name + ":\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\nnop\npop %rbp\n.cfi_def_cfa_offset 8\nret\n.cfi_endproc\n"
	}
	text := ".text\n" + function("exported", ".globl exported\n.type exported, @function") + ".p2align 4\n" + function("hidden", ".type hidden, @function") + "nop\nnop\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "cc", "-shared", "-nostdlib", "-Wl,--hash-style=gnu", "-o", whole, source)
	stripped := filepath.Join(dir, "stripped.so")
	run(t, dir, "strip", "-o", stripped, whole)
	at := map[string]uint64{}
	for line := range strings.Lines(said(t, "nm", whole)) {
		if f := strings.Fields(line); len(f) == 3 {
			at[f[2]], _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	ms, bias := mapped(t, stripped)
	s := New(Options{DebugDirs: []string{}})
	defer s.Close()
	for i := range uint64(4) {
		if l := s.Locate(ms, at["exported"]+i+bias)[0]; l.Function != "exported" || !l.Named() {
			t.Errorf("exported+%d: %+v", i, l)
		}
		if l, want := s.Locate(ms, at["hidden"]+i+bias)[0], fmt.Sprintf("stripped.so!fn_%x", at["hidden"]); l.Function != want || l.NameFrom != ".eh_frame" {
			t.Errorf("hidden+%d: %+v, want %s", i, l, want)
		}
	}
	for _, a := range askGDB(t, stripped, []uint64{at["hidden"]}) { // or else this test is of nothing
		t.Logf("gdb says %q of the hidden function", a.Symbol)
	}
}
