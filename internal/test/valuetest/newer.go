package valuetest

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// stringName has one name for std::string, whose whole name newer printers write as the contents of
// a std::any.
var stringName = strings.NewReplacer("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string")

// betterNewer says why a value that a release of gdb after 13, or of the printers that come with
// libstdc++, writes in another way is no defect, or returns "".
func betterNewer(d gdbtest.FullDifference) string {
	switch {
	case strings.Contains(d.Want, "std::") && stringName.Replace(OfNewerLibrary(d.Got)) == stringName.Replace(d.Want):
		return "newer printers leave out what an optional or a variant is of, and count a tuple's elements from 0"
	case samePointer(d.Want, d.Got):
		return "newer printers show an atomic pointer that is shared"
	case negative.ReplaceAllString(d.Got, "std::vector of length 0, capacity 0") == d.Want && d.Got != d.Want:
		return "newer printers take a vector that ends before it begins for an empty one"
	case sameDuration(d.Want, d.Got):
		return "newer printers have units for times"
	case hexNumber(d.Got) == d.Want && d.Want != d.Got:
		return "gdb 16 writes a number of an enumeration that has no names in decimal"
	case spaceship.MatchString(d.Got) && spaceship.ReplaceAllString(d.Got, "operator<=>($1 const&)") == d.Want:
		return "gdb 16 leaves names with operator<=> as the demangler writes them"
	case octal.MatchString(d.Got) && inRust(d.Got) == d.Want:
		return "gdb 18 writes Rust's characters in another way"
	case strings.ReplaceAll(d.Want, "flexible = 0x0}", "flexible = {}}") == d.Got && d.Got != d.Want:
		// The object is in pieces.
		return "gdb 18 has an address for an array of unknown length in an object that is in no memory"
	case d.Got != d.Want && unnamed.ReplaceAllString(d.Got, "<error reading variable: $1>") == d.Want:
		return "gdb 18 leaves out the variable's name in an error"
	case strings.ReplaceAll(d.Want, "<optimized out> + <optimized out>i", "<optimized out>") == d.Got && d.Got != d.Want:
		return "gdb 18 shows both parts of a complex number that is optimized out"
	case strings.Contains(d.Want, "qGetTLSAddr packet"), strings.Contains(d.Want, "TLS not supported or disabled on this target"):
		return "gdb 18 reads no thread-local variables at a stub that does not tell where they are"
	case withoutWarning(d.Want) == d.Got:
		return "gdb 18 warns amid the values"
	case d.Name == "hidden" && d.Got == "{own = 1, static shared = 22, static perThread = 23}" && strings.Contains(d.Want, "static shared = <optimized out>"):
		// The program, testdata/progs/statics, adds 1 to 21 and 22.
		return "gdb 18 does not find static members of a class in a namespace without a name"
	case unsized(d):
		return "gdb 16 follows a reference to a struct of Rust that ends with a slice, as we do without --raw"
	case strings.Contains(d.Want, "Value cannot be represented as integer of 8 bytes"):
		return "gdb has an error where more than 8 bytes are computed with, for an argument at a call site, too"
	}
	return ""
}

// withoutWarning returns a value without a warning before it.
func withoutWarning(text string) string {
	if _, value, ok := strings.Cut(text, `Do you need "set solib-search-path" or "set sysroot"? `); ok && strings.HasPrefix(text, "warning: ") {
		return value
	}
	return text
}

// NewerPrints reports whether an expression has the value that a release of gdb after 13 prints in
// another way, or fails to.
func NewerPrints(expression, want, failure, got string) bool {
	switch {
	case strings.HasPrefix(expression, "(_Bool)") && failure == `No symbol "_Bool" in current context`: // GCC 15's C has bool
		return got == "true" || got == "false"
	case expression == "Hidden::seen" && want == "<optimized out>":
		return got == "98" // as the program has it
	case expression == "hidden" && strings.Contains(want, "static seen = <optimized out>"):
		return got == "{h = 55, static seen = 98}"
	case strings.HasPrefix(expression, "&over(char const*, int)"): // gdb 18 takes the first one of that name
		return strings.Contains(want, "<over(int)>") && strings.Contains(got, "<over(char const*, int)>")
	}
	return false
}

