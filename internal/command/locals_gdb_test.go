//go:build linux

package command

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// better says why a value that gdb has in another way is no defect, or returns "".
func better(d gdbtest.FullDifference) string {
	entry := strings.HasSuffix(d.Name, "@entry")
	switch {
	case privateUse.MatchString(d.Got):
		return "gdb sends characters of private use to the terminal"
	case strings.Contains(d.Want, "Python Exception"):
		return "the printer fails in gdb"
	case noLazyString.ReplaceAllString(d.Want, "<error: Cannot access memory at address $1>") == d.Got:
		return "gdb says in other words that a text lies at address 0"
	case strings.Contains(d.Got, "<not saved>") && d.Level > 0:
		return "gdb takes a register that the callee need not preserve for the caller's"
	case d.Want == "<optimized out>" && strings.HasPrefix(d.Got, d.Name+"@entry="), d.Got == d.Name+"@entry="+d.Want, d.Want == "(not there)" && entry:
		// The caller's debug information tells the argument, and the stack that it is this function that was called.
		return "gdb does not find the function that the caller calls: by its abstract entry, or by its declaration in C++"
	case d.Level == 0 && (d.Want == d.Name+"@entry="+d.Got || d.Got == "(not there)" && entry):
		return "gdb takes a register that the callee need not preserve for the caller's, to compute an argument at the entry"
	case strings.Contains(d.Want, "Attempt to dereference a generic pointer"), d.Want == "<incomplete type>" && d.Got == "0x0":
		return "gdb 13 cannot print nullptr_t"
	case strings.Contains(d.Want, "Unhandled DWARF expression opcode 0xa"):
		return "gdb 13 lacks DW_OP_constx in split DWARF"
	case strings.Contains(d.Want, "DW_OP_GNU_uninit must always be the very last op"):
		return "gdb fails for a value that is marked as uninitialized and not the last of its location"
	case strings.Contains(d.Got, "<optimized out> <repeats ") && strings.Contains(d.Want, `'\000' <repeats`):
		return "gdb shows zeros for characters that are optimized out"
	case strings.HasPrefix(d.Name, "vla") && strings.HasPrefix(d.Got, "0x") && d.Want == "<optimized out>":
		return "gdb 18 shows no address for an array of unknown length"
	case strings.HasPrefix(d.Function, "values::") && (strings.Contains(d.Got, `'\u{`) || strings.Contains(d.Got, `'\x`)) || strings.Replace(d.Got, `\000"`, `\0"`, 1) == d.Want:
		return "gdb 18 writes Rust's characters in another way"
	case d.Want == "(not there)" && d.Function == "values::main" && d.Name == "shadowed":
		return "gdb 18 leaves out Rust's variables that others hide"
	case adaSuffix.ReplaceAllString(d.Want, "$1.$2$3>") == d.Got:
		return "gdb takes a name with a dot for one of Ada"
	case noDecimals(d.Want, d.Got):
		// The program's own arithmetic agrees: TestDecimalsAsProgram. gdb takes the digits of a NaN for packed ones, too.
		return "gdb reads digits of a decimal number that has none"
	case strings.ReplaceAll(d.Want, " = 0x0,", " = <optimized out>,") == d.Got && strings.Contains(d.Want, "{_vptr."):
		return "gdb shows zero for the table of virtual functions of a base that is optimized out"
	case float16.MatchString(d.Want) || d.Instead != "" && float16.MatchString(d.Function):
		return "gdb's demangler does not know _Float16"
	case strings.Contains(d.Want, "integers of more than 8 bytes"):
		return "gdb has an error where more than 8 bytes are computed with, for an argument at a call site, too"
	case strings.Contains(d.Want, "> = <invalid address>"):
		// gdb evaluates the place of the base without the object (gnu-v3-abi.c: "we don't set valaddr here"), and reads at address 0.
		return "gdb finds no virtual base of an object that is in no memory"
	case d.Function == "class_35::function9" && d.Name == "v30" && strings.Contains(d.Got, "m28 = <optimized out>, m29 = <optimized out>}}"):
		// llvm-dwarfdump: the pieces are 33 of 40 bytes. As with all that is behind the last piece, gdb's buffer begins with zeros.
		return "gdb has zeros for what is behind the last piece"
	case strings.HasSuffix(d.Got, unknownAdjustment) && (strings.TrimSuffix(d.Got, unknownAdjustment) == d.Want || d.Want == "<optimized out>"):
		return noAdjustment
	case formatting.MatchString(d.Want) && formatting.ReplaceAllStringFunc(d.Want, func(s string) string { return fmt.Sprintf(`\x%x`, []rune(s)[0]) }) == d.Got:
		return "gdb sends characters that steer how others are shown to the terminal"
	case rcText.MatchString(d.Want) && rcValue.ReplaceAllString(d.Want, "") == rcValue.ReplaceAllString(d.Got, "") && strings.Contains(d.Got, "value: 115}"):
		// The text is "shared", in values.rs.
		return "gdb has zero for a member behind the end of its struct, as that of an Rc<str>"
	case rcText.MatchString(d.Want) && strings.Contains(d.Want, rcWhole) && strings.Contains(d.Got, "value: 115}"):
		return "gdb 16 shows the whole text at the end of an Rc<str>, and we show where it begins"
	case d.Want == "<error reading variable: value has been optimized out>" && (d.Got == "<optimized out>" || d.Got == "..."):
		return "gdb has an error for a slice of Rust that is optimized out"
	case d.Name == "by_trait" && strings.ReplaceAll(d.Want, "<synthetic pointer>", "<optimized out>") == d.Got:
		// llvm-dwarfdump: the location is one piece of 8 bytes, and no implicit pointer.
		return "gdb takes what is behind the last piece for a synthetic pointer"
	case d.Namesake: // a pack of arguments, which clang gives one name
		return "gdb looks arguments up by their names, and finds another one"
	case d.NamesakeLocal && d.Got == "<optimized out>":
		// readelf: an abstract instance of Rust has both an argument and a variable "count", and an inlined call the location of the variable
		// alone. gdb's "info address" has one place for both.
		return "gdb looks arguments up by their names, and finds a local of this name"
	case strings.HasPrefix(d.Want, "@0x") && virtualBase.ReplaceAllString(d.Want, "") == virtualBase.ReplaceAllString(d.Got, ""):
		// In the same frame, gdb itself has the values that we have for the object that the reference refers to.
		return "gdb misplaces the virtual base of an object that a reference to a base refers to"
	case d.Twice && d.Want == "<optimized out>":
		// readelf: with LTO, an inlined call of memcpy has the arguments of one abstract instance, with locations, and those of another one.
		// gdb's "info address" knows the latter alone. The code loads the third argument from the register of the former.
		return "gdb looks arguments up by their names, and finds a second one"
	case strings.Contains(d.Want, "more than max-value-size"):
		return "gdb reads no object of more than 64 KiB"
	case strings.Contains(d.Want, seenStatic) && staticArray.ReplaceAllString(d.Got, "${1}"+seenStatic) == d.Want:
		// TestStaticsAsGDB asks for the array by its name, too.
		return "gdb leaves out a static array of a type that it has shown, be it in another frame"
	case strings.Contains(d.Want, "Cannot find thread-local variables on this target"):
		return "gdb does not find the thread-local storage of a static program"
	}
	return betterNewer(d)
}

