//go:build linux

package stacks_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// address is an address.
var addressText = regexp.MustCompile(`0x[0-9a-f]+`)

// libraryNames are what two libraries call differently in names of types.
var libraryNames = strings.NewReplacer("std::__1::", "std::", "std::__cxx11::", "std::", "std::_V2::", "std::", " >", ">", "__elems_", "_M_elems")

// ofLibrary returns a text without addresses, and without names of what is there, that is the same
// for any library.
func ofLibrary(text string) string {
	text = libraryNames.Replace(addressText.ReplaceAllString(text, "0x"))
	for {
		before, name, ok := strings.Cut(text, "0x <")
		if !ok {
			return strings.Join(strings.Fields(text), " ")
		}
		depth, end := 1, 0
		for ; end < len(name) && depth > 0; end++ {
			depth += strings.Count("<", name[end:end+1]) - strings.Count(">", name[end:end+1])
		}
		text = before + "0x" + name[end:]
	}
}

// libcxxDiffers says why a variable is not in libc++ as it is in libstdc++, or returns "".
func libcxxDiffers(name, want, got string) string {
	switch {
	case strings.HasPrefix(want, "Python Exception"):
		return "the printer fails in gdb"
	case strings.Contains(want, "filesystem::path") && strings.TrimSuffix(components.ReplaceAllString(want, ""), " [root-directory]") == got:
		return "libc++ keeps no components of a path"
	}
	if begin, ok := libcxxOwn[name]; ok && strings.HasPrefix(got, begin) {
		return "of another form in libc++"
	}
	return ""
}

var components = regexp.MustCompile(` = \{\[root-directory\][^}]*\}| = \{\[0\] = "\.\."[^}]*\}`)

// libcxxOwn are variables that gdb has no printer for, or that have another form in libc++, and how
// these begin.
var libcxxOwn = map[string]string{
	"sequences::nothing":      "{_M_elems = ",
	"sequences::reverse":      "{<std::iterator<std::random_access_iterator_tag",
	"wrappers::seconds":       "{__rep_ = 90}",
	"wrappers::milliseconds":  "{__rep_ = 1500}",
	"wrappers::time":          "{__d_ = {__rep_ = ",
	"wrappers::complex":       "{__re_ = 1.5, __im_ = -2}",
	"wrappers::complex_float": "{__re_ = 0, __im_ = 1}",
	"wrappers::no_function":   "std::function<int (int)> [no contained value]",
	"wrappers::function":      "std::function<int (int)> containing ",
	"wrappers::mutex":         "{__m_ = {__data",
	"wrappers::wrapper":       "{",
	"wrappers::byte":          "",
	"wrappers::id":            "{__id_ = 0}",
	"maps::in_hashed":         `{first = "single", second = 1}`,
	"second::fn":              "std::function<int (const std::basic_string<",
	"second::m_it":            "non-dereferenceable iterator", // its node is in no tree any more
	"second::m_cit":           "non-dereferenceable iterator",
	"second::stream":          "{<std::basic_iostream",
	"second::aflag":           "{__a_ = ",
	"second::array0":          "{_M_elems = ",
	"second::repeats":         `{"" <repeats 12 times>}`, // in libstdc++, no two objects have the same bytes
}

// TestLibcxxAsLibstdcxx builds programs with both of C++'s libraries. The containers of libc++ are
// shown as gdb shows libstdc++'s.
func TestLibcxxAsLibstdcxx(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/share/gdb/auto-load/usr/lib/x86_64-linux-gnu")
	gdbtest.File(t, "/usr/include/c++/v1")
	compiler := gdbtest.Tool(t, "clang++")
	t.Setenv("LC_ALL", "C.UTF-8")
	for variant, source := range []string{"containers.cc", "morecontainers.cc"} {
		t.Run(source, func(t *testing.T) {
			gdbtest.Share(t, variant)
			p := gdbtest.Start(t, gdbtest.Build(t, source, "-g", "-O0", "-std=c++20"))
			want := variablesOf(t, gdbtest.Full(t, p.PID, "", gdbtest.WithScripts()))
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", source), compiler, "-stdlib=libc++", "-g", "-O0", "-std=c++20", "-w", "-pthread")
			out, stderr, err := commandtest.Run("attach", strconv.Itoa(gdbtest.Start(t, program).PID), "--locals")
			if err != nil || stderr != "" {
				t.Fatal(err, stderr)
			}
			got := variablesOf(t, out)
			equal, why := 0, map[string]int{}
			for name, w := range want {
				if name == "second::ashared" { // libc++ has none
					continue
				}
				g, ok := got[name]
				if reason := libcxxDiffers(name, w, g); w == g || valuetest.OfNewerLibrary(g) == w {
					equal++
				} else if reason != "" {
					why[reason]++
				} else {
					t.Errorf("%s = %.300s (in libc++: %v), gdb has of libstdc++ %.300s", name, g, ok, w)
				}
			}
			t.Logf("%d equal, %v", equal, why)
			if equal < 90 {
				t.Errorf("%d equal", equal)
			}
		})
	}
}