// OfNewerLibrary returns a text as the printers of libstdc++ write it since GCC 13: an optional or
// a variant has no arguments in its name, and the first element of a tuple has the number 0.
func OfNewerLibrary(text string) string {
	const tuple = "std::tuple containing = {"
	var out strings.Builder
	var tuples []bool // of the braces that are open: whether it is a tuple's
	for i := 0; i < len(text); {
		rest := text[i:]
		switch c := text[i]; {
		case c == '"' || c == '\'':
			end := i + 1
			for end < len(text) && text[end] != c {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
			out.WriteString(text[i:end])
			i = end
			continue
		case strings.HasPrefix(rest, tuple):
			out.WriteString(tuple)
			tuples = append(tuples, true)
			i += len(tuple)
		case strings.HasPrefix(rest, "std::optional<") || strings.HasPrefix(rest, "std::variant<"):
			begin := strings.IndexByte(rest, '<')
			out.WriteString(rest[:begin])
			i += begin + arguments(rest[begin:])
			continue
		case c == '{' || c == '}':
			if c == '{' {
				tuples = append(tuples, false)
			} else if len(tuples) > 0 {
				tuples = tuples[:len(tuples)-1]
			}
			fallthrough
		default:
			out.WriteByte(c)
			i++
			if c != ' ' || !strings.HasSuffix(text[:i], ", ") {
				continue
			}
		}
		// An element begins here.
		if len(tuples) == 0 || !tuples[len(tuples)-1] {
			continue
		}
		if m := element.FindStringSubmatch(text[i:]); m != nil {
			n, _ := strconv.Atoi(m[1])
			out.WriteString("[" + strconv.Itoa(n-1) + "] = ")
			i += len(m[0])
		}
	}
	return out.String()
}

var element = regexp.MustCompile(`^\[(\d+)\] = `)

// arguments returns the length of a list of template arguments in angle brackets that text begins
// with.
func arguments(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

var (
	atomicPointer = regexp.MustCompile(`^std::atomic<std::shared_ptr<.*\{get\(\) = (0x[0-9a-f]+)\}$`)
	atomicParts   = regexp.MustCompile(`^\{_M_impl = \{_M_ptr = (0x[0-9a-f]+)`)
	negative      = regexp.MustCompile(`\bstd::vector of length -\d+, capacity -\d+`)
)

// samePointer reports whether an atomic std::shared_ptr has the same address with a printer as
// without.
func samePointer(want, got string) bool {
	w, g := atomicPointer.FindStringSubmatch(want), atomicParts.FindStringSubmatch(got)
	return w != nil && g != nil && w[1] == g[1]
}

// sameDuration reports whether a duration, or a point in time, with a unit has the number of one
// without.
func sameDuration(want, got string) bool {
	w, g := withUnit.FindStringSubmatch(want), withoutUnit.FindStringSubmatch(got)
	return w != nil && g != nil && w[1] == g[1]
}

var (
	withUnit    = regexp.MustCompile(`^std::chrono::\w+ = \{ (-?[\d.]+)(?:\[[\d/]+\])?[a-z]+(?: \[[-\d: ]+\])? \}$`)
	withoutUnit = regexp.MustCompile(`^\{(?:__d = \{)?__r = (-?[\d.]+)\}?\}$`)
)

// hexNumber returns the decimal number of what is in no enumeration's list, or "".
func hexNumber(text string) string {
	digits, ok := strings.CutPrefix(strings.TrimSuffix(text, ")"), "(unknown: 0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

var spaceship = regexp.MustCompile(`operator<=>\(const ((?:\(anonymous namespace\)::)?[\w:]+) &\)`)

// inRust returns a text with escapes as Rust has them.
func inRust(text string) string {
	return octal.ReplaceAllStringFunc(text, func(escape string) string {
		n, err := strconv.ParseUint(escape[1:], 8, 8)
		if err != nil {
			n = map[string]uint64{`\a`: 7, `\b`: 8, `\e`: 0x1b, `\f`: 0xc, `\v`: 0xb}[escape]
		} else if n == 0 {
			return `\0`
		}
		return fmt.Sprintf(`\x%02x`, n)
	})
}

var (
	octal   = regexp.MustCompile(`\\([0-3][0-7][0-7]|[abefv])`)
	unnamed = regexp.MustCompile(`^<error reading variable \w+ \((.*)\)>$`)
)

// unsized reports whether gdb has the struct that a reference leads to, and we the address, of the
// same type.
func unsized(d gdbtest.FullDifference) bool {
	m := reference.FindStringSubmatch(d.Got)
	return m != nil && strings.HasPrefix(d.Want, m[1]+" {inner: ")
}

var reference = regexp.MustCompile(`^&([\w:]+) 0x[0-9a-f]+$`)
