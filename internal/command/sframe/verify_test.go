package sframe

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/command/exit"
	"github.com/sfwalk/sfwalk/internal/test/commandtest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestSFrameVerify finds the linker's mistake in a committed program, and nothing else. readelf
// shows both sides.
func TestSFrameVerify(t *testing.T) {
	code := func(err error) int {
		var status exit.Status
		if errors.As(err, &status) {
			return status.Code
		}
		return 0
	}
	file := binaries + "mix-v3"
	out, _, err := commandtest.Run("sframe", "verify", file, "--json")
	if code(err) != exit.Disagree {
		t.Errorf("exit code %d, %v; want %d", code(err), err, exit.Disagree)
	}
	commandtest.InPage(t, "sfwalk sframe verify", out)
	var d struct {
		Agree         bool
		Disagreements []struct {
			Lo, Hi, Function string
			Differs          []string
			SFrame, DWARF    struct{ CFA, RA, FP string }
		}
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if d.Agree || len(d.Disagreements) != 1 {
		t.Fatalf("%+v", d)
	}
	x := d.Disagreements[0]
	text, err := os.ReadFile(file + ".readelf")
	if err != nil {
		t.Fatal(err)
	}
	dwarf, err := exec.Command("readelf", "--debug-dump=frames-interp", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	// Both tables start with the function; in SFrame, that is its first block.
	_, sframeSays, _ := strings.Cut(string(text), "pc = 0x1100, ")
	// DWARF's FDE adds no rows to its CIE's.
	dwarfSays, fde, _ := strings.Cut(string(dwarf), " FDE cie=00000000 pc=0000000000001100..")
	_, dwarfSays, _ = strings.Cut(dwarfSays, "00000000 0000000000000014 00000000 CIE ")
	if row := strings.Split(sframeSays, "\n")[2]; !strings.HasPrefix(row, "    0000000000000000  "+x.SFrame.CFA+" ") {
		t.Errorf("SFrame %+v, readelf %q", x.SFrame, row)
	}
	if row := strings.Split(dwarfSays, "\n")[2]; !strings.HasPrefix(row, "0000000000000000 r"+x.DWARF.CFA+" ") || !strings.HasPrefix(strings.Join(strings.Fields(fde), " "), "0000000000001108 00000058 ") {
		t.Errorf("DWARF %+v, readelf %q", x.DWARF, row)
	}
	if x.Lo != "0x1100" || x.Hi != "0x1108" || x.Function != ".plt.got" || strings.Join(x.Differs, " ") != "CFA" || x.SFrame.CFA == x.DWARF.CFA {
		t.Errorf("%+v", x)
	}
	if out, _, err := commandtest.Run("sframe", "verify", file); code(err) != exit.Disagree || !strings.Contains(out, "0x1100..0x1108  .plt.got: CFA differs\n") ||
		!strings.Contains(out, "DISAGREE: 1 disagreement, in 8 bytes of ") {
		t.Errorf("%v\n%s", err, out)
	}

	for _, args := range [][]string{{"/nowhere"}, {"/usr/bin/gcc"}, {"sframe_verify.go"}, {}} {
		if _, _, err := commandtest.Run(append([]string{"sframe", "verify"}, args...)...); code(err) != exit.Trouble && !errors.As(err, new(exit.Usage)) {
			t.Errorf("verify %v: %v", args, err)
		} else if len(args) > 0 && strings.Count(err.Error(), args[0]) != 1 {
			t.Errorf("verify %v: the error names the file more than once: %v", args, err)
		}
	}

	// For code of this machine's compiler, its assembler writes right rows. Start-up code is left
	// out: linkers make a .plt.got for it, with a wrong row (ld 2.41 and later).
	so := filepath.Join(t.TempDir(), "rows.so")
	gdbtest.Assembler(t, "as")
	args := append(gdbtest.Undo("gcc"), "-O2", "-fPIC", "-shared", "-nostartfiles", "-Wa,--gsframe", "../../../format/sframe/testdata/rows.c", "-o", so)
	if out, err := exec.Command(gdbtest.Tool(t, "gcc"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, _, err := commandtest.Run("sframe", "verify", so); err != nil || !strings.Contains(out, "SFrame and DWARF agree, for all ") {
		t.Errorf("%v\n%s", err, out)
	}
}
