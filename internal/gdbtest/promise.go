//go:build linux

package gdbtest

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// PromiseFP returns a copy of the ELF file at path whose SFrame section has no FDE, and says
// that all functions keep frame pointers (SFRAME_F_FRAME_POINTER). No assembler sets that flag,
// and V3 has it no more: such a section, as binutils since 2.46 writes it, becomes one of V2, whose
// header is the same.
func PromiseFP(t testing.TB, path string) (copied string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".sframe")
	if section == nil {
		t.Fatalf("%s has no .sframe", path)
	}
	header := data[section.Offset:]
	header[2] = min(header[2], 2)
	header[3] |= 2      // sfp_flags
	clear(header[8:12]) // sfh_num_fdes
	copied = filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}
