package sframeverify_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/sframe"
	"github.com/sfwalk/sfwalk/internal/sframeverify"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestThisToolchain compares a program of binutils 2.40, whose mistakes are known. It writes a CFA
// in r10 as if it were in SP. It describes the first stub of .plt.sec like the first stub of .plt.
// It describes stubs of .plt with endbr64, which push at offset 4 to 9, like stubs without, which
// push at 6 to 11.
func TestThisToolchain(t *testing.T) {
	gcc := gdbtest.Tool(t, "x86_64-linux-gnu-gcc")
	version, err := exec.Command(gdbtest.Tool(t, "x86_64-linux-gnu-as"), "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(version), " 2.40") {
		gdbtest.Cannot(t, "its toolchain is not binutils 2.40")
	}
	for _, tt := range []struct {
		source string
		flags  []string
		want   map[string]sframeverify.Fields
	}{
		{"steps.c", []string{"-mavx2"}, map[string]sframeverify.Fields{"step_asm_cfa_register": sframeverify.CFA}},
		{"plt.c", []string{"-fcf-protection", "-Wl,-z,ibtplt"}, map[string]sframeverify.Fields{".plt": sframeverify.CFA, ".plt.sec": sframeverify.CFA}},
	} {
		out := filepath.Join(t.TempDir(), "program")
		args := append([]string{"-O2", "-pthread", "-Wl,-z,lazy", "-Wa,--gsframe", "../../testdata/progs/" + tt.source, "-o", out}, tt.flags...)
		if msg, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		r := file(t, out)
		found := map[string]sframeverify.Fields{}
		for _, d := range r.Disagreements {
			found[d.Function] |= d.Fields
		}
		if r.Versions[0] != sframe.V1 || !maps.Equal(found, tt.want) {
			t.Errorf("%s:\n%s\nwant %v", tt.source, strings.Join(lines(r), "\n"), tt.want)
		}
		linked := inFunctions(r)

		// Before linking, the mistakes are the same without the linker's stubs.
		for _, sections := range []string{"-fno-function-sections", "-ffunction-sections"} {
			args := append(slices.Clone(args), "-c", sections)
			if msg, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, msg)
			}
			r := file(t, out)
			if got := inFunctions(r); !r.Relocatable || !slices.Equal(got, linked) || len(r.Problems) > 0 || r.Compared < 50 {
				t.Errorf("%s with %s, relocatable: %q, linked %q; problems %v, %d bytes compared", tt.source, sections, got, linked, r.Problems, r.Compared)
			}
		}
	}
}

// TestChangedSlot: on amd64, binutils 2.40 and 2.44 forget that RA has moved from the place where
// the call put it. 2.47 writes a flexible row.
func TestChangedSlot(t *testing.T) {
	as := gdbtest.Tool(t, "x86_64-linux-gnu-as")
	version, err := exec.Command(as, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(` 2\.4[0-7]`).Match(version) {
		gdbtest.Cannot(t, "its assembler is not of binutils 2.40 to 2.47")
	}
	out := filepath.Join(t.TempDir(), "slot.o")
	cmd := exec.Command(as, "--gsframe", "-o", out, "-")
	cmd.Stdin = strings.NewReader("f: .cfi_startproc\n push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_offset 16, -24\n nop\n" +
		" .cfi_offset 16, -8\n pop %rbx\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	r := file(t, out)
	forgotten := r.Versions[0] < sframe.V3
	if got := len(r.Disagreements) == 1 && r.Disagreements[0].Fields == sframeverify.RA; got != forgotten || !forgotten && len(r.Disagreements) > 0 {
		t.Errorf("%s%v", version, lines(r))
	}
}

// inFunctions writes the disagreements in functions, without addresses.
func inFunctions(r *sframeverify.Result) (list []string) {
	for _, d := range r.Disagreements {
		if !strings.HasPrefix(d.Function, ".") {
			list = append(list, fmt.Sprintf("%s+%d %v", d.Function, d.Offset, d.Fields))
		}
	}
	return list
}
