package valuetest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// Better says why a value that gdb has in another way is no defect, or returns "".
func Better(d gdbtest.FullDifference) string {
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
		// The caller's debug information tells the argument, and the stack that it is this function
		// that was called.
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
		// The program's own arithmetic agrees: TestDecimalsAsProgram. gdb takes the digits of a NaN
		// for packed ones, too.
		return "gdb reads digits of a decimal number that has none"
	case strings.ReplaceAll(d.Want, " = 0x0,", " = <optimized out>,") == d.Got && strings.Contains(d.Want, "{_vptr."):
		return "gdb shows zero for the table of virtual functions of a base that is optimized out"
	case float16.MatchString(d.Want) || d.Instead != "" && float16.MatchString(d.Function):
		return "gdb's demangler does not know _Float16"
	case strings.Contains(d.Want, "integers of more than 8 bytes"):
		return "gdb has an error where more than 8 bytes are computed with, for an argument at a call site, too"
	case strings.Contains(d.Want, "> = <invalid address>"):
		// gdb evaluates the place of the base without the object (gnu-v3-abi.c: "we don't set
		// valaddr here"), and reads at address 0.
		return "gdb finds no virtual base of an object that is in no memory"
	case d.Function == "class_35::function9" && d.Name == "v30" && strings.Contains(d.Got, "m28 = <optimized out>, m29 = <optimized out>}}"):
		// llvm-dwarfdump: the pieces are 33 of 40 bytes. As with all that is behind the last piece,
		// gdb's buffer begins with zeros.
		return "gdb has zeros for what is behind the last piece"
	case strings.HasSuffix(d.Got, unknownAdjustment) && (strings.TrimSuffix(d.Got, unknownAdjustment) == d.Want || d.Want == "<optimized out>"):
		return NoAdjustment
	case formatting.MatchString(d.Want) && formatting.ReplaceAllStringFunc(d.Want, func(s string) string { return fmt.Sprintf(`\x%x`, []rune(s)[0]) }) == d.Got:
		return "gdb sends characters that steer how others are shown to the terminal"
	case rcText.MatchString(d.Want) && rcValue.ReplaceAllString(d.Want, "") == rcValue.ReplaceAllString(d.Got, "") && strings.Contains(d.Got, "value: 115}"):
		// The text is "shared", in values.rs.
		return "gdb has zero for a member behind the end of its struct, as in an Rc<str>"
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
		// readelf: an abstract instance of Rust has both an argument and a variable "count", and an
		// inlined call the location of the variable alone. gdb's "info address" has one place for
		// both.
		return "gdb looks arguments up by their names, and finds a local of this name"
	case strings.HasPrefix(d.Want, "@0x") && virtualBase.ReplaceAllString(d.Want, "") == virtualBase.ReplaceAllString(d.Got, ""):
		// In the same frame, gdb itself has the values that we have for the object that the
		// reference refers to.
		return "gdb misplaces the virtual base of an object that a reference to a base refers to"
	case d.Twice && d.Want == "<optimized out>":
		// readelf: with LTO, an inlined call of memcpy has the arguments of one abstract instance,
		// with locations, and the arguments of another one. gdb's "info address" knows the second
		// instance's alone. The code loads the third argument from the register that the first
		// instance has.
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
	NoAdjustment      = "gdb 13 has zeros for the adjustment of a pointer to a method, which is behind the last piece, and gdb 16 shows nothing of the pointer"
)

const seenStatic = "<same as static member of an already seen type>"

// staticArray matches a static member that is an array of numbers.
var staticArray = regexp.MustCompile(`(static \w+ = )\{\d[^{}]*\}`)

// adaSuffix matches a symbol that gdb has taken for one that Ada's compiler made.
var adaSuffix = regexp.MustCompile(`(<[^<> ]+)\[([\w.]+)\](\+\d+)?>`)

// noDecimals reports whether texts differ in decimal numbers alone whose coefficient has too many
// digits (IEEE 754, section 3.5.2), or that are none.
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

// decimal matches numbers. noDecimal matches numbers of decimal types that are zero or no number.
var (
	decimal   = regexp.MustCompile(`-?\d+(\.\d+)?(E[+-]\d+)?|-?s?NaN\d*|-?Infinity`)
	noDecimal = regexp.MustCompile(`^-?0(E[+-]\d+|\.0+)?$|^-?s?NaN\d*$`)
)

// virtualBase matches a base with a table of virtual functions and one member.
var virtualBase = regexp.MustCompile(`<\w+> = \{_vptr[.$]\w+ = 0x[0-9a-f]+( <[^<>]*>)?, \w+ = -?\d+\}`)

// rcText matches what an Rc<str> counts with, rcValue the first byte of what is behind the
// counters.
var (
	rcText  = regexp.MustCompile(`Rc(Inner|Box)<str>`)
	rcValue = regexp.MustCompile(`\bvalue: \d+\}`)
)

// rcWhole is "shared", in values.rs.
const rcWhole = "value: [115, 104, 97, 114, 101, 100]"

// float16 matches the linkage name of a function of _Float16.
var float16 = regexp.MustCompile(`_Z\w+DF16_`)

// noLazyString matches what gdb has for a text that its printers look for at address 0: there is no
// memory, and so nothing is read.
var noLazyString = regexp.MustCompile(`<error reading variable: Cannot create a lazy string with address (0x0), and a non-zero length\.>`)

// formatting matches characters of Unicode's category Cf, such as characters that turn the
// direction of a text.
var formatting = regexp.MustCompile(`\p{Cf}`)

var privateUse = regexp.MustCompile(`\\u[ef][0-9a-f]{3}`)

// BetterClang says why a value of a program of clang that gdb has in another way is no defect, or
// returns "".
func BetterClang(d gdbtest.FullDifference, split bool) string {
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
		// gdb 13 leaves out what DW_LLE_base_addressx adds to the addresses of a list: "info
		// address" has ranges that begin near the file's first address, llvm-dwarfdump has the
		// ranges of the code.
		return "gdb 13 reads lists of locations in split DWARF with the wrong base"
	}
	return ""
}

// zeroText matches a text of zeros, which lacks the last one.
var zeroText = regexp.MustCompile(`"(\\000)*"`)

// nothingKnown matches a struct whose members are all optimized out.
var nothingKnown = regexp.MustCompile(`^(\{+|\}+|, |\w+ = |<optimized out>( <repeats \d+ times>)?)*$`)
