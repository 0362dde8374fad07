package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/i386"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

var breakpointText = regexp.MustCompile(`(?m)^Breakpoint \d+ at (0x[0-9a-f]+)`)

// breakpoints returns the addresses at which gdb puts breakpoints into the functions of a file that
// have a name of their own, by the functions' entries.
func breakpoints(t *testing.T, gdb, path string) map[uint64]uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, s := range list {
		count[s.Name]++
	}
	var script bytes.Buffer
	var functions []elf.Symbol
	for _, s := range list {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || count[s.Name] != 1 || strings.ContainsAny(s.Name, ".@") {
			continue
		}
		fmt.Fprintf(&script, "echo @%d\\n\nbreak -qualified %s\n", len(functions), s.Name)
		functions = append(functions, s)
	}
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("set breakpoint pending off\n"+guarded(script.String())), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(gdbtest.Tool(t, gdb), "-nx", "-batch", "-x", file, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", gdb, err, out)
	}
	want := make(map[uint64]uint64)
	for _, part := range strings.Split(string(out), "@")[1:] {
		number, rest, _ := strings.Cut(part, "\n")
		i, err := strconv.Atoi(number)
		at := breakpointText.FindStringSubmatch(rest)
		if err != nil || at == nil {
			continue
		}
		f := functions[i]
		// A name of a C++ destructor stands for its other variants, too.
		if pc, _ := strconv.ParseUint(at[1], 0, 64); pc >= f.Value && pc < f.Value+f.Size {
			want[f.Value] = pc
		}
	}
	return want
}

// guarded makes each break of a script a command of its own, after whose error the script goes on.
func guarded(script string) string {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if name, ok := strings.CutPrefix(line, "break "); ok {
			fmt.Fprintf(&b, "python\ntry:\n  gdb.execute('break %s')\nexcept gdb.error:\n  pass\nend\n", strings.TrimSpace(name))
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// SkipPrologue puts breakpoints where gdb does.
func TestSkipPrologue(t *testing.T) {
	gdbtest.NeedAMD64(t)
	type processor struct {
		arch         *arch.Arch
		cc, cxx, gdb string
	}
	processors := []processor{
		{amd64.Arch, "cc", "c++", "gdb"},
		{i386.Arch, "i686-linux-gnu-gcc", "i686-linux-gnu-g++", "gdb"},
		{arm64.Arch, "aarch64-linux-gnu-gcc", "", "gdb-multiarch"},
		{s390x.Arch, "s390x-linux-gnu-gcc", "", "gdb-multiarch"},
	}
	sources := []string{"clangstores.c", "framebase.c", "inline.c", "recurse.c", "cxxwait.cc", "threads.c", "realign.c", "prologue.c"}
	variant := 0
	for _, p := range processors {
		for _, flags := range []string{"-g -O0", "-g -O1", "-g -O2", "-g -O3", "-g -O1 -fno-var-tracking", "-O0", "-O2", "-O2 -static"} {
			if p.arch == i386.Arch && strings.HasPrefix(flags, "-g -O") && flags != "-g -O0" && flags != "-g -O1 -fno-var-tracking" {
				continue // with lists of locations, gdb skips nothing on any processor
			}
			t.Run(p.arch.Name+" "+flags, func(t *testing.T) {
				if strings.Contains(flags, "-O1") || strings.Contains(flags, "-O3") || flags == "-O0" {
					gdbtest.NeedSoak(t)
				}
				variant++
				gdbtest.Share(t, variant)
				equal, wrong, moved := 0, 0, 0
				static := strings.Contains(flags, "-static")
				for _, source := range sources {
					if static && source != "prologue.c" {
						continue // libc's functions, most of them written in C, are the same in all
					}
					tool := p.cc
					if strings.HasSuffix(source, ".cc") {
						tool = p.cxx
					}
					if tool == "" {
						continue
					}
					program := filepath.Join(t.TempDir(), "program")
					command := append(strings.Fields(flags), "-pthread", "-o", program, gdbtest.Testdata(t, "progs", source))
					if out, err := exec.Command(gdbtest.Tool(t, tool), command...).CombinedOutput(); err != nil {
						if p.arch != amd64.Arch && bytes.Contains(out, []byte("asm")) {
							continue // written for amd64
						}
						t.Fatalf("%s: %v: %s", tool, err, out)
					}
					im := walktest.Open(t, program)
					ms := target.NewModules([]*target.Module{walktest.Map(program, im, 0)}, nil)
					s := New(Options{})
					defer s.Close()
					for entry, want := range breakpoints(t, p.gdb, program) {
						got, how := s.SkipPrologue(ms, entry, p.arch, nil)
						if want != entry {
							moved++
						}
						if got == want {
							equal++
							continue
						}
						wrong++
						report := t.Errorf
						if static {
							report = t.Logf
						}
						report("%s, %s at %#x: +%d (%d), gdb has +%d", source, s.Locate(ms, entry)[0].Function, entry, got-entry, how, int64(want-entry))
					}
				}
				t.Logf("%d equal, %d of them behind the entry, %d different", equal, moved, wrong)
				if wrong*100 > equal {
					t.Errorf("%d functions differ", wrong)
				}
				if equal < 20 {
					t.Errorf("%d functions compared", equal)
				}
			})
		}
	}
}
