package cfi

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// FrameAddress returns the address of the .eh_frame that a .eh_frame_hdr points to. header has the
// bytes of the .eh_frame_hdr, addr is its address. Call it for a file without section headers,
// where a segment (PT_GNU_EH_FRAME) has the .eh_frame_hdr and nothing else tells where .eh_frame
// is. The error says that the header has another version, or no pointer that can be read.
func FrameAddress(header []byte, addr uint64, abi ABI) (uint64, error) {
	if abi.Order == nil {
		return 0, errors.New("cfi: ABI.Order is not set")
	}
	c := reader{Reader: dwarf.Reader{Data: header, Big: abi.Order.Uint16([]byte{0, 1}) == 1}}
	version, ptrEnc := c.U8(), c.U8()
	c.U8() // encoding of the count
	c.U8() // encoding of the table
	if c.Bad || version != 1 || ptrEnc == encOmit {
		return 0, fmt.Errorf("cfi: .eh_frame_hdr at %#x: version %d does not point to .eh_frame", addr, version)
	}
	at := Section{addr: addr, dataBase: addr}
	v, why := at.pointer(&c, ptrEnc, uint8(abi.PtrSize), 0, false)
	if why != "" {
		return 0, fmt.Errorf("cfi: .eh_frame_hdr at %#x: pointer to .eh_frame: %s", addr, why)
	}
	return v, nil
}