const (
	unknownAdjustment = ", this adjustment <optimized out>"
	noAdjustment      = "gdb 13 has zeros for the adjustment of a pointer to a method, which is behind the last piece, and gdb 16 shows nothing of the pointer"
)

const seenStatic = "<same as static member of an already seen type>"

// staticArray matches a static member that is an array of numbers.
var staticArray = regexp.MustCompile(`(static \w+ = )\{\d[^{}]*\}`)

// adaSuffix matches a symbol that gdb has taken for one that Ada's compiler made.
var adaSuffix = regexp.MustCompile(`(<[^<> ]+)\[([\w.]+)\](\+\d+)?>`)

// noDecimals reports whether texts differ in decimal numbers alone whose coefficient has too many digits (IEEE 754, section 3.5.2), or that
// are none.
func noDecimals(want, got string) bool {
	a, b := decimal.FindAllString(want, -1), decimal.FindAllString(got, -1)
	if len(a) != len(b) || decimal.ReplaceAllString(want, "") != decimal.ReplaceAllString(got, "") {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !noDecimal.MatchString(b[i]) {
			return false
		}
	}
	return want != got
}

// decimal matches numbers, noDecimal those of decimal types that are zero or none.
var (
	decimal   = regexp.MustCompile(`-?\d+(\.\d+)?(E[+-]\d+)?|-?s?NaN\d*|-?Infinity`)
	noDecimal = regexp.MustCompile(`^-?0(E[+-]\d+|\.0+)?$|^-?s?NaN\d*$`)
)

