package minidump_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
)

// TestHoles: of a list that is a hole in the file, as many entries are read as are there.
func TestHoles(t *testing.T) {
	const size = 32 << 20
	for _, tt := range []struct {
		kind  uint32
		head  []uint32 // of the list
		entry uint32
		n     func(*minidump.File) int
	}{
		{3, []uint32{(size - 4) / 48}, 48, func(f *minidump.File) int { return len(f.Threads) }},
		{4, []uint32{(size - 4) / 108}, 108, func(f *minidump.File) int { return len(f.Modules) }},
		{5, []uint32{(size - 4) / 16}, 16, func(f *minidump.File) int { return len(f.Memory) }},
		{9, []uint32{(size - 16) / 16, 0, 0, 0}, 16, func(f *minidump.File) int { return len(f.Memory) }},
		{14, []uint32{12, 24, (size - 12) / 24}, 24, func(f *minidump.File) int { return len(f.Unloaded) }},
		{16, []uint32{16, 48, (size - 16) / 48, 0}, 48, func(f *minidump.File) int { return len(f.Regions) }},
	} {
		d := dumptest.New()
		d.System(9, 0x8201, "")
		d.Stream(tt.kind, d.U32(tt.head...))
		data := d.Bytes(0)
		copy(data[32+12+4:], d.U32(size)) // the second stream's size
		path := filepath.Join(t.TempDir(), "x.dmp")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(data)+size)); err != nil {
			t.Fatal(err)
		}
		f, err := minidump.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := tt.n(f); n > 256<<10/int(tt.entry) || !strings.Contains(strings.Join(f.Warnings, "\n"), "a hole: what follows is left out") {
			t.Errorf("stream %d: %d entries, %q", tt.kind, n, f.Warnings)
		}
		f.Close()
	}
}
