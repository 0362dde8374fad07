//go:build linux

package symbol

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
)

// answer is gdb's answer for an address (testdata/locate.py).
type answer struct {
	PC     uint64
	Chain  []frame
	File   string
	Line   int
	Symbol string

	calls []*call // what is at PC by debug/dwarf, where gdb stretches inlined calls
}

// frame is a function in gdb's answer, or a call inlined into the next one.
type frame struct {
	Function, File string
	Line           int
	Args           bool
}

// askGDB returns gdb's answers for link-time addresses of an ELF file. commands
// run before the file is opened.
func askGDB(t testing.TB, file string, addresses []uint64, commands ...string) []answer {
	t.Helper()
	answers := runGDB(t, "testdata/locate.py", file, addresses, commands...)
	setCalls(t, answers, file)
	return answers
}

func runGDB(t testing.TB, script, file string, addresses []uint64, commands ...string) []answer {
	t.Helper()
	program, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	said := gdbtest.Recorded(t, "gdb", file, fmt.Sprintf("%s %q %d", program, commands, addresses), func() string {
		return runScript(t, script, file, addresses, commands)
	})
	var answers []answer
	for line := range strings.Lines(said) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(addresses) {
		t.Fatalf("gdb gave %d answers for %d addresses", len(answers), len(addresses))
	}
	return answers
}

// runScript has gdb run the script, and returns what that writes: a line for each address.
func runScript(t testing.TB, script, file string, addresses []uint64, commands []string) string {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "addresses"), filepath.Join(dir, "answers")
	var text strings.Builder
	for _, a := range addresses {
		fmt.Fprintln(&text, a)
	}
	if err := os.WriteFile(in, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"-nx", "-batch", "-iex", "set debuginfod enabled off"}
	for _, c := range commands {
		args = append(args, "-iex", c)
	}
	args = append(args, "-ex", fmt.Sprintf("python PARAMS = {'addresses': %q, 'out': %q}", in, out), "-x", script, file)
	if msg, err := exec.Command(gdbtest.Tool(t, "gdb"), args...).CombinedOutput(); err != nil {
		t.Fatalf("gdb: %v\n%s", err, msg)
	}
	said, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// run is a command in a directory ("" for the test's own).
func run(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	c := exec.Command(gdbtest.Tool(t, name), args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// sources copies the test's sources to a directory, where they are compiled.
func sources(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// compile builds one of the test's sources in dir and returns the program.
func compile(t testing.TB, dir, compiler, source string, flags ...string) string {
	t.Helper()
	gdbtest.NeedAMD64(t)
	out := filepath.Join(t.TempDir(), "program")
	run(t, dir, compiler, append(flags, "-o", out, source)...)
	return out
}

const testBias = 0x5555_0000_0000

// mapped makes the module list of a process that runs file.
func mapped(t testing.TB, file string) (ms *target.Modules, bias uint64) {
	t.Helper()
	im := walktest.Open(t, file)
	if im.Type == elf.ET_DYN {
		bias = testBias
	}
	return target.NewModules([]*target.Module{walktest.Map(file, im, bias)}, nil), bias
}

// textAddresses returns every step-th address of a section.
func textAddresses(t testing.TB, file, section string, step uint64) []uint64 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(section)
	if s == nil {
		t.Fatalf("%s has no section %s", file, section)
	}
	var addresses []uint64
	for a := s.Addr; a < s.Addr+s.Size; a += step {
		addresses = append(addresses, a)
	}
	return addresses
}

// addressesOf returns every step-th address of the functions that are wanted.
func addressesOf(t testing.TB, file string, step uint64, wanted func(name string) bool) []uint64 {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var addresses []uint64
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && wanted(s.Name) {
			for a := s.Value; a < s.Value+s.Size; a += step {
				addresses = append(addresses, a)
			}
		}
	}
	if len(addresses) == 0 {
		t.Fatalf("%s: no such functions", file)
	}
	return addresses
}

var rustDetails = regexp.MustCompile(`\[[0-9a-f]{12,16}\]|::h[0-9a-f]{16}|: [iu](8|16|32|64|128|size)\b`)

// aliases are the names that a file's symbol tables have for an address.
type aliases map[uint64]map[string]bool

func (names aliases) add(t *testing.T, im *elfimage.Image) {
	t.Helper()
	f, err := im.Standard()
	if err != nil {
		t.Fatal(err)
	}
	static, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(static, dynamic...) {
		if names[s.Value] == nil {
			names[s.Value] = make(map[string]bool)
		}
		names[s.Value][demangleSymbol(s.Name)] = true
		names[s.Value][s.Name] = true // which gdb shows where it cannot demangle a constraint
	}
}

// same reports whether two names are of one function. gdb takes the alias that
// comes last in the string table, whatever it is. If its Ada demangler has a say,
// gdb leaves out the number at the end of "f.constprop.0".
func (names aliases) same(start uint64, ours, gdb string) bool {
	at := names[start]
	for name := range at {
		if i := strings.LastIndexByte(name, '.'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
			at[name[:i]] = true
		}
	}
	return at[ours] && at[gdb]
}

// withoutParameters does the same as display in testdata/locate.py.
func withoutParameters(name string) string {
	end := strings.LastIndexByte(name, ')')
	if end < 0 || !strings.HasSuffix(name, ")") && !strings.HasSuffix(name, "const") && !strings.HasSuffix(name, "&") && !strings.HasSuffix(name, "]") {
		return name
	}
	depth := 0
	for i := end; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if strings.HasSuffix(name[:i], "operator") {
					return name
				}
				return name[:i]
			}
		}
	}
	return name
}

