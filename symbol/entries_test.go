//go:build linux

package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// gdbMajor is the first number of gdb's version, 0 where there is no gdb to compare with.
var gdbMajor = sync.OnceValue(func() int {
	out, _ := exec.Command("gdb", "-nx", "--version").Output()
	major := regexp.MustCompile(`^GNU gdb .* (\d+)\.`).FindSubmatch(out)
	if major == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(major[1]))
	return n
})

// gdbStretches reports whether gdb counts more code to an inlined call than the debug information
// does. Since version 17 it gives a byte to empty ranges, and lengthens others by a row of the line
// table, for the sake of breakpoints. The DWARF 5 standard (2.17.3) says to ignore empty ranges.
// addr2line does neither.
func gdbStretches() bool { return gdbMajor() >= 17 }

// call is what debug/dwarf reads of a function, or of an inlined call.
type call struct {
	name   string
	line   int // of the call, if it is inlined
	inline bool
	ranges [][2]uint64
	within []*call
}

// readCalls returns the functions of a file. Its debug information, if it has any, must be in the
// file itself and in one piece.
func readCalls(t testing.TB, file string) (functions []*call) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section(".debug_info") == nil && f.Section(".zdebug_info") == nil {
		return nil
	}
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	// The entry that has the name of another one may come behind it.
	names := make(map[dwarf.Offset]string)
	origins := make(map[*call]dwarf.Offset)
	further := make(map[dwarf.Offset]dwarf.Offset)
	levels := [][]*call{nil}
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag == 0 {
			levels = levels[:len(levels)-1]
			continue
		}
		around := levels[len(levels)-1]
		if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			c := &call{inline: e.Tag == dwarf.TagInlinedSubroutine}
			if name, ok := e.Val(dwarf.AttrName).(string); ok {
				names[e.Offset] = name
			}
			for _, attr := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
				if off, ok := e.Val(attr).(dwarf.Offset); ok {
					further[e.Offset] = off
				}
			}
			origins[c] = e.Offset
			line, _ := e.Val(dwarf.AttrCallLine).(int64)
			c.line = int(line)
			if c.ranges, err = data.Ranges(e); err != nil {
				t.Fatal(err)
			}
			if c.inline && len(around) > 0 {
				outer := around[len(around)-1]
				outer.within = append(outer.within, c)
			} else if !c.inline {
				functions = append(functions, c)
			}
			around = append(around[:len(around):len(around)], c)
		}
		if e.Children {
			levels = append(levels, around)
		}
	}
	for c, at := range origins {
		for hops := 0; hops < 8 && c.name == ""; hops++ {
			c.name, at = names[at], further[at]
		}
	}
	return functions
}

// callsAt returns the function at an address and the calls inlined there, innermost first.
func callsAt(list []*call, pc uint64) (chain []*call) {
	for _, c := range list {
		for _, r := range c.ranges {
			if r[0] <= pc && pc < r[1] {
				return append(callsAt(c.within, pc), c)
			}
		}
		if len(c.ranges) == 0 { // a call without code does not hold the address; its children may
			if chain = callsAt(c.within, pc); chain != nil {
				return chain
			}
		}
	}
	return nil
}

// setCalls notes what debug/dwarf reads of a file at the addresses of answers, where gdb stretches
// inlined calls.
func setCalls(t testing.TB, answers []answer, file string) {
	t.Helper()
	if !gdbStretches() {
		return
	}
	functions := readCalls(t, file)
	for i := range answers {
		answers[i].calls = callsAt(functions, answers[i].PC)
	}
}

// stretched reports whether gdb's answer has other calls than the debug information, and got has
// the debug information's.
func (a *answer) stretched(got []Location) bool {
	same := func(i int, name string, line int) bool {
		base := a.calls[i].name
		if at := strings.IndexByte(base, '<'); at > 0 && !strings.HasPrefix(base, "operator") {
			base = base[:at]
		}
		name = strings.TrimPrefix(name, "__GI_") // the C library's linkage names within itself
		return strings.Contains("::"+name, "::"+base) && (i == 0 || line == a.calls[i-1].line)
	}
	ours, gdbs := len(got) == len(a.calls), len(a.Chain) == len(a.calls)
	for i := range a.calls {
		ours = ours && same(i, got[i].Function, got[i].Line)
		gdbs = gdbs && same(i, a.Chain[i].Function, a.calls[max(i-1, 0)].line)
	}
	return ours && !gdbs
}
