package cfi

import (
	"debug/elf"
	"encoding/binary"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
)

// TestDoubles: clang's tables name d8, by AADWARF32's number 264, gcc's its halves s16 and s17.
func TestDoubles(t *testing.T) {
	for number, want := range map[string]string{"264": "CFA=r13+16 RA=same FP=same r80=[CFA-16]", "80": "CFA=r13+16 RA=same FP=same r80=[CFA-16]", "288": "CFA=r13+16 RA=same FP=same"} {
		out := filepath.Join(t.TempDir(), "f.o")
		cmd := exec.Command(gdbtest.Tool(t, "arm-linux-gnueabihf-gcc"), "-c", "-o", out, "-x", "assembler", "-")
		cmd.Stdin = strings.NewReader(".cfi_sections .debug_frame\n.text\nf:\n.cfi_startproc\n.cfi_def_cfa_offset 16\n.cfi_offset " + number + ", -16\nbx lr\n.cfi_endproc\n")
		if msg, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, msg)
		}
		f, err := elf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		data, err := f.Section(".debug_frame").Data()
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Debug, data, 0, Options{ABI: ABI{Order: binary.LittleEndian, PtrSize: 4, FP: 11, Link: 14, Doubles: 256, Halves: 64}})
		if err != nil {
			t.Fatal(err)
		}
		row, _, err := s.Row(0)
		if got := row.Format(nil); err != nil || got != want {
			t.Errorf("register %s: %s, %v; want %s", number, got, err, want)
		}
	}
}