// virtualBase matches a base with a table of virtual functions and one member.
var virtualBase = regexp.MustCompile(`<\w+> = \{_vptr[.$]\w+ = 0x[0-9a-f]+( <[^<>]*>)?, \w+ = -?\d+\}`)

// rcText matches what an Rc<str> counts with, rcValue the first byte of what is behind the counters.
var (
	rcText  = regexp.MustCompile(`Rc(Inner|Box)<str>`)
	rcValue = regexp.MustCompile(`\bvalue: \d+\}`)
)

// rcWhole is "shared", in values.rs.
const rcWhole = "value: [115, 104, 97, 114, 101, 100]"

// float16 matches the linkage name of a function of _Float16.
var float16 = regexp.MustCompile(`_Z\w+DF16_`)

// noLazyString matches what gdb has for a text that its printers look for at address 0: there is no memory, and so nothing is read.
var noLazyString = regexp.MustCompile(`<error reading variable: Cannot create a lazy string with address (0x0), and a non-zero length\.>`)

// formatting matches characters of Unicode's category Cf, such as those that turn the direction of a text.
var formatting = regexp.MustCompile(`\p{Cf}`)

var privateUse = regexp.MustCompile(`\\u[ef][0-9a-f]{3}`)

// A tally counts what is compared.
type tally struct {
	frames, values, equal int
	why                   map[string]int
	constants             map[string]bool                     // names of the program's variables that are such constants; "" stands for any
	known                 func(gdbtest.FullDifference) string // says why a difference is no defect, or returns ""
}

// add counts a comparison with what the command has printed. Variables that are computed from a register which no frame further in
// has saved are lost.
func (c *tally) add(t *testing.T, c2 *gdbtest.FullComparison, lost map[lostVariable]bool) {
	t.Helper()
	c.frames, c.values, c.equal = c.frames+c2.Frames, c.values+c2.Values, c.equal+c2.Equal
	if c.why == nil {
		c.why = map[string]int{}
	}
	for _, d := range c2.Different {
		inner := d
		if lost[lostVariable{d.TID, d.Level, innermostCode}] {
			inner.Level = 0
		}
		why := better(inner)
		if why == "" && !strings.Contains(d.Got, "<optimized out>") && lost[lostVariable{d.TID, d.Level, jumped + d.Name}] {
			why = "gdb takes registers of the function that a tail call leads to for those of the one that jumps"
		}
		if why == "" && lost[lostVariable{d.TID, d.Level, inlinedCall}] && (d.Want == d.Name+"@entry="+d.Got || d.Got == "(not there)" && strings.HasSuffix(d.Name, "@entry")) {
			// gdb finds the register by the location at the beginning of the inlined call (loclist_read_variable_at_entry), and has its value at the
			// beginning of the function around that from the call site, whatever came between.
			why = "gdb takes what a register has where the function begins for what it has where an inlined call begins"
		}
		if why == "" && strings.Contains(d.Got, "<optimized out>") && lost[lostVariable{d.TID, d.Level, d.Name}] {
			why = "gdb takes a register that the callee need not preserve for the caller's"
		}
		if why == "" && strings.HasPrefix(d.Name, "vla") && strings.HasPrefix(d.Got, "0x") && lost[lostVariable{d.TID, d.Level, vlaLength}] {
			why = "gdb takes a register that the callee need not preserve for the caller's, for the length of an array"
		}
		if why == "" && d.Want == "(not there)" && c.constants != nil && (c.constants[d.Name] || c.constants[""]) {
			why = "gdb 13 leaves out what is a constant of several bytes"
		}
		if why == "" && c.known != nil {
			why = c.known(d)
		}
		if why != "" {
			c.why[why]++
		} else {
			t.Error(d)
		}
	}
	if c2.Reordered > 0 {
		t.Errorf("frames have their locals in another order: %q", c2.ReorderedIn)
	}
}

type lostVariable struct {
	tid, level int
	name       string
}

