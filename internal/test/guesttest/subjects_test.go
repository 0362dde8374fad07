//go:build linux

package guesttest

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// A subject is a guest, and the checks that its stacks allow.
type subject struct {
	name   string
	guest  func(t *testing.T) *Guest
	orders []order
	bare   bool // without tables, too: from the code alone as far as main
}

// These are the orders that a guest's tables allow.
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

// registers is a guest that registers compiled code.
func registers(p *Processor) func(*testing.T) *Guest {
	return func(t *testing.T) *Guest {
		object := p.Build(t, "../made.c", "-O2", "-fomit-frame-pointer", "-c", "-ffunction-sections")
		return &Guest{Processor: p, Path: p.Build(t, "../registers.c", "-O2", "-static", "-DOBJECT=\""+object+"\"")}
	}
}

var (
	tables  = []order{byDefault, byDWARF}
	version = func(sframe order) []order { return []order{byDefault, byDWARF, sframe} }
)

// byEHABI: as far as main, for gdb goes on from there by what _start has in its link register.
var byEHABI = []order{{nil, toMain}, {[]string{"sigtramp", "ehabi", "prologue"}, toMain}}

// exceptionTables is a guest whose functions have exception tables, as compilers make them for C++
// and on request for C, and no others.
func exceptionTables(build func(*testing.T) *Guest) func(*testing.T) *Guest {
	return func(t *testing.T) *Guest {
		g := build(t)
		return &Guest{Processor: g.Processor, Path: g.without(t, g.Path, ".debug_frame", ".eh_frame")}
	}
}

var subjects = []subject{
	{"arm64/SFrame V3", committed(ARM64, "stacks-arm64-v3"), version(bySFrame), true},
	{"arm64/SFrame V3, branch protection", committed(ARM64, "stacks-arm64-v3-pac"), version(bySFrame), true},
	{"arm64/SFrame V2", committed(ARM64, "stacks-arm64-v2"), version(bySFrameToMain), true},
	{"arm64/SFrame of the installed assembler", bare(ARM64, "stacks.c", "-O2", "-Wa,--gsframe"), version(bySFrameToMain), true},
	{"arm64/no frame pointer", bare(ARM64, "stacks.c", "-O2", "-fomit-frame-pointer", "-Wa,--gsframe"), version(bySFrameToMain), true},
	{"arm64/O0", bare(ARM64, "stacks.c", "-O0"), tables, true},
	{"arm64/leaf signed with key B", bare(ARM64, "stacks.c", "-O3", "-mbranch-protection=pac-ret+leaf+b-key"), tables, true},
	{"arm64/stack clash protection", bare(ARM64, "stacks.c", "-O2", "-fstack-clash-protection"), tables, true},
	{"arm64/static-pie", built(ARM64, "stacks.c", "-O2", "-static-pie"), tables, true},
	{"arm64/static", built(ARM64, "stacks.c", "-O2", "-static"), tables, true},
	{"arm64/threads", built(ARM64, "threads.c", "-O2", "-static", "-pthread"), tables, false},
	{"arm64/library", dynamic(ARM64, "library.c", "-O2"), tables, false},
	{"arm64/library, branch protection", dynamic(ARM64, "library.c", "-O2", "-mbranch-protection=standard"), tables, false},
	{"arm64/registered code", registers(ARM64), tables, false},
	{"arm64/deep", bare(ARM64, "stacks.c", "-O2", "-DDEPTH=8000", "-Wa,--gsframe"), version(bySFrameToMain), true},

	{"arm/A32, exception tables O2", exceptionTables(bare(ARM, "stacks.c", "-marm", "-O2", "-funwind-tables")), byEHABI, false},
	{"arm/A32, exception tables O0", exceptionTables(bare(ARM, "stacks.c", "-marm", "-O0", "-funwind-tables")), byEHABI, false},
	{"arm/Thumb, exception tables O2", exceptionTables(bare(ARM, "stacks.c", "-mthumb", "-O2", "-funwind-tables")), byEHABI, false},
	{"arm/Thumb, exception tables O0", exceptionTables(bare(ARM, "stacks.c", "-mthumb", "-O0", "-funwind-tables")), byEHABI, false},
	{"arm/Thumb, exception tables frame pointer", exceptionTables(bare(ARM, "stacks.c", "-mthumb", "-O3", "-fno-omit-frame-pointer", "-funwind-tables")), byEHABI, false},
	{"arm/static", built(ARM, "stacks.c", "-g", "-O2", "-static", "-funwind-tables"), []order{{nil, toMain}}, true},
	{"arm/threads", built(ARM, "threads.c", "-g", "-O2", "-static", "-pthread"), []order{byDefault}, false},
	{"arm/library", dynamic(ARM, "library.c", "-g", "-O2"), []order{{nil, toMain}}, false},
	{"arm/library of A32 code", dynamic(ARM, "library.c", "-g", "-marm", "-O2"), []order{{nil, toMain}}, false},
	{"arm/A32 O0", bare(ARM, "stacks.c", "-g", "-marm", "-O0"), tables, true},
	{"arm/A32 O2", bare(ARM, "stacks.c", "-g", "-marm", "-O2"), tables, true},
	{"arm/A32 frame pointer", bare(ARM, "stacks.c", "-g", "-marm", "-O2", "-fno-omit-frame-pointer"), tables, true},
	{"arm/Thumb O0", bare(ARM, "stacks.c", "-g", "-mthumb", "-O0"), tables, true},
	{"arm/Thumb O2", bare(ARM, "stacks.c", "-g", "-mthumb", "-O2"), tables, true},
	{"arm/Thumb O3 frame pointer", bare(ARM, "stacks.c", "-g", "-mthumb", "-O3", "-fno-omit-frame-pointer"), tables, true},

	// In programs with a C library, gdb 16 takes frames of handlers for others: no static-pie and
	// no library.
	{"i386/O0", bare(I386, "stacks.c", "-O0"), tables, true},
	{"i386/O2", bare(I386, "stacks.c", "-O2"), tables, true},
	{"i386/frame pointer", bare(I386, "stacks.c", "-O2", "-fno-omit-frame-pointer"), tables, true},
	{"i386/threads", built(I386, "threads.c", "-O2", "-static", "-pthread"), tables, false},
	{"i386/deep", bare(I386, "stacks.c", "-O2", "-DDEPTH=8000"), tables, true},

	{"s390x/SFrame V3", committed(S390X, "stacks-s390x-v3"), version(bySFrame), true},
	{"s390x/SFrame V3, back chain", committed(S390X, "stacks-s390x-v3-backchain"), version(bySFrame), true},
	{"s390x/no SFrame", bare(S390X, "stacks.c", "-O2"), tables, true},
	{"s390x/back chain", bare(S390X, "stacks.c", "-O2", "-mbackchain"), tables, true},
	{"s390x/O0", bare(S390X, "stacks.c", "-O0"), tables, true},
	{"s390x/packed stack", bare(S390X, "stacks.c", "-O2", "-mpacked-stack"), tables, true},
	{"s390x/stack clash protection", bare(S390X, "stacks.c", "-O2", "-fstack-clash-protection"), tables, true},
	{"s390x/static", built(S390X, "stacks.c", "-O2", "-static"), tables, true},
	{"s390x/threads", built(S390X, "threads.c", "-O2", "-static", "-pthread"), tables, false},
	{"s390x/library", dynamic(S390X, "library.c", "-O2"), tables, false},
	{"s390x/registered code", registers(S390X), tables, false},
	{"s390x/deep", bare(S390X, "stacks.c", "-O2", "-DDEPTH=8000"), tables, true},
}
