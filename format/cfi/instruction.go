package cfi

import "fmt"

// Call frame instructions (DWARF 5, section 7.24). The first three hold an
// operand in their low six bits.
const (
	cfaAdvanceLoc = 0x40
	cfaOffset     = 0x80
	cfaRestore    = 0xc0

	cfaNop             = 0x00
	cfaSetLoc          = 0x01
	cfaAdvanceLoc1     = 0x02
	cfaAdvanceLoc2     = 0x03
	cfaAdvanceLoc4     = 0x04
	cfaOffsetExtended  = 0x05
	cfaRestoreExtended = 0x06
	cfaUndefined       = 0x07
	cfaSameValue       = 0x08
	cfaRegister        = 0x09
	cfaRememberState   = 0x0a
	cfaRestoreState    = 0x0b
	cfaDefCFA          = 0x0c
	cfaDefCFARegister  = 0x0d
	cfaDefCFAOffset    = 0x0e
	cfaDefCFAExpr      = 0x0f
	cfaExpression      = 0x10
	cfaOffsetExtSF     = 0x11
	cfaDefCFASF        = 0x12
	cfaDefCFAOffsetSF  = 0x13
	cfaValOffset       = 0x14
	cfaValOffsetSF     = 0x15
	cfaValExpression   = 0x16

	cfaMIPSAdvanceLoc8      = 0x1d
	cfaSetRAState           = 0x2b // AArch64
	cfaNegateRAStateWithPC  = 0x2c // AArch64
	cfaNegateRAState        = 0x2d // AArch64; GNU_window_save on SPARC
	cfaGNUArgsSize          = 0x2e
	cfaGNUNegativeOffsetExt = 0x2f
)

var instructionNames = map[byte]string{
	cfaAdvanceLoc:           "advance_loc",
	cfaOffset:               "offset",
	cfaRestore:              "restore",
	cfaNop:                  "nop",
	cfaSetLoc:               "set_loc",
	cfaAdvanceLoc1:          "advance_loc1",
	cfaAdvanceLoc2:          "advance_loc2",
	cfaAdvanceLoc4:          "advance_loc4",
	cfaOffsetExtended:       "offset_extended",
	cfaRestoreExtended:      "restore_extended",
	cfaUndefined:            "undefined",
	cfaSameValue:            "same_value",
	cfaRegister:             "register",
	cfaRememberState:        "remember_state",
	cfaRestoreState:         "restore_state",
	cfaDefCFA:               "def_cfa",
	cfaDefCFARegister:       "def_cfa_register",
	cfaDefCFAOffset:         "def_cfa_offset",
	cfaDefCFAExpr:           "def_cfa_expression",
	cfaExpression:           "expression",
	cfaOffsetExtSF:          "offset_extended_sf",
	cfaDefCFASF:             "def_cfa_sf",
	cfaDefCFAOffsetSF:       "def_cfa_offset_sf",
	cfaValOffset:            "val_offset",
	cfaValOffsetSF:          "val_offset_sf",
	cfaValExpression:        "val_expression",
	cfaMIPSAdvanceLoc8:      "MIPS_advance_loc8",
	cfaSetRAState:           "AARCH64_set_ra_state",
	cfaNegateRAStateWithPC:  "AARCH64_negate_ra_state_with_pc",
	cfaNegateRAState:        "AARCH64_negate_ra_state",
	cfaGNUArgsSize:          "GNU_args_size",
	cfaGNUNegativeOffsetExt: "GNU_negative_offset_extended",
}

// instructionName names the instruction that starts with byte op.
func instructionName(op byte) string {
	if op&0xc0 != 0 {
		op &= 0xc0
	}
	if name, ok := instructionNames[op]; ok {
		return "DW_CFA_" + name
	}
	return fmt.Sprintf("instruction %#02x", op)
}
