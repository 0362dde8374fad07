package symbol

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/elftest"
	"github.com/sfwalk/sfwalk/target"
)

// tailCalls asks how some of the calls in a module came to some of its functions, and returns how
// many tail calls were made for certain.
func tailCalls(t testing.TB, s *Symbolizer, ms *target.Modules) (n int) {
	const most = 6 // of each
	var calls, functions []uint64
	s.withDWARF(ms.All()[0], func(d *debugInfo, bias uint64) {
		calls, functions = nil, nil
		for _, u := range d.units {
			if u.contents.Load() == nil {
				continue
			}
			at := d.described(u)
			var own []uint64
			for i := range at.c.functions {
				b := at.d.body(at.u, at.c, int32(i))
				for _, site := range b.sites {
					own = append(own, site.pc+bias)
				}
				for i := range b.functions {
					functions = append(functions, b.functions[i].enters+bias)
				}
			}
			slices.Reverse(own)
			calls = append(calls, own...)
		}
	})
	for _, ret := range calls[:min(most, len(calls))] {
		for _, inner := range functions[:min(most, len(functions))] {
			x := s.TailCalls(ms, ret, inner)
			if x.Callees > len(x.Calls) || x.Callees < len(x.Calls) && !x.Ambiguous || x.Err != nil && len(x.Calls) > 0 || len(x.Calls) > 0 && x.Target == 0 {
				t.Fatalf("from %#x to %#x: %+v", ret, inner, x)
			}
			if x.Callees > 0 && x.Calls[0].To != inner {
				t.Fatalf("from %#x to %#x: the last jump goes to %#x", ret, inner, x.Calls[0].To)
			}
			n += len(x.Calls)
		}
	}
	return n
}

// TestTailCalls looks for the ways in testdata/small/tails.c, by the addresses that objdump has for
// it.
func TestTailCalls(t *testing.T) {
	const last, left, branch, once, far, even, beyond = 0x401000, 0x401010, 0x401030, 0x401050, 0x401060, 0x401080, 0x4010a0
	names := map[uint64]string{0x40101f: "left", 0x40102f: "right", 0x401040: "branch", 0x401044: "branch", 0x40105f: "once", 0x40107f: "odd", 0x401094: "even", 0x40109d: "even", 0x4010af: "beyond"}
	const ofOnce, ofFar, ofBeyond, ofLeft = 0x4010bb, 0x4010c7, 0x4010d3, 0x4010df
	for _, tt := range []struct {
		ret, inner uint64
		want       string // the functions that have jumped, the innermost first; a bar where several ways are
		to         uint64 // of Target
		err        string
	}{
		{ofOnce, once, "", 0, ""},
		{ofOnce, branch, "once", once, ""},
		{ofOnce, left, "branch once", once, ""},
		{ofOnce, last, "| once", once, ""},
		{ofOnce, beyond, "", once, "no tail calls lead"},
		{ofFar, far, "", 0, ""},
		{ofFar, last, "", far, "no debug information says where the tail call before 0x401070 goes"},
		{ofBeyond, even, "beyond", beyond, ""},
		{ofBeyond, last, "even | beyond", beyond, ""},
		{ofLeft, last, "left", left, ""},
		{ofLeft + 1, last, "", 0, ""}, // no call is there
		{0x100, last, "", 0, ""},
		{ofLeft, 0, "", 0, ""},
	} {
		for _, file := range []string{"tails5", "tails4"} {
			f := fuzzed{image: openImage(t, fixture(t, "small/"+file))}
			s, ms := f.open(t)
			x := s.TailCalls(ms, tt.ret, tt.inner)
			var got []string
			for i, c := range x.Calls {
				if x.Ambiguous && i == x.Callees {
					got = append(got, "|")
				}
				if c.Jump != c.PC-1 {
					t.Errorf("jump at %#x, before %#x", c.Jump, c.PC)
				}
				got = append(got, names[c.PC])
			}
			why := fmt.Sprint(x.Err)
			if tt.err == "" {
				tt.err = "<nil>"
			}
			if strings.Join(got, " ") != tt.want || x.Target != tt.to || !strings.HasPrefix(why, tt.err) {
				t.Errorf("%s, from %#x to %#x: %q, target %#x, %v", file, tt.ret, tt.inner, got, x.Target, x.Err)
			}
			if list := s.Warnings(ms.All()[0]); len(list) > 0 {
				t.Error(list)
			}
		}
	}
}

// TestJumpAddress reads tail calls whose own address is known alone, as LLVM writes them for DWARF
// 5.
func TestJumpAddress(t *testing.T) {
	const last, left, ofLeft = 0x401000, 0x401010, 0x4010df
	names := []string{".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_aranges"}
	parts := sectionsOf(t, elfOf(t, fixture(t, "small/tails5")), names...)
	// DW_AT_call_return_pc, DW_FORM_addr, DW_AT_call_tail_call, DW_FORM_flag_present; and
	// DW_AT_call_pc instead
	before, after := []byte{0x7d, 0x01, 0x82, 0x01, 0x19}, []byte{0x81, 0x01, 0x01, 0x82, 0x01, 0x19}
	if bytes.Count(parts[1], before) == 0 {
		t.Fatal("the compiler writes tail calls in another way")
	}
	parts[1] = bytes.ReplaceAll(parts[1], before, after)
	var sections []elftest.Section
	for i, p := range parts {
		sections = append(sections, elftest.Section{Name: names[i], Data: p})
	}
	f := fuzzed{image: openImage(t, program(false, sections...).Bytes())}
	s, ms := f.open(t)
	x := s.TailCalls(ms, ofLeft, last)
	if len(x.Calls) != 1 || x.Calls[0] != (TailCall{PC: 0x40101f, Jump: 0x40101f, To: last}) || x.Target != left {
		t.Errorf("%+v", x)
	}
}
