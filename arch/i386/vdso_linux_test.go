//go:build amd64

package i386

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/internal/rowtest"
)

// TestVDSO compares the rows read from the code of the vDSO, in which blocked threads stand, with its own tables.
func TestVDSO(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "vdso"), filepath.Join(dir, "vdso.so")
	if msg, err := exec.Command(gdbtest.Tool(t, "i686-linux-gnu-gcc"), "-static", "-o", program, "testdata/vdso.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	image, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, image, 0o600); err != nil {
		t.Fatal(err)
	}
	c := processor.Compare(t, file, 0)
	t.Log(c)
	if c.Wrong+c.Rules+c.WrongEpilogue+c.None+c.Unlike > 0 || c.Functions < 1 {
		t.Errorf("%d wrong rows, %d rules, %d epilogues, %d without a row, in %d functions", c.Wrong, c.Rules, c.WrongEpilogue, c.None, c.Functions)
	}
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name != "__kernel_vsyscall" {
			continue
		}
		code, _ := rowtest.Open(t, file).Code(t, s.Value, s.Value+s.Size, 0)
		// Each instruction's row leads to the return address: push %ecx; push %edx; push %ebp come first on all processors.
		depths := map[string]bool{}
		for pc := s.Value; pc < s.Value+s.Size; pc++ {
			if row, _, why := Machine.ReadFrame(code, s.Value, pc); why == "" {
				depths[row.Format(Arch.RegName)] = true
			}
		}
		if !depths["CFA=esp+16 RA=[CFA-4] FP=[CFA-16]"] {
			t.Errorf("__kernel_vsyscall: rows %v", depths)
		}
		return
	}
	t.Error("the vDSO has no __kernel_vsyscall")
}