// locals returns what the command prints of all variables, and which of them are lost.
func locals(t *testing.T, flags []string, args ...string) (text string, lost map[lostVariable]bool) {
	t.Helper()
	args = append(append(args, "--locals"), flags...)
	text, stderr, err := command(args...)
	if err != nil || stderr != "" {
		t.Errorf("%q: %v %s", args, err, stderr)
	}
	out, _, err := command(append(args, "--json", "--explain")...)
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	type known struct{ Name, Value, Why string }
	var said struct {
		Threads []struct {
			TID    int
			Frames []struct {
				Level        int
				Type         string
				Args, Locals []known
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	lost = make(map[lostVariable]bool)
	for i := range said.Threads {
		tail := false // the function that further frames are inlined into has left by a jump
		for _, f := range slices.Backward(said.Threads[i].Frames) {
			tail = f.Type == frame.TailCall.String() || tail && f.Type == frame.Inline.String()
			for _, v := range f.Args {
				if tail {
					lost[lostVariable{said.Threads[i].TID, f.Level, jumped + v.Name}] = true
					lost[lostVariable{said.Threads[i].TID, f.Level - 1, jumped + v.Name + "@entry"}] = true
				}
			}
		}
		inner := true // all frames so far are inlined calls
		for _, f := range said.Threads[i].Frames {
			if inner {
				lost[lostVariable{said.Threads[i].TID, f.Level, innermostCode}] = true
			}
			if f.Type == frame.Inline.String() {
				lost[lostVariable{said.Threads[i].TID, f.Level, inlinedCall}] = true
			}
			inner = inner && f.Type == frame.Inline.String()
			for _, v := range slices.Concat(f.Args, f.Locals) {
				if strings.Contains(v.Why, "not saved") {
					lost[lostVariable{said.Threads[i].TID, f.Level, v.Name}] = true
				}
				if strings.HasPrefix(v.Name, vlaLength) && v.Value == "<not saved>" {
					lost[lostVariable{said.Threads[i].TID, f.Level, vlaLength}] = true
				}
			}
		}
	}
	return text, lost
}

const (
	vlaLength     = "__vla_expr"  // begins the names that clang gives to the lengths of arrays
	inlinedCall   = "(inlined)"   // stands for the function of an inlined call
	innermostCode = "(innermost)" // stands for the innermost function, in which further calls may be inlined
	jumped        = "(jumped) "   // begins the names of arguments in a frame that has left by a tail call, and at the entry of where that leads
)

func (c *tally) log(t *testing.T) {
	t.Helper()
	t.Logf("%d frames, %d values, %d equal; %v", c.frames, c.values, c.equal, c.why)
}

func isBytes(v any) bool {
	_, ok := v.([]byte)
	return ok
}

// byteConstants returns the names of a program's variables that the debug information has as the bytes of a constant; and of those
// that are constants and belong to no block, for gdb. With split DWARF, any may be one.
func byteConstants(t *testing.T, program string) map[string]bool {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section(".debug_info") == nil {
		return map[string]bool{"": true} // it is in another file
	}
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	abstract := map[dwarf.Offset]string{}
	var origins []dwarf.Offset
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		const gnuDwoName = 0x2130
		if e.Val(dwarf.AttrDwoName) != nil || e.Val(gnuDwoName) != nil {
			names[""] = true
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		abstract[e.Offset] = name
		external, _ := e.Val(dwarf.AttrExternal).(bool)
		if constant := e.AttrField(dwarf.AttrConstValue); constant != nil && (isBytes(constant.Val) || external) {
			if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				origins = append(origins, origin)
			} else {
				names[name] = true
			}
		}
	}
	for _, off := range origins {
		names[abstract[off]] = true
	}
	return names
}

// compileValues compiles a generated program.
func compileValues(t *testing.T, p valuetest.Program, b valuetest.Build) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), p.Name)
	if err := os.WriteFile(path, []byte(p.Source), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := b.Command(p)
	if slices.Contains(cmd, "-gsplit-dwarf") { // the other file must stay where it is
		program := strings.TrimSuffix(path, filepath.Ext(path))
		c := exec.Command(gdbtest.Tool(t, cmd[0]), append(cmd[1:], path, "-o", program)...)
		c.Dir = filepath.Dir(path)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return program
	}
	return gdbtest.Compile(t, path, append([]string{gdbtest.Tool(t, cmd[0])}, cmd[1:]...)...)
}

