package dwarf

import (
	"encoding/binary"
	"path"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzDebugLink reads any .gnu_debuglink: a file name without a folder, then the checksum at a
// multiple of four bytes.
func FuzzDebugLink(f *testing.F) {
	f.Add([]byte("prog.debug\x00\x00\x12\x34\x56\x78"), false)
	f.Add([]byte("abc\x00\x12\x34\x56\x78"), true)
	f.Add([]byte("../x\x00\x00\x00\x00\x12\x34\x56\x78"), false)
	f.Fuzz(func(t *testing.T, data []byte, big bool) {
		order := binary.ByteOrder(binary.LittleEndian)
		if big {
			order = binary.BigEndian
		}
		bounds.Hold(t, 4<<10+4*len(data), func() {
			name, crc, err := ReadDebugLink(data, order)
			if err != nil {
				return
			}
			at := (len(name) + 4) &^ 3
			if name == "" || strings.ContainsAny(name, "/\x00") || path.Clean(name) != name || name == ".." || name == "." ||
				string(data[:len(name)+1]) != name+"\x00" || order.Uint32(data[at:]) != crc {
				t.Errorf("% x: %q, %#x", data, name, crc)
			}
		})
	})
}

// FuzzLink reads any link to a supplementary file.
func FuzzLink(f *testing.F) {
	f.Add([]byte("common\x00\x12\x34\x56"))
	f.Add([]byte("\x05\x00\x00common\x00\x02\x12\x34"))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds.Hold(t, 4<<10+8*len(data), func() {
			if l, err := ReadAltLink(data); err == nil && (l.Name == "" || len(l.ID) < 4) {
				t.Errorf("%+v", l)
			}
			if l, supplementary, err := ReadSup(data, binary.LittleEndian); err == nil && (l.Name == "" && !supplementary || len(l.ID) < 4) {
				t.Errorf("%+v", l)
			}
		})
	})
}
