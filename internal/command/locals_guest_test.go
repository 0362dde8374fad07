//go:build linux

package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/guesttest"
	"github.com/sfwalk/sfwalk/internal/valuetest"
)

// TestLocalsOfGuestsAsGDB compares arguments and locals of generated programs for other processors with what gdb-multiarch
// prints of the same core files.
func TestLocalsOfGuestsAsGDB(t *testing.T) {
	for _, p := range []*guesttest.Processor{guesttest.ARM64, guesttest.ARM, guesttest.I386, guesttest.S390X} {
		t.Run(p.GOARCH, func(t *testing.T) {
			t.Parallel()
			counts := tally{known: func(d gdbtest.FullDifference) string { return knownOfGuest(p, d) }}
			for i, program := range []valuetest.Program{valuetest.C(1), valuetest.C(2), valuetest.CXX(3), valuetest.CXX(4)} {
				b := valuetest.Builds[i%2]
				t.Run(fmt.Sprint(program.Name, b.Flags), func(t *testing.T) { localsOfGuest(t, p, program, b, &counts) })
			}
			counts.log(t)
		})
	}
}

// knownOfGuest says why a value of a guest is no defect although gdb has it in another way, or returns "".
func knownOfGuest(p *guesttest.Processor, d gdbtest.FullDifference) string {
	switch {
	case d.Got == "..." && strings.HasPrefix(d.Want, "<error reading variable: Cannot access memory at address "):
		return "gdb takes a register that the callee need not preserve for the caller's"
	case strings.Contains(d.Want, "Cannot find thread-local variables on this target"):
		return "gdb finds no variables of threads of other processors"
	case p == guesttest.S390X && strings.Contains(d.Want, "9.086519502435948349928368576135185E-1788") && strings.Contains(d.Got, "1.1"):
		return "gdb swaps the halves of decimal numbers of 128 bits"
	case strings.Contains(d.Want, "value requires 17179869184 bytes"):
		return "gdb takes an array without elements for one of all numbers of 32 bits"
	}
	return ""
}

// localsOfGuest compares a program that has crashed under an emulator.
func localsOfGuest(t *testing.T, p *guesttest.Processor, program valuetest.Program, b valuetest.Build, counts *tally) {
	t.Helper()
	b.Triple = p.Triple
	b.Flags = append([]string{"-static"}, b.Flags...)
	path := compileValues(t, program, b)
	counts.constants = byteConstants(t, path)
	core := (&guesttest.Guest{Processor: p, Path: path}).Dump(t, "die")
	want := parseFull(t, gdbtest.FullCore(t, path, core, gdbtest.OfGuest()))
	out, stderr, err := command("core", core, "--exe", path, "--locals", "--raw")
	if err != nil || stderr != "" {
		t.Errorf("%v %s", err, stderr)
	}
	counts.add(t, gdbtest.CompareFull(want, parseFull(t, out)))
}
