//go:build linux

package gdbtest

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
)

// PromiseFP returns a copy of the ELF file at path whose SFrame section (V1 or V2) has no
// FDE, and says that all functions keep frame pointers (SFRAME_F_FRAME_POINTER). No
// assembler sets that flag.
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
	header[3] |= 2      // sfp_flags
	clear(header[8:12]) // sfh_num_fdes
	copied = filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}