// ownNames returns a chain without a name that is made of where the function begins: gdb has none.
func ownNames(chain []Location) []Location {
	if f := &chain[len(chain)-1]; f.NameFrom != "" {
		f.Function, f.NameFrom, f.Start, f.End, f.Offset = "", "", 0, 0, 0
	}
	return chain
}

// compare checks Locate's answers for addresses against gdb's. It returns the
// number of inlined calls, lines and names from symbols that it saw.
func compare(t *testing.T, s *Symbolizer, file string, answers []answer) (inlined, lines, symbols int) {
	t.Helper()
	ms, bias := mapped(t, file)
	names := make(aliases)
	for _, m := range ms.All() {
		mod := s.tables(m).elf
		names.add(t, mod.image)
		if mod.debug != nil {
			names.add(t, mod.debug)
		}
	}
	failed := 0
	fail := func(format string, args ...any) {
		t.Helper()
		if failed++; failed <= 20 {
			t.Errorf(format, args...)
		}
	}
	for _, a := range answers {
		got := ownNames(s.Locate(ms, a.PC+bias))
		wantPlace := fmt.Sprintf("%s:%d", a.File, a.Line)
		if len(a.Chain) == 0 {
			if len(got) != 1 {
				fail("%#x: %d locations, gdb has none: %+v", a.PC, len(got), got)
				continue
			}
			l := got[0]
			// gdb shows the hashes in Rust's symbols, and the types of numbers.
			a.Symbol = rustDetails.ReplaceAllString(a.Symbol, "")
			// gdb 15 takes the names of C's cold parts for Ada's.
			a.Symbol = strings.Replace(a.Symbol, "[cold]", ".cold", 1)
			name, _, _ := strings.Cut(a.Symbol, " + ")
			if name == "asm_inside" && l.Function == "" {
				continue // padding: gdb reaches back to a label within the function before
			}
			if l.Function != name && !names.same(l.Start-bias, l.Function, name) {
				fail("%#x: symbol %q, gdb says %q", a.PC, l.Function, a.Symbol)
			}
			want := name
			if l.Offset > 0 {
				want = fmt.Sprintf("%s + %d", name, l.Offset)
			}
			if a.Symbol != want {
				fail("%#x: offset %d, gdb says %q", a.PC, l.Offset, a.Symbol)
			}
			if name != "" {
				symbols++
			}
			if place := fmt.Sprintf("%s:%d", l.File, l.Line); place != wantPlace {
				fail("%#x: %s, gdb says %s", a.PC, place, wantPlace)
			}
			continue
		}
		var ours, theirs []string
		for i, l := range got {
			ours = append(ours, fmt.Sprintf("%s args=%t inline=%t at %s:%d", withoutParameters(l.Function), l.Args == ArgsSome, l.Inline, l.File, l.Line))
			if l.Start+l.Offset != a.PC+bias {
				fail("%#x: Start %#x + Offset %#x is not the address", a.PC, l.Start, l.Offset)
			}
			if l.Inline != (i < len(got)-1) {
				fail("%#x: location %d of %d: Inline is %t", a.PC, i, len(got), l.Inline)
			}
		}
		for i, f := range a.Chain {
			// gdb does not see parameters without a name, or in a template's pack.
			if i < len(got) && strings.ContainsAny(f.Function, ": >") && got[i].Args == ArgsSome {
				f.Args = true
			}
			theirs = append(theirs, fmt.Sprintf("%s args=%t inline=%t at %s", f.Function, f.Args, i < len(a.Chain)-1, wantPlace))
			wantPlace = ":0"
			if f.Line > 0 { // if the call has no line, a backtrace shows no file either
				wantPlace = fmt.Sprintf("%s:%d", f.File, f.Line) // where it was inlined
			}
		}
		// The demanglers differ in spaces between brackets.
		spelling := strings.NewReplacer(" >", ">")
		is, want := spelling.Replace(strings.Join(ours, "\n\t")), spelling.Replace(strings.Join(theirs, "\n\t"))
		if is != want && !(a.stretched(got) && got[0].File == a.File && got[0].Line == a.Line) {
			fail("%#x:\n\t%s\ngdb says\n\t%s", a.PC, is, want)
		}
		inlined += len(got) - 1
		if got[0].Line > 0 {
			lines++
		}
	}
	if failed > 20 {
		t.Errorf("%d differences in %d addresses", failed, len(answers))
	}
	for _, m := range ms.All() {
		for _, w := range s.Warnings(m) {
			t.Error(w)
		}
	}
	return inlined, lines, symbols
}
