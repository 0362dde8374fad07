//go:build linux

package symbol

import (
	"debug/dwarf"
	"debug/elf"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestEntered compares where inlined calls are entered, and what is inlined into them, with the
// tree of entries that debug/dwarf reads. It does so for a program of GCC 16 and one of the
// installed compiler. GCC 16's has calls entered at addresses that only an empty range of theirs
// has, as gdb 18 takes them.
func TestEntered(t *testing.T) {
	dir := t.TempDir()
	source, err := filepath.Abs(gdbtest.Testdata(t, "progs", "cxxwait.cc"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file  string
		least int // calls that are not entered at the begin of their first range
	}{
		{gdbtest.Testdata(t, "bin", "mix-v3"), 3},
		{compile(t, dir, "g++", source, "-g", "-O2"), 10},
	} {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			ms, bias := mapped(t, tt.file)
			s := New(Options{})
			defer s.Close()
			calls := entered(t, tt.file)
			later := 0
			for i, c := range calls {
				if c.entry != c.first {
					later++
				}
				var found bool
				for _, at := range s.Locate(ms, c.first+bias) {
					found = found || at.Inline && at.Entry == c.entry+bias
				}
				if !found {
					t.Errorf("call %d: nothing at %#x is entered at %#x", i, c.first, c.entry)
				}
				for j := i; j >= 0; j = calls[j].outer {
					if !s.InlinedInto(ms, c.entry+bias, calls[j].entry+bias) {
						t.Errorf("the call that is entered at %#x is not within that at %#x", c.entry, calls[j].entry)
					}
				}
			}
			if later < tt.least {
				t.Errorf("%d of %d calls are not entered at their first range's begin", later, len(calls))
			}
			t.Logf("%d calls, %d not entered at their first range's begin", len(calls), later)
		})
	}
}

// inlinedCall is an inlined call. outer is the index of the call that it is inlined into, or -1.
type inlinedCall struct {
	first, entry uint64
	outer        int
}

// entered returns the inlined calls of a file that have code.
func entered(t *testing.T, file string) (calls []inlinedCall) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	nest := []int{-1}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return calls
		}
		if e.Tag == 0 {
			nest = nest[:len(nest)-1]
			continue
		}
		of := nest[len(nest)-1]
		if list, _ := d.Ranges(e); e.Tag == dwarf.TagInlinedSubroutine {
			c := inlinedCall{outer: of}
			for _, r := range list {
				if r[0] != r[1] {
					c.first = r[0]
					break
				}
			}
			c.entry = c.first
			if said, ok := e.Val(dwarf.AttrEntrypc).(uint64); ok {
				for _, r := range list {
					if said == r[0] || said > r[0] && said < r[1] {
						c.entry = said
					}
				}
			}
			if c.first != 0 {
				calls = append(calls, c)
				of = len(calls) - 1
			}
		}
		if e.Children {
			nest = append(nest, of)
		}
	}
}