// localsAsGDB compares what `sfwalk core --locals`, and `sfwalk attach`, print of a program that waits with gdb's bt full.
// Only frames of functions that begin with own count.
func localsAsGDB(t *testing.T, program, own string, counts *tally, flags []string, options ...gdbtest.FullOption) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	counts.constants = byteConstants(t, program)
	p := gdbtest.Start(t, program)
	core := filepath.Join(t.TempDir(), "core")
	want := parseFull(t, gdbtest.Full(t, p.PID, core, options...))
	for i := range want {
		for n := range want[i].Frames {
			if f := &want[i].Frames[n]; !strings.HasPrefix(f.Function, own) {
				f.Args, f.Locals = "", nil
			}
		}
	}
	for _, args := range [][]string{{"core", core}, {"attach", strconv.Itoa(p.PID)}} {
		out, lost := locals(t, flags, args...)
		counts.add(t, gdbtest.CompareFull(want, parseFull(t, out)), lost)
	}
}

// TestTextsAsGDB compares texts that end within a character, are no UTF-8, or have digits behind escapes.
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
	var counts tally
	program := gdbtest.Compile(t, path, gdbtest.Tool(t, "gcc"), "-g", "-w", "-I"+gdbtest.Testdata(t, "progs"))
	localsAsGDB(t, program, "main", &counts, nil)
	counts.log(t)
}

// localsAtRandom stops a program at n random instructions.
func localsAtRandom(t *testing.T, program string, seed uint64, n int, counts *tally) {
	t.Helper()
	t.Setenv("LC_ALL", "C.UTF-8")
	r := rand.New(rand.NewPCG(seed, 1))
	functions := slices.DeleteFunc(gdbtest.Functions(t, program, ""), func(name string) bool { return !generatedName.MatchString(name) })
	for range n {
		at := gdbtest.CrashPoint{Function: functions[r.IntN(len(functions))], Steps: r.IntN(60)}
		t.Run(fmt.Sprintf("%s, %d steps", at.Function, at.Steps), func(t *testing.T) { // gdb itself may fail at one of them
			core := filepath.Join(t.TempDir(), "core")
			if text := gdbtest.FullAt(t, program, at, core); text != "" {
				out, lost := locals(t, []string{"--raw"}, "core", core)
				counts.add(t, gdbtest.CompareFull(parseFull(t, text), parseFull(t, out)), lost)
			}
		})
	}
}

// generatedName matches the linker's names of functions in generated programs.
var generatedName = regexp.MustCompile(`^(_ZN?[KSRO]*(\d+\w+?)*?\d*)?(plain|again|tail|sized|function)\d+`)

func parseFull(t *testing.T, text string) []gdbtest.FullThread {
	t.Helper()
	threads, err := gdbtest.ParseFull(text)
	if err != nil {
		t.Fatal(err)
	}
	return threads
}

// TestLocalsAsGDB compares arguments and locals of some generated programs with gdb's.
func TestLocalsAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	var counts tally
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
			localsAsGDB(t, compileValues(t, tt.program, b), "", &counts, []string{"--raw"})
		})
	}
	counts.log(t)
}

// TestLocalsWithoutLines: a function that is in no file has its arguments all the same.
func TestLocalsWithoutLines(t *testing.T) {
	gdbtest.NeedAMD64(t)
	program := compileValues(t, valuetest.C(1), valuetest.Builds[0])
	lineless := filepath.Join(t.TempDir(), "lineless")
	cmd := exec.Command(gdbtest.Tool(t, "objcopy"), "--remove-section=.debug_line", program, lineless)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var counts tally
	localsAsGDB(t, lineless, "", &counts, []string{"--raw"})
	counts.log(t)
}

// TestManyLocalsAsGDB does the same for all ways to compile.
func TestManyLocalsAsGDB(t *testing.T) {
	gdbtest.NeedSoak(t)
	gdbtest.NeedAMD64(t)
	var counts tally
	for i, b := range valuetest.Builds {
		for seed := range uint64(3) {
			for _, p := range []valuetest.Program{valuetest.C(100*seed + uint64(i)), valuetest.CXX(100*seed + uint64(i))} {
				t.Run(fmt.Sprint(p.Name, " ", b.Compiler, b.Flags), func(t *testing.T) {
					counts.known = nil
					if b.Compiler == "clang" {
						split := slices.Contains(b.Flags, "-gsplit-dwarf")
						counts.known = func(d gdbtest.FullDifference) string { return betterClang(d, split) }
					}
					program := compileValues(t, p, b)
					localsAsGDB(t, program, "", &counts, []string{"--raw"})
					localsAtRandom(t, program, seed, 4, &counts)
				})
			}
		}
	}
	counts.log(t)
}

