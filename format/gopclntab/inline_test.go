package gopclntab

import (
	"debug/dwarf"
	"fmt"
	"strings"
	"testing"
)

// inlined is a function or an inlined call by DWARF. calls are the calls inlined into it.
type inlined struct {
	name   string
	ranges [][2]uint64
	file   string // of the call
	line   int64
	calls  []*inlined
}

func (c *inlined) holds(pc uint64) bool {
	for _, r := range c.ranges {
		if r[0] <= pc && pc < r[1] {
			return true
		}
	}
	return false
}

// start returns where the code around pc begins. Some ranges begin where another ends.
func (c *inlined) start(pc uint64) uint64 {
	lo := pc
	for i := len(c.ranges) - 1; i >= 0; i-- {
		if r := c.ranges[i]; r[0] <= lo && lo <= r[1] {
			lo = r[0]
		}
	}
	return lo
}

// dwarfFunctions reads a program's functions with debug/dwarf. The keys are their addresses.
func dwarfFunctions(t *testing.T, p *program) map[uint64]*inlined {
	t.Helper()
	d, err := p.file.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	functions := make(map[uint64]*inlined)
	var files []*dwarf.LineFile
	names := make(map[dwarf.Offset]string)
	nameOf := func(e *dwarf.Entry) string {
		off, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			name, _ := e.Val(dwarf.AttrName).(string)
			return name
		}
		if _, ok := names[off]; !ok {
			r := d.Reader()
			r.Seek(off)
			if o, err := r.Next(); err == nil {
				names[off], _ = o.Val(dwarf.AttrName).(string)
			}
		}
		return names[off]
	}
	var stack []*inlined // one for each entry with children; nil for an entry that is no code
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return functions
		}
		if e.Tag == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		var x *inlined
		switch e.Tag {
		case dwarf.TagCompileUnit:
			if lines, err := d.LineReader(e); err == nil && lines != nil {
				files = lines.Files()
			}
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			ranges, err := d.Ranges(e)
			if err != nil {
				t.Fatal(err)
			}
			if len(ranges) == 0 {
				break
			}
			x = &inlined{name: nameOf(e), ranges: ranges}
			if e.Tag == dwarf.TagSubprogram {
				functions[ranges[0][0]] = x
				break
			}
			if i, ok := e.Val(dwarf.AttrCallFile).(int64); ok && int(i) < len(files) {
				x.file = files[i].Name
			}
			x.line, _ = e.Val(dwarf.AttrCallLine).(int64)
			for i := len(stack) - 1; i >= 0; i-- {
				if stack[i] != nil {
					stack[i].calls = append(stack[i].calls, x)
					break
				}
			}
		}
		if e.Children {
			stack = append(stack, x)
		}
	}
}

// The calls that are inlined at each address, and their places in the source, are as DWARF has
// them.
func TestInlined(t *testing.T) {
	each(t, func(t *testing.T, p *program) {
		functions := dwarfFunctions(t, p)
		chains, deepest, failed := 0, 0, 0
		for _, f := range p.functions(t) {
			top := functions[f.Lo]
			if top == nil {
				continue // assembly
			}
			step := 7 * uint64(p.table.Quantum)
			if strings.HasPrefix(f.Name(), "main.") {
				step = uint64(p.table.Quantum)
			}
			for pc := f.Lo; pc < top.ranges[0][1]; pc += step {
				var got, want []string
				for _, c := range f.Inlined(pc) {
					place := fmt.Sprintf("%s:%d", c.File, c.Line)
					if len(got) == 0 {
						place = "" // TestLines compares the line of pc
					}
					got = append(got, fmt.Sprintf("%s %s [%#x, %#x]", c.Function, place, c.Entry, c.Lo))
				}
				place := ""
				entry := top.ranges[0][0]
				lo := entry
				for x := top; ; {
					next := ""
					var inner *inlined
					for _, c := range x.calls {
						if c.holds(pc) {
							inner, next = c, fmt.Sprintf("%s:%d", c.file, c.line)
						}
					}
					place = next
					want = append([]string{fmt.Sprintf("%s %s [%#x, %#x]", x.name, place, entry, lo)}, want...)
					if inner == nil {
						break
					}
					x = inner
					entry = x.ranges[0][0]
					lo = x.start(pc)
				}
				if g, w := strings.Join(got, "\n\t"), strings.Join(want, "\n\t"); g != w {
					if failed++; failed < 5 {
						t.Errorf("%#x:\n\t%s\nDWARF says\n\t%s", pc, g, w)
					}
				}
				if len(want) > 1 {
					chains++
				}
				deepest = max(deepest, len(want))
			}
		}
		t.Logf("%d chains, the deepest of %d calls, %d differ", chains, deepest, failed)
		if chains < 3000 || deepest < 4 {
			t.Errorf("%d chains, the deepest of %d calls", chains, deepest)
		}
	})
}
