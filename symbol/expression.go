package symbol

import (
	"encoding/binary"
	"fmt"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
	dwarfexpr "github.com/sfwalk/sfwalk/format/dwarf/expr"
)

// Expression is a DWARF expression (DWARF 5, section 2.5), with what its unit gives it.
type Expression struct {
	Code       []byte
	Order      binary.ByteOrder
	AddrSize   int // bytes of an address in the unit: 4 or 8
	OffsetSize int // bytes of an offset in the unit: 4 or 8
	Version    int // of the unit
	// Address returns a link-time address of the unit's part of .debug_addr.
	Address func(index uint64) (uint64, error)
}

// expression makes an Expression of a unit.
func (d *debugInfo) expression(u *unit, code []byte) *Expression {
	h := u.head
	return &Expression{
		Code: code, Order: d.order, AddrSize: int(u.AddrSize), OffsetSize: int(u.OffsetSize), Version: int(u.Version),
		Address: func(i uint64) (uint64, error) {
			a, ok := d.address(u, h, dwarfdata.Value{N: i, Class: dwarfdata.ClassAddrIndex})
			if !ok {
				return 0, fmt.Errorf("there is no address of index %d", i)
			}
			return a, nil
		},
	}
}

// evaluated returns x for package dwarfexpr.
func (x *Expression) evaluated() dwarfexpr.Expression {
	return dwarfexpr.Expression{Code: x.Code, Order: x.Order, AddrSize: x.AddrSize, OffsetSize: x.OffsetSize, Version: x.Version}
}
