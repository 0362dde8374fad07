//go:build linux

package stacks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/guesttest"
	"github.com/sfwalk/sfwalk/internal/test/valuetest"
)

// TestLocalsOfGuestsAsGDB compares arguments and locals of generated programs for other processors
// with what gdb-multiarch prints of the same core files.
func TestLocalsOfGuestsAsGDB(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.ARM, guesttest.I386, guesttest.S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			if p == guesttest.I386 {
				gdbtest.NeedGDB(t, 13) // later, qemu's core files lack the vDSO's code, which the innermost frame is in
			}
			counts := valuetest.Tally{Known: func(d gdbtest.FullDifference) string { return knownOfGuest(p, d) }}
			for i, program := range []valuetest.Program{valuetest.C(1), valuetest.C(2), valuetest.CXX(3), valuetest.CXX(4)} {
				b := valuetest.Builds[i%2]
				t.Run(fmt.Sprint(program.Name, b.Flags), func(t *testing.T) { localsOfGuest(t, p, program, b, &counts) })
			}
			counts.Log(t)
		})
	}
}

// TestLocalsAtStubAsGDB does the same of programs that an emulator has stopped, at its stub; and
// compares libstdc++'s containers with what its own printers make of them.
func TestLocalsAtStubAsGDB(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	const printers = "/usr/share/gcc/python"
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.I386, guesttest.S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			counts := valuetest.Tally{Known: func(d gdbtest.FullDifference) string { return knownOfGuest(p, d) }}
			b := valuetest.Build{Compiler: "gcc", Flags: []string{"-O2", "-g", "-static"}, Triple: p.Triple}
			program := valuetest.Compile(t, valuetest.C(5), b)
			localsAtStub(t, &guesttest.Guest{Processor: p, Path: program, Stops: []string{"stop"}, Full: []string{"set charset UTF-8"}}, &counts, "--raw")
			if p == guesttest.ARM64 {
				t.Run("containers", func(t *testing.T) {
					gdbtest.File(t, printers)
					program = gdbtest.Compile(t, gdbtest.Testdata(t, "progs", "containers.cc"), gdbtest.Tool(t, p.Triple+"-g++"), "-std=c++17", "-g", "-O0", "-static", "-pthread")
					localsAtStub(t, &guesttest.Guest{Processor: p, Path: program, Stops: []string{"block"}, Full: []string{"set charset UTF-8",
						"python import sys; sys.path.insert(0, '" + printers + "')",
						"python from libstdcxx.v6.printers import register_libstdcxx_printers; register_libstdcxx_printers(None)"}}, &counts)
				})
			}
			counts.Log(t)
		})
	}
}

// localsAtStub compares a guest at its first stop.
func localsAtStub(t *testing.T, g *guesttest.Guest, counts *valuetest.Tally, flags ...string) {
	t.Helper()
	counts.Constants = valuetest.ByteConstants(t, g.Path)
	n := 0
	g.Each(t, false, func(stop *guesttest.Stop) {
		if n++; n > 1 {
			return
		}
		out, lost := locals(t, flags, "remote", "unix:"+stop.Stub, "--exe", g.Path)
		want, got := valuetest.Parse(t, stop.Full), valuetest.Parse(t, out)
		if len(want) != 1 || len(got) != 1 {
			t.Fatalf("gdb has %d threads, want 1; there are %d", len(want), len(got))
		}
		want[0].TID = got[0].TID // gdb's number of a thread of a stub is its own
		counts.Add(t, gdbtest.CompareFull(want, got), lost)
	})
}

// wrongDecimal matches what gdb makes of 1.1 and -123456.5 as decimal numbers of 64 or 128 bits.
var wrongDecimal = regexp.MustCompile(`9\.086519502435948349928368576135185E-1788|5\.629499534213137E-110|5\.629499535577829E-110`)

// knownOfGuest says why a value of a guest is no defect although gdb has it in another way, or
// returns "".
func knownOfGuest(p *guesttest.Processor, d gdbtest.FullDifference) string {
	switch {
	case d.Got == "..." && strings.HasPrefix(d.Want, "<error reading variable: Cannot access memory at address "):
		return "gdb takes a register that the callee need not preserve for the caller's"
	case strings.Contains(d.Want, "(Cannot find thread-local storage for "):
		return "gdb finds no variables of threads of other processors"
	case p == guesttest.S390X && wrongDecimal.MatchString(d.Want) && (strings.Contains(d.Got, "1.1") || strings.Contains(d.Got, "-123456.5")): // as the source has it
		return "gdb takes decimal numbers of a big-endian processor for others"
	case strings.Contains(d.Want, "{std::_V2::error_category: "):
		return "gdb's printer does not find the names of a static program's categories of errors"
	case strings.Contains(d.Want, "value requires 17179869184 bytes"):
		return "gdb takes an array without elements for one of all numbers of 32 bits"
	}
	return ""
}

// localsOfGuest compares a program that has crashed under an emulator.
func localsOfGuest(t *testing.T, p *guesttest.Processor, program valuetest.Program, b valuetest.Build, counts *valuetest.Tally) {
	t.Helper()
	b.Triple = p.Triple
	b.Flags = append([]string{"-static"}, b.Flags...)
	path := valuetest.Compile(t, program, b)
	counts.Constants = valuetest.ByteConstants(t, path)
	core := (&guesttest.Guest{Processor: p, Path: path}).Dump(t, "die")
	want := valuetest.Parse(t, gdbtest.FullCore(t, path, core, gdbtest.OfGuest()))
	out, lost := locals(t, []string{"--raw"}, "core", core, "--exe", path)
	counts.Add(t, gdbtest.CompareFull(want, valuetest.Parse(t, out)), lost)
}

// TestLocals386AsGDB does the same of processes of 32-bit x86 on this machine.
func TestLocals386AsGDB(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	gdbtest.Need386(t)
	for i, program := range []valuetest.Program{valuetest.C(6), valuetest.CXX(7)} {
		b := valuetest.Builds[i%2]
		b.Triple, b.Flags = guesttest.I386.Triple, append(gdbtest.Dynamic386[:len(gdbtest.Dynamic386):len(gdbtest.Dynamic386)], b.Flags...)
		t.Run(program.Name, func(t *testing.T) {
			counts := valuetest.Tally{Known: func(d gdbtest.FullDifference) string { return knownOfGuest(guesttest.I386, d) }}
			localsAsGDB(t, valuetest.Compile(t, program, b), "", &counts, []string{"--raw"})
			counts.Log(t)
		})
	}
}
