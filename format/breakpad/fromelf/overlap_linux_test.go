package fromelf_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/breakpad"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/elftest"
)

// TestCompareLarge: code of gigabytes without rules is passed over in one step, and thousands of
// tables for the same code are not all compared with thousands of records.
func TestCompareLarge(t *testing.T) {
	const size = 0xfff00000
	order := binary.LittleEndian
	entry := func(body []byte) []byte {
		body = append(body, make([]byte, -(len(body)+4)&7)...)
		return append(order.AppendUint32(nil, uint32(len(body))), body...)
	}
	fde := order.AppendUint64(order.AppendUint64(order.AppendUint32(nil, 0), 0x100000), size)
	for _, tt := range []struct{ fdes, records, missing int }{{1, 1, size - 1}, {4000, 2000, -1}} {
		frames := entry([]byte("\xff\xff\xff\xff\x01\x00\x01\x78\x10\x0c\x07\x08\x90\x01"))
		frames = append(frames, bytes.Repeat(entry(fde), tt.fdes)...)
		const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
		f := &elftest.File{Class: elf.ELFCLASS64, Machine: elf.EM_X86_64, Type: elf.ET_DYN, Sections: []elftest.Section{
			{Name: ".text", Type: elf.SHT_NOBITS, Flags: code, Addr: 0x100000, Size: size},
			{Name: ".note.gnu.build-id", Type: elf.SHT_NOTE, Flags: elf.SHF_ALLOC, Addr: 0x1000, Align: 4,
				Data: []byte("\x04\x00\x00\x00\x08\x00\x00\x00\x03\x00\x00\x00GNU\x00expanded")},
			{Name: ".debug_frame", Data: frames}}}
		path := filepath.Join(t.TempDir(), "large")
		if err := os.WriteFile(path, f.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		fmt.Fprintf(&text, "MODULE Linux x86_64 %s0 large\n", breakpad.BuildIDIdentifier([]byte("expanded"))[:32])
		for i := range tt.records {
			fmt.Fprintf(&text, "STACK CFI INIT %x 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0xff010+16*i)
		}
		bounds.Hold(t, 1<<30, func() {
			c, err := compared(t, text.String(), path)
			switch {
			case err != nil:
				t.Error(err)
			case tt.missing >= 0 && (c.Missing != uint64(tt.missing) || c.Compared != 1 || len(c.Problems) > 0):
				t.Errorf("%+v", c)
			case tt.missing < 0 && len(c.Problems) != 1:
				t.Errorf("%d problems", len(c.Problems))
			}
		})
	}
}