// betterClang says why a value of a program of clang that gdb has in another way is no defect, or returns "".
func betterClang(d gdbtest.FullDifference, split bool) string {
	lost := strings.ReplaceAll(d.Want, "<synthetic pointer>", "<optimized out>")
	if lost != d.Want { // texts behind the last piece are zeros in gdb
		lost = zeroText.ReplaceAllStringFunc(lost, func(text string) string {
			return "{" + strings.Repeat("<optimized out>, ", len(text[1:len(text)-1])/len(`\000`)) + "<optimized out>}"
		})
	}
	switch {
	case lost != d.Want && (lost == d.Got || d.Got == "<optimized out>" && nothingKnown.MatchString(lost)):
		return "gdb takes what is behind the last piece for a synthetic pointer" // LLVM writes no DW_OP_implicit_pointer
	case split && strings.Contains(d.Want, "<optimized out>"):
		// gdb 13 leaves out what DW_LLE_base_addressx adds to the addresses of a list: "info address" has ranges that begin near the file's
		// first address, llvm-dwarfdump those of the code.
		return "gdb 13 reads lists of locations in split DWARF with the wrong base"
	}
	return ""
}

// zeroText matches a text of zeros, which lacks the last one.
var zeroText = regexp.MustCompile(`"(\\000)*"`)

// nothingKnown matches a struct whose members are all optimized out.
var nothingKnown = regexp.MustCompile(`^(\{+|\}+|, |\w+ = |<optimized out>( <repeats \d+ times>)?)*$`)

// TestContainersAsGDB compares libstdc++'s containers with what its own printers for gdb make of them.
func TestContainersAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	for _, flags := range [][]string{{"-O0"}, {"-O2"}} {
		t.Run(flags[0], func(t *testing.T) {
			if flags[0] != "-O0" {
				gdbtest.NeedSoak(t)
			}
			var counts tally
			program := gdbtest.Build(t, "containers.cc", append([]string{"-g"}, flags...)...)
			localsAsGDB(t, program, "", &counts, nil, gdbtest.WithScripts())
			localsAsGDB(t, program, "", &counts, []string{"--raw"})
			counts.log(t)
		})
	}
}

// TestRustAsGDB compares Rust's values, also with what the compiler's own printers for gdb make of them.
func TestRustAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for _, flags := range [][]string{{"-Copt-level=0"}, {"-O"}} {
		t.Run(flags[0], func(t *testing.T) {
			var counts tally
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "values.rs"), slices.Concat([]string{gdbtest.Tool(t, "rustc"), "--edition=2021", "-g"}, flags)...)
			localsAsGDB(t, program, "values::", &counts, []string{"--raw"})
			counts.log(t)
		})
	}
}

// TestRustLibraryAsGDB compares Rust's values with what the compiler's own printers for gdb make of them.
func TestRustLibraryAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	rustc := gdbtest.Tool(t, "rustc")
	root, err := exec.Command(rustc, "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	printers := filepath.Join(strings.TrimSpace(string(root)), "lib/rustlib/etc")
	if _, err := os.Stat(filepath.Join(printers, "gdb_load_rust_pretty_printers.py")); err != nil {
		gdbtest.Cannot(t, "this rustc has no printers for gdb: "+err.Error())
	}
	var counts tally
	program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "values.rs"), rustc, "--edition=2021", "-g")
	localsAsGDB(t, program, "values::", &counts, nil, gdbtest.WithScripts(printers))
	counts.log(t)
}

// TestGoAsGDB compares Go's values, as the structs that they are.
func TestGoAsGDB(t *testing.T) {
	gdbtest.NeedAMD64(t)
	for variant, flags := range [][]string{nil, {"-gcflags=-N -l"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			gdbtest.Share(t, variant)
			var counts tally
			localsAsGDB(t, gdbtest.Build(t, "govalues", flags...), "main.", &counts, []string{"--raw"})
			counts.log(t)
		})
	}
}
