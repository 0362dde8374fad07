//go:build linux

package gdbtest

import (
	"debug/elf"
	"encoding/binary"
	"testing"
)

// OldTables returns a copy of the ELF file at path with tables as old compilers wrote them, which
// did not describe epilogues: each FDE of .eh_frame ends with the prologue, and its last row holds
// to the end of the function. Do not use the copy's SFrame section. sp is the stack pointer's DWARF
// number. The test fails if fewer than atLeast FDEs were cut.
func OldTables(t testing.TB, path string, sp uint64, atLeast int) (copied string) {
	t.Helper()
	return Changed(t, path, func(f *elf.File, data []byte) []byte {
		if s := f.Section(".sframe"); s != nil {
			clear(data[s.Offset : s.Offset+4])
		}
		section := f.Section(".eh_frame")
		if section == nil {
			t.Fatalf("%s has no .eh_frame", path)
		}
		cut := 0
		for p := data[section.Offset:][:section.Size]; len(p) > 4; {
			n := f.ByteOrder.Uint32(p)
			if n == 0 {
				break
			}
			entry := p[4 : 4+n]
			p = p[4+n:]
			if f.ByteOrder.Uint32(entry) == 0 {
				continue // a CIE
			}
			c := cfaBytes{p: entry[4+4+4:], order: f.ByteOrder} // the CIE, the range as two words of 4 bytes
			c.p = c.p[c.uleb():]
			if c.endPrologue(sp) {
				clear(c.p) // DW_CFA_nop
				cut++
			}
		}
		if cut < atLeast {
			t.Fatalf("%s: only %d FDEs describe an epilogue", path, cut)
		}
		return data
	})
}

// cfaBytes are call frame instructions (DWARF 5, section 6.4.2).
type cfaBytes struct {
	p     []byte
	order binary.ByteOrder
}

func (c *cfaBytes) uleb() uint64 {
	v, n := binary.Uvarint(c.p)
	c.p = c.p[n:]
	return v
}

// endPrologue goes to the address of the first instruction that takes down a part of the frame. It
// reports whether there is one.
func (c *cfaBytes) endPrologue(sp uint64) bool {
	depth, row := uint64(0), c.p // of the row that is being described
	for len(c.p) > 0 {
		here, down := c.p, false
		op := c.p[0]
		c.p = c.p[1:]
		switch {
		case op>>6 == 1: // advance_loc
			row = here
		case op == 0x02, op == 0x03, op == 0x04: // advance_loc1, 2, 4
			row, c.p = here, c.p[1<<(op-2):]
		case op>>6 == 3, op == 0x06, op == 0x08, op == 0x0a: // restore, restore_extended, same_value, remember_state
			down = true
		case op == 0x0c: // def_cfa
			down = c.uleb() == sp
			c.uleb()
		case op == 0x0e: // def_cfa_offset
			to := c.uleb()
			down, depth = to < depth, to
		case op>>6 == 2, op == 0x0d, op == 0x07, op == 0x2e: // offset, def_cfa_register, undefined, GNU_args_size
			c.uleb()
		case op == 0x05, op == 0x09, op == 0x14: // offset_extended, register, val_offset
			c.uleb()
			c.uleb()
		case op == 0x0f: // def_cfa_expression
			n := c.uleb()
			c.p = c.p[n:]
		case op == 0x10, op == 0x16: // expression, val_expression
			c.uleb()
			n := c.uleb()
			c.p = c.p[n:]
		}
		if down {
			c.p = row
			return true
		}
	}
	return false
}
