//go:build linux

package gdbtest

import (
	"debug/elf"
	"testing"
)

// PromiseFP returns a copy of the ELF file at path whose SFrame section has no FDE, and says that
// all functions keep frame pointers (SFRAME_F_FRAME_POINTER). No assembler sets that flag, and V3
// no longer has it: a section of V3, as binutils writes it since 2.46, becomes one of V2, which has
// the same header.
func PromiseFP(t testing.TB, path string) (copied string) {
	t.Helper()
	return Changed(t, path, func(f *elf.File, data []byte) []byte {
		section := f.Section(".sframe")
		if section == nil {
			t.Fatalf("%s has no .sframe", path)
		}
		header := data[section.Offset:]
		header[2] = min(header[2], 2)
		header[3] |= 2      // sfp_flags
		clear(header[8:12]) // sfh_num_fdes
		return data
	})
}
