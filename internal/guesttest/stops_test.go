//go:build linux

package guesttest

import (
	"context"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/remote"
)

// A subject is a guest and what may be asked of its stacks.
type subject struct {
	name   string
	guest  func(t *testing.T) *Guest
	orders []order
	bare   bool // without tables, too: from the code alone as far as main

	names aliases
}

// What a guest's tables make possible.
var (
	byDefault = order{nil, whole}
	byDWARF   = order{[]string{"sigtramp", "dwarf"}, whole}
	// All functions of the guest have SFrame, _start too.
	bySFrame = order{[]string{"sigtramp", "sframe"}, whole}
	// In V1 and V2, _start has none: there is no way to say that it is the outermost.
	bySFrameToMain = order{[]string{"sigtramp", "sframe"}, toMain}
)

func committed(p *Processor, name string) func(*testing.T) *Guest {
	return func(t *testing.T) *Guest {
		return &Guest{Processor: p, Path: gdbtest.Testdata(t, "guests", name)}
	}
}

func built(p *Processor, src string, flags ...string) func(*testing.T) *Guest {
	return func(t *testing.T) *Guest { return &Guest{Processor: p, Path: p.Build(t, src, flags...)} }
}

func bare(p *Processor, src string, flags ...string) func(*testing.T) *Guest {
	return built(p, src, append(slices.Clone(Bare), flags...)...)
}

func dynamic(p *Processor, src string, flags ...string) func(*testing.T) *Guest {
	return func(t *testing.T) *Guest { return p.BuildDynamic(t, src, flags...) }
}

var (
	tables  = []order{byDefault, byDWARF}
	version = func(sframe order) []order { return []order{byDefault, byDWARF, sframe} }
)

var subjects = []subject{
	{"arm64/SFrame V3", committed(ARM64, "stacks-arm64-v3"), version(bySFrame), true, nil},
	{"arm64/SFrame V3, branch protection", committed(ARM64, "stacks-arm64-v3-pac"), version(bySFrame), true, nil},
	{"arm64/SFrame V2", committed(ARM64, "stacks-arm64-v2"), version(bySFrameToMain), true, nil},
	{"arm64/SFrame V1", bare(ARM64, "stacks.c", "-O2", "-Wa,--gsframe"), version(bySFrameToMain), true, nil},
	{"arm64/no frame pointer", bare(ARM64, "stacks.c", "-O2", "-fomit-frame-pointer", "-Wa,--gsframe"), version(bySFrameToMain), true, nil},
	{"arm64/O0", bare(ARM64, "stacks.c", "-O0"), tables, true, nil},
	{"arm64/leaf signed with key B", bare(ARM64, "stacks.c", "-O3", "-mbranch-protection=pac-ret+leaf+b-key"), tables, true, nil},
	{"arm64/stack clash protection", bare(ARM64, "stacks.c", "-O2", "-fstack-clash-protection"), tables, true, nil},
	{"arm64/static-pie", built(ARM64, "stacks.c", "-O2", "-static-pie"), tables, false, nil},
	{"arm64/static", built(ARM64, "stacks.c", "-O2", "-static"), tables, false, nil},
	{"arm64/threads", built(ARM64, "threads.c", "-O2", "-static", "-pthread"), tables, false, nil},
	{"arm64/library", dynamic(ARM64, "library.c", "-O2"), tables, false, nil},
	{"arm64/library, branch protection", dynamic(ARM64, "library.c", "-O2", "-mbranch-protection=standard"), tables, false, nil},
	{"arm64/deep", bare(ARM64, "stacks.c", "-O2", "-DDEPTH=20000", "-Wa,--gsframe"), version(bySFrameToMain), true, nil},

	{"s390x/SFrame V3", committed(S390X, "stacks-s390x-v3"), version(bySFrame), true, nil},
	{"s390x/SFrame V3, back chain", committed(S390X, "stacks-s390x-v3-backchain"), version(bySFrame), true, nil},
	{"s390x/no SFrame", bare(S390X, "stacks.c", "-O2"), tables, true, nil},
	{"s390x/back chain", bare(S390X, "stacks.c", "-O2", "-mbackchain"), tables, true, nil},
	{"s390x/O0", bare(S390X, "stacks.c", "-O0"), tables, true, nil},
	{"s390x/packed stack", bare(S390X, "stacks.c", "-O2", "-mpacked-stack"), tables, true, nil},
	{"s390x/stack clash protection", bare(S390X, "stacks.c", "-O2", "-fstack-clash-protection"), tables, true, nil},
	{"s390x/static", built(S390X, "stacks.c", "-O2", "-static"), tables, false, nil},
	{"s390x/threads", built(S390X, "threads.c", "-O2", "-static", "-pthread"), tables, false, nil},
	{"s390x/library", dynamic(S390X, "library.c", "-O2"), tables, false, nil},
	{"s390x/deep", bare(S390X, "stacks.c", "-O2", "-DDEPTH=20000"), tables, true, nil},
}

