package logical_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/logical"
)

// callers are the functions with which the threads of tailways.c begin, and what stands between
// them and last. The source says so.
var callers = map[string]struct {
	between string // the functions that have jumped
	why     string // Explain of the caller
	certain string // Explain of the innermost of between
}{
	"cold":    {"parted", "tail calls: it calls parted", "tail call: parted jumps to last before 0x#"},
	"ways":    {"begin", "tail calls: it calls begin; several ways lead on from there: what they share is shown", "tail call: begin jumps to choose before 0x#; several ways lead on from there"},
	"differ":  {"", "tail calls not shown: it calls either: several ways of tail calls lead to 0x#, which share nothing", ""},
	"pointer": {"", "tail calls not shown: it calls jumps_on: no debug information says where the tail call before 0x# goes", ""},
	"silent":  {"", "tail calls not shown: it calls hidden: no debug information describes the function at 0x#", ""},
	"rounds":  {"again", "tail calls: it calls again; several ways lead on from there: what they share is shown", "tail call: again jumps to last before 0x#"},
}

var address = regexp.MustCompile(`0x[0-9a-f]+`)

// TestWays looks at ways that are certain, and at such that are not, and at what explains them.
func TestWays(t *testing.T) {
	for _, flags := range [][]string{
		{"-g"}, {"-g", whole}, {"-gdwarf-4"}, {"-g", "-gz"}, {"-g", "-fPIE", "-pie"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			p := gdbtest.Start(t, gdbtest.Build(t, "tailways.c", append(flags, "-O2", "-fno-ipa-icf")...))
			if slices.Contains(flags, whole) {
				compare(t, p.PID)
			}
			seen := 0
			stacks(t, p.PID, func(v *logical.View, s *frame.Stack) {
				var between []string
				inside := false
				explained := ""
				for f, err := range v.All(s) {
					if err != nil {
						t.Fatal(err)
					}
					want, isCaller := callers[f.Function]
					why := address.ReplaceAllString(v.Explain(&f), "0x#")
					switch {
					case f.Function == "last":
						inside = true
					case inside && isCaller:
						seen++
						if got := strings.Join(between, " "); got != want.between || why != want.why || explained != want.certain {
							t.Errorf("%s: %q, %q, %q", f.Function, got, why, explained)
						}
						inside = false
					case inside:
						if len(between) == 0 {
							explained = why
						}
						if f.Type != frame.TailCall {
							t.Errorf("%s: type %v", f.Function, f.Type)
						}
						between = append(between, f.Function)
					}
				}
			})
			if seen != len(callers) {
				t.Errorf("%d callers, want %d", seen, len(callers))
			}
		})
	}
}

// TestAllOnce compares the frames that are dropped with the frames that stay; IDs must be of
// different frames, and in order.
func TestAllOnce(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "tailways.c", "-g", "-O2", "-fno-ipa-icf"))
	stacks(t, p.PID, func(v *logical.View, s *frame.Stack) {
		var ids []frame.ID
		list := ours(t, v, s)
		i := 0
		for f, err := range v.AllOnce(s) {
			if err != nil {
				t.Fatal(err)
			}
			if got := newShown(f.Type.String(), f.PC, f.Function, f.File, f.Line, f.ID()); i >= len(list) || got != list[i] {
				t.Fatalf("frame %d: %v", i, got)
			}
			for j, inner := range ids {
				if inner.Equal(f.ID()) || f.ID().Inner(inner, amd64.Arch, nil) {
					t.Errorf("frame %d is %v, frame %d is %v", j, inner, i, f.ID())
				}
				if f.Type == frame.TailCall && !inner.Inner(f.ID(), amd64.Arch, nil) {
					t.Errorf("frame %d, %v, is not inner to frame %d, %v", j, inner, i, f.ID())
				}
			}
			ids = append(ids, f.ID())
			i++
		}
		if i != len(list) {
			t.Errorf("%d frames, want %d", i, len(list))
		}
	})
}

// TestWithoutSymbols shows physical frames alone.
func TestWithoutSymbols(t *testing.T) {
	p := gdbtest.Start(t, gdbtest.Build(t, "tailways.c", "-g", "-O2", "-fno-ipa-icf"))
	stacksBy(t, p.PID, nil, func(v *logical.View, s *frame.Stack) {
		for _, f := range ours(t, v, s) {
			if f.typ == "inline" || f.typ == "tailcall" || f.function != "" {
				t.Errorf("%v", f)
			}
		}
	})
}
