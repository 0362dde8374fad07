package cfi

import (
	"fmt"

	"github.com/sfwalk/sfwalk/format/dwarf"
)

// Op is the operation of a call frame instruction (DWARF 5, section 7.24). The first three hold
// their first operand in their low six bits.
type Op uint8

// Operations, DWARF 5 table 7.29, and others'.
const (
	CFAAdvanceLoc Op = 0x40
	CFAOffset     Op = 0x80
	CFARestore    Op = 0xc0

	CFANop              Op = 0x00
	CFASetLoc           Op = 0x01
	CFAAdvanceLoc1      Op = 0x02
	CFAAdvanceLoc2      Op = 0x03
	CFAAdvanceLoc4      Op = 0x04
	CFAOffsetExtended   Op = 0x05
	CFARestoreExtended  Op = 0x06
	CFAUndefined        Op = 0x07
	CFASameValue        Op = 0x08
	CFARegister         Op = 0x09
	CFARememberState    Op = 0x0a
	CFARestoreState     Op = 0x0b
	CFADefCFA           Op = 0x0c
	CFADefCFARegister   Op = 0x0d
	CFADefCFAOffset     Op = 0x0e
	CFADefCFAExpression Op = 0x0f
	CFAExpression       Op = 0x10
	CFAOffsetExtendedSF Op = 0x11
	CFADefCFASF         Op = 0x12
	CFADefCFAOffsetSF   Op = 0x13
	CFAValOffset        Op = 0x14
	CFAValOffsetSF      Op = 0x15
	CFAValExpression    Op = 0x16

	CFAMIPSAdvanceLoc8           Op = 0x1d
	CFASetRAState                Op = 0x2b // AArch64
	CFANegateRAStateWithPC       Op = 0x2c // AArch64
	CFANegateRAState             Op = 0x2d // AArch64; GNU_window_save on SPARC
	CFAGNUArgsSize               Op = 0x2e
	CFAGNUNegativeOffsetExtended Op = 0x2f
)

var instructionNames = map[Op]string{
	CFAAdvanceLoc:                "advance_loc",
	CFAOffset:                    "offset",
	CFARestore:                   "restore",
	CFANop:                       "nop",
	CFASetLoc:                    "set_loc",
	CFAAdvanceLoc1:               "advance_loc1",
	CFAAdvanceLoc2:               "advance_loc2",
	CFAAdvanceLoc4:               "advance_loc4",
	CFAOffsetExtended:            "offset_extended",
	CFARestoreExtended:           "restore_extended",
	CFAUndefined:                 "undefined",
	CFASameValue:                 "same_value",
	CFARegister:                  "register",
	CFARememberState:             "remember_state",
	CFARestoreState:              "restore_state",
	CFADefCFA:                    "def_cfa",
	CFADefCFARegister:            "def_cfa_register",
	CFADefCFAOffset:              "def_cfa_offset",
	CFADefCFAExpression:          "def_cfa_expression",
	CFAExpression:                "expression",
	CFAOffsetExtendedSF:          "offset_extended_sf",
	CFADefCFASF:                  "def_cfa_sf",
	CFADefCFAOffsetSF:            "def_cfa_offset_sf",
	CFAValOffset:                 "val_offset",
	CFAValOffsetSF:               "val_offset_sf",
	CFAValExpression:             "val_expression",
	CFAMIPSAdvanceLoc8:           "MIPS_advance_loc8",
	CFASetRAState:                "AARCH64_set_ra_state",
	CFANegateRAStateWithPC:       "AARCH64_negate_ra_state_with_pc",
	CFANegateRAState:             "AARCH64_negate_ra_state",
	CFAGNUArgsSize:               "GNU_args_size",
	CFAGNUNegativeOffsetExtended: "GNU_negative_offset_extended",
}

// String names the operation: "DW_CFA_nop".
func (op Op) String() string {
	if name, ok := instructionNames[op]; ok {
		return "DW_CFA_" + name
	}
	return fmt.Sprintf("instruction %#02x", uint8(op))
}

// opOf returns the operation of an instruction that begins with a byte.
func opOf(b byte) Op {
	if b&0xc0 != 0 {
		b &= 0xc0
	}
	return Op(b)
}

// Instruction is a call frame instruction with its operands, as they are encoded: no factor is
// applied.
type Instruction struct {
	Op Op
	// Reg is the register; or, of an advance, of DW_CFA_def_cfa_offset and of others without a
	// register, the operand.
	Reg uint64
	N   uint64 // the second operand; a signed one as two's complement
	// Block is where the instruction has an expression: the offset of its length. 0 for none.
	Block int
}

// ReadInstruction reads the next instruction. It does not read the operand of DW_CFA_set_loc, which
// is encoded as the CIE says. known is false if there is no such operation. If the instruction is
// cut off, or has a number of more than 64 bits, r is bad.
func ReadInstruction(r *dwarf.Reader) (in Instruction, known bool) {
	op := Op(r.U8())
	switch op & 0xc0 {
	case CFAOffset:
		return Instruction{Op: CFAOffset, Reg: uint64(op & 0x3f), N: r.ULEB128()}, true
	case CFAAdvanceLoc, CFARestore:
		return Instruction{Op: op & 0xc0, Reg: uint64(op & 0x3f)}, true
	}
	var reg, n uint64
	switch op {
	case CFANop, CFASetLoc, CFARememberState, CFARestoreState, CFANegateRAState, CFANegateRAStateWithPC:
	case CFAAdvanceLoc1:
		reg = uint64(r.U8())
	case CFAAdvanceLoc2:
		reg = uint64(r.U16())
	case CFAAdvanceLoc4:
		reg = uint64(r.U32())
	case CFAMIPSAdvanceLoc8:
		reg = r.U64()
	case CFADefCFARegister, CFADefCFAOffset, CFAUndefined, CFASameValue, CFARestoreExtended, CFAGNUArgsSize:
		reg = r.ULEB128()
	case CFADefCFAOffsetSF:
		reg = uint64(r.SLEB128())
	case CFADefCFA, CFAOffsetExtended, CFAValOffset, CFARegister, CFAGNUNegativeOffsetExtended:
		reg = r.ULEB128()
		n = r.ULEB128()
	case CFADefCFASF, CFAOffsetExtendedSF, CFAValOffsetSF, CFASetRAState:
		reg = r.ULEB128()
		n = uint64(r.SLEB128())
	case CFADefCFAExpression, CFAExpression, CFAValExpression:
		if op != CFADefCFAExpression {
			reg = r.ULEB128()
		}
		in.Block = r.Off
		r.Take(r.ULEB128())
	default:
		return Instruction{Op: op}, false
	}
	return Instruction{Op: op, Reg: reg, N: n, Block: in.Block}, true
}

// Expression returns the expression of an instruction: a part of program, which the instruction was
// read from. It is nil if the instruction has none.
func (in *Instruction) Expression(program []byte) []byte {
	if in.Block == 0 {
		return nil
	}
	r := dwarf.Reader{Data: program, Off: in.Block}
	return r.Take(r.ULEB128())
}