var noReaders = map[string]bool{"arm64": arch.ByName("arm64").AfterCall == nil, "s390x": arch.ByName("s390x").AfterCall == nil}

// An opener makes a target of a stop, with the program's file and the folder of
// its libraries.
type opener struct {
	name string
	open func(stop *Stop, exe, sysroot string) (target.Target, error)
}

var fromCore = opener{"core", func(stop *Stop, exe, sysroot string) (target.Target, error) {
	return core.Open(stop.Core, core.Options{Exe: exe, Sysroot: sysroot})
}}

var fromStub = opener{"stub", func(stop *Stop, exe, sysroot string) (target.Target, error) {
	return remote.Dial(context.Background(), "unix:"+stop.Stub, remote.Options{Exe: exe, Sysroot: sysroot})
}}

// check holds a stop against gdb in each of the subject's orders.
func (s *subject) check(t *testing.T, g *Guest, stop *Stop, from opener, stripped string, n map[string]*tally) {
	t.Helper()
	with := func(exe string, orders []order, what string) {
		t.Helper()
		tg, err := from.open(stop, exe, g.Root)
		if err != nil {
			t.Errorf("%s: %s: %v", stop.Scenario, from.name, err)
			return
		}
		defer tg.Close()
		for _, o := range orders {
			name := o.String() + what
			if n[name] == nil {
				n[name] = new(tally)
			}
			if err := compareThreads(t, tg, stop.Threads, o, s.names, n[name]); err != nil {
				t.Errorf("%s: %s, %s: %v", stop.Scenario, from.name, name, err)
			}
		}
	}
	with(g.Path, s.orders, "")
	if s.bare && !noReaders[g.GOARCH] {
		with(stripped, []order{{nil, toMain}}, ", without tables")
	}
}

func (s subject) run(t *testing.T, f func(s *subject, g *Guest, stripped string, n map[string]*tally)) {
	t.Helper()
	t.Parallel()
	g := s.guest(t)
	s.names = aliasesIn(t, g)
	stripped := ""
	if s.bare && !noReaders[g.GOARCH] {
		stripped = g.WithoutTables(t, g.Path)
	}
	n := map[string]*tally{}
	f(&s, g, stripped, n)
	for what, n := range n {
		t.Logf("%s: %d stacks, %d frames, %d registers", what, n.stacks, n.frames, n.registers)
	}
}

// TestStacks does the same as TestCores through qemu's stub, where gdb stands still.
func TestStacks(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(s *subject, g *Guest, stripped string, n map[string]*tally) {
				g.Each(t, false, func(stop *Stop) { s.check(t, g, stop, fromStub, stripped, n) })
			})
		})
	}
}

// TestCores compares every frame of every thread of each guest with gdb's, in
// qemu's core files of the very same stops: PC, CFA, type, function and the
// registers that a caller relies on.
func TestCores(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(s *subject, g *Guest, stripped string, n map[string]*tally) {
				for number := 1; ; number++ {
					stop := g.Dump(t, number)
					if stop == nil {
						break
					}
					s.check(t, g, stop, fromCore, stripped, n)
				}
			})
		})
	}
}

// TestSigned runs guests whose return addresses are signed, on a processor that
// does sign them. gdb 13 knows no mask for them: what it says of the same guest on
// a processor without signatures must be true here. (Signal frames have room for
// more registers here, so stack addresses differ.)
func TestSigned(t *testing.T) {
	for _, s := range []subject{
		{"SFrame V3", committed(ARM64, "stacks-arm64-v3-pac"), version(bySFrame), true, nil},
		{"static", built(ARM64, "stacks.c", "-O2", "-static", "-mbranch-protection=standard"), tables, true, nil},
	} {
		t.Run(s.name, func(t *testing.T) {
			for i := range s.orders {
				s.orders[i].want = pcs
			}
			s.run(t, func(s *subject, g *Guest, stripped string, n map[string]*tally) {
				signing := *g
				signing.CPU = "max"
				var plain []*Stop
				g.Each(t, false, func(stop *Stop) { plain = append(plain, stop) })
				same := func(i int, signed *Stop) *Stop {
					if i >= len(plain) || plain[i].Scenario != signed.Scenario {
						t.Fatalf("stop %d is in %q, and not so without signatures", i, signed.Scenario)
					}
					stop := *plain[i]
					stop.Threads[0].TID, stop.Core, stop.Stub = signed.Threads[0].TID, signed.Core, signed.Stub
					return &stop
				}
				at := 0
				signing.Each(t, false, func(stop *Stop) {
					s.check(t, g, same(at, stop), fromStub, stripped, n)
					at++
				})
				for i := range plain {
					s.check(t, g, same(i, signing.Dump(t, i+1)), fromCore, stripped, n)
				}
				if at != len(plain) {
					t.Errorf("%d stops, %d without signatures", at, len(plain))
				}
			})
		})
	}
}