// variablesOf returns the locals of the program's own functions.
func variablesOf(t *testing.T, text string) map[string]string {
	t.Helper()
	variables := map[string]string{}
	for _, thread := range valuetest.Parse(t, text) {
		for i := range thread.Frames {
			f := &thread.Frames[i]
			if !strings.Contains(f.Place, "containers.cc") && !strings.Contains(f.Place, "libcxx.cc") {
				continue
			}
			function, _, _ := strings.Cut(f.Function, "(")
			for _, x := range f.Locals {
				variables[function+"::"+x.Name] = ofLibrary(x.Text)
			}
		}
	}
	return variables
}

// Both layouts of strings, and objects that hold others of any type, have the values that the
// source gives them, also in code that is optimized.
func TestLibcxxForms(t *testing.T) {
	gdbtest.NeedAMD64(t)
	gdbtest.File(t, "/usr/include/c++/v1")
	compiler := gdbtest.Tool(t, "clang++")
	want := map[string]string{
		"s": `u"abc"`, "e": `u""`, "l": `u"a long string of more than 22 characters"`, "w": `U"xyz"`,
		"v":     `std::vector of length 2, capacity 2 = {u"p", u"a long string of more than 22 characters"}`,
		"good":  "std::expected<int, std::u16string> = {[expected value] = 5}",
		"bad":   `std::expected<int, std::u16string> = {[unexpected value] = u"err"}`,
		"f":     "std::function<int (int)> containing int (*)(int) = {[contained value] = 0x}",
		"g":     "std::function<int (int)> containing Big = {[contained value] = {a = {1, 2, 3, 4, 5}}}",
		"h":     `std::function<int (int)> containing main::$_0 = {[contained value] = {s = u"abc"}}`,
		"no":    "std::function<int (int)> [no contained value]",
		"big":   "std::any containing Big = {[contained value] = {a = {1, 2, 3, 4, 5}}}",
		"small": "std::any containing int = {[contained value] = 7}",
		"chars": "std::map with 2 elements = {[97 'a'] = 98 'b', [99 'c'] = 100 'd'}",
		"wide":  "std::map with 2 elements = {[1] = 2.5, [3] = 4.5}",
	}
	for _, flags := range [][]string{{"-O0"}, {"-O0", "-D_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT"}, {"-O2"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			program := gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "libcxx.cc"), append([]string{compiler, "-stdlib=libc++", "-g", "-std=c++2b", "-w"}, flags...)...)
			out, stderr, err := commandtest.Run("attach", strconv.Itoa(gdbtest.Start(t, program).PID), "--locals", "--frame", "main")
			if err != nil || stderr != "" {
				t.Fatal(err, stderr)
			}
			got := variablesOf(t, out)
			seen := 0
			for name, w := range want {
				g := got["main::"+name]
				if g == w {
					seen++
				} else if g != "" && !(flags[0] == "-O2" && (strings.Contains(g, "optimized out") || g == "std::any")) {
					t.Errorf("%s = %s, want %s", name, g, w)
				}
			}
			if least := map[bool]int{true: 9, false: len(want) - 2}[flags[0] == "-O2"]; seen < least { // std::expected came with LLVM 16
				t.Errorf("%d values, want %d: %q", seen, least, got)
			}
		})
	}
}
