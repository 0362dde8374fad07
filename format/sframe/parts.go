package sframe

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/sfwalk/sfwalk/format/pages"
)

// maxParts bounds the parts of a section. A large program is linked of some ten thousand objects.
const maxParts = 1 << 17

// OpenParts is [Open] for a section that may have several parts, each with a header of its own:
// some linkers (lld) only put the sections of objects one behind the other, with zeros between
// them. Bytes behind a part that begin no header are ignored. If a part cannot be opened, the parts
// before it come with the error.
func OpenParts(data []byte, addr uint64) (list []*Section, err error) {
	return OpenPages(pages.Of(data), addr)
}

// OpenPages is [OpenParts] for bytes that are read as look-ups need them.
func OpenPages(bytes *pages.Bytes, addr uint64) (list []*Section, err error) {
	for off := 0; ; {
		s, err := open(bytes, off, addr+uint64(off))
		if err != nil {
			if off > 0 {
				err = fmt.Errorf("part %d at %#x: %w", len(list), off, err)
			}
			return list, err
		}
		list = append(list, s)
		for off += s.size; off < bytes.Len(); off++ {
			if b, ok := bytes.View(off, off+1); !ok || b[0] != 0 {
				break
			}
		}
		head, ok := bytes.View(off, off+headerSize)
		if !ok {
			return list, nil
		}
		if len(list) == maxParts {
			return list, fmt.Errorf("part %d at %#x: a section has no more than %d", len(list), off, maxParts)
		}
		if magic := binary.LittleEndian.Uint16(head); magic != Magic && magic != bits.ReverseBytes16(Magic) {
			return list, nil
		}
	}
}
