package value_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestTextsAsGDB compares texts that end within a character, are no UTF-8, or have digits behind
// escapes.
func TestTextsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	var source strings.Builder
	source.WriteString("#include \"ready.h\"\n#include <uchar.h>\nint main(void)\n{\n\tarm();\n")
	n := 0
	array := func(of string, values ...int) {
		n++
		fmt.Fprintf(&source, "\t%s v%d[] = {", of, n)
		for _, v := range values {
			fmt.Fprintf(&source, "%d, ", v)
		}
		fmt.Fprintf(&source, "};\n\tKEEP(*v%d);\n", n)
	}
	for lead := 0xbe; lead <= 0xff; lead += 1 + lead&1 {
		for more := range 6 {
			array("unsigned char", append([]int{'a', lead}, slices.Repeat([]int{0x80 + lead%3*16}, more)...)...)
		}
	}
	for _, times := range []int{1, 10, 11, 12, 13, 205} {
		array("char", append(slices.Repeat([]int{'b'}, times), 0xe2, 0x82)...)
		array("char", append(append([]int{'"'}, slices.Repeat([]int{'\''}, times)...), 0xe2)...)
		array("char16_t", append(slices.Repeat([]int{0xd801}, times), 'f', '1', 'g', 0xe000, 0xa0, 0)...)
		array("char16_t", append(slices.Repeat([]int{'b'}, times), 'c', 0xd801)...) // it ends within a character
		array("char16_t", append(slices.Repeat([]int{0xd801}, times), 0xdc01, 0xdc01)...)
		array("char16_t", slices.Repeat([]int{0xd801}, times)...)
		array("char32_t", append(slices.Repeat([]int{0x110000}, times), 'A', '"', 7, 'b', 0x1f600)...)
	}
	source.WriteString("\tready();\n\tblock();\n\treturn 0;\n}\n")
	path := filepath.Join(t.TempDir(), "texts.c")
	if err := os.WriteFile(path, []byte(source.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var counts valuetest.Tally
	program := gdbtest.Compile(t, path, gdbtest.Tool(t, "gcc"), "-g", "-w", "-I"+gdbtest.Testdata(t, "progs"))
	localsAsGDB(t, program, "main", &counts, pretty)
	counts.Log(t)
}

// localsAtRandom stops a program at n random instructions.
func localsAtRandom(t *testing.T, program string, seed uint64, n int, counts *valuetest.Tally) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	r := rand.New(rand.NewPCG(seed, 1))
	functions := slices.DeleteFunc(gdbtest.Functions(t, program, ""), func(name string) bool { return !generatedName.MatchString(name) })
	for range n {
		at := gdbtest.CrashPoint{Function: functions[r.IntN(len(functions))], Steps: r.IntN(60)}
		t.Run(fmt.Sprintf("%s, %d steps", at.Function, at.Steps), func(t *testing.T) { // gdb itself may fail at one of them
			core := filepath.Join(t.TempDir(), "core")
			if text := gdbtest.FullAt(t, program, at, core); text != "" {
				got, lost := locals(t, openCore(t, core), raw)
				counts.Add(t, gdbtest.CompareFull(valuetest.Parse(t, text), got), lost)
			}
		})
	}
}

// generatedName matches the linker's names of functions in generated programs.
var generatedName = regexp.MustCompile(`^(_ZN?[KSRO]*(\d+\w+?)*?\d*)?(plain|again|tail|sized|function)\d+`)

// TestLocalsAsGDB compares arguments and locals of some generated programs with gdb's.
func TestLocalsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	var counts valuetest.Tally
	for _, tt := range []struct {
		program valuetest.Program
		build   int
	}{
		{valuetest.C(1), 0}, {valuetest.C(2), 1}, {valuetest.CXX(3), 0}, {valuetest.CXX(4), 1},
		{valuetest.CXX(7106), 6}, // strict DWARF 2: blocks have code that the inlined calls around them have not
		{valuetest.CXX(219), 1},  // a constructor, in two parts, has blocks without code beside other entries than its abstract instance
	} {
		b := valuetest.Builds[tt.build]
		t.Run(fmt.Sprint(tt.program.Name, b.Flags), func(t *testing.T) {
			localsAsGDB(t, valuetest.Compile(t, tt.program, b), "", &counts, raw)
		})
	}
	counts.Log(t)
}

// TestLocalsWithoutLines: a function that is in no file has its arguments all the same.
func TestLocalsWithoutLines(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := valuetest.Compile(t, valuetest.C(1), valuetest.Builds[0])
	lineless := filepath.Join(t.TempDir(), "lineless")
	cmd := exec.Command(gdbtest.Tool(t, "objcopy"), "--remove-section=.debug_line", program, lineless)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var counts valuetest.Tally
	localsAsGDB(t, lineless, "", &counts, raw)
	counts.Log(t)
}

// TestManyLocalsAsGDB does the same for all ways to compile.
func TestManyLocalsAsGDB(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	var counts valuetest.Tally
	for i, b := range valuetest.Builds {
		for seed := range uint64(3) {
			for _, p := range []valuetest.Program{valuetest.C(100*seed + uint64(i)), valuetest.CXX(100*seed + uint64(i))} {
				t.Run(fmt.Sprint(p.Name, " ", b.Compiler, b.Flags), func(t *testing.T) {
					counts.Known = nil
					if b.Compiler == "clang" {
						split := slices.Contains(b.Flags, "-gsplit-dwarf")
						counts.Known = func(d gdbtest.FullDifference) string { return valuetest.BetterClang(d, split) }
					}
					program := valuetest.Compile(t, p, b)
					localsAsGDB(t, program, "", &counts, raw)
					localsAtRandom(t, program, seed, 4, &counts)
				})
			}
		}
	}
	counts.Log(t)
}

// TestGoAsGDB compares Go's values, as the structs that they are.
func TestGoAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for variant, flags := range [][]string{nil, {"-gcflags=-N -l"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts valuetest.Tally
			localsAsGDB(t, gdbtest.Build(t, "govalues", flags...), "main.", &counts, raw)
			counts.Log(t)
		})
	}
}
