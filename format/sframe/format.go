package sframe

import (
	"fmt"
	"strings"
)

// names joins the names of the bits set in v, and the rest as a number.
func names(v uint8, bits ...string) string {
	var set []string
	for i, name := range bits {
		if v>>i&1 != 0 {
			set = append(set, name)
		}
	}
	if rest := v >> len(bits) << len(bits); rest != 0 {
		set = append(set, fmt.Sprintf("%#x", rest))
	}
	if set == nil {
		return "0"
	}
	return strings.Join(set, "|")
}

// String returns the specification's name, such as "SFRAME_VERSION_3".
func (v Version) String() string { return fmt.Sprintf("SFRAME_VERSION_%d", uint8(v)) }

// String returns the specification's names, joined by "|", or "0".
func (f Flags) String() string {
	return names(uint8(f), "SFRAME_F_FDE_SORTED", "SFRAME_F_FRAME_POINTER", "SFRAME_F_FDE_FUNC_START_PCREL")
}

// String returns the specification's name, such as "SFRAME_ABI_AMD64_ENDIAN_LITTLE".
func (a ABI) String() string {
	switch a {
	case AArch64BE:
		return "SFRAME_ABI_AARCH64_ENDIAN_BIG"
	case AArch64LE:
		return "SFRAME_ABI_AARCH64_ENDIAN_LITTLE"
	case AMD64:
		return "SFRAME_ABI_AMD64_ENDIAN_LITTLE"
	case S390X:
		return "SFRAME_ABI_S390X_ENDIAN_BIG"
	}
	return fmt.Sprintf("ABI(%d)", uint8(a))
}

// String returns the specification's name, such as "SFRAME_FRE_TYPE_ADDR1".
func (t FREType) String() string {
	if t > Addr4 {
		return fmt.Sprintf("FREType(%d)", uint8(t))
	}
	return fmt.Sprintf("SFRAME_FRE_TYPE_ADDR%d", 1<<t)
}

// String returns the specification's name, such as "SFRAME_FDE_PCTYPE_INC".
func (t PCType) String() string {
	switch t {
	case PCInc:
		return "SFRAME_FDE_PCTYPE_INC"
	case PCMask:
		return "SFRAME_FDE_PCTYPE_MASK"
	}
	return fmt.Sprintf("PCType(%d)", uint8(t))
}

// String returns the specification's name, such as "SFRAME_FDE_TYPE_DEFAULT".
func (t FDEType) String() string {
	switch t {
	case FDEDefault:
		return "SFRAME_FDE_TYPE_DEFAULT"
	case FDEFlex:
		return "SFRAME_FDE_TYPE_FLEX"
	}
	return fmt.Sprintf("FDEType(%d)", uint8(t))
}

// String returns the specification's name, such as "SFRAME_AARCH64_PAUTH_KEY_A".
func (k PauthKey) String() string {
	switch k {
	case PauthA:
		return "SFRAME_AARCH64_PAUTH_KEY_A"
	case PauthB:
		return "SFRAME_AARCH64_PAUTH_KEY_B"
	}
	return fmt.Sprintf("PauthKey(%d)", uint8(k))
}

// String returns the kind in a word, such as "same" or "saved".
func (k RuleKind) String() string {
	kinds := [...]string{"none", "same", "undefined", "saved", "value", "saved-at", "in-reg"}
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("RuleKind(%d)", uint8(k))
}

// String writes the rule as an expression: "[CFA-8]" for a value in memory, "r7+16" for a value. r7
// is DWARF register 7. Kinds without an expression give their names: "none", "same" and
// "undefined".
func (r Rule) String() string {
	switch r.Kind {
	case RuleSaved:
		return fmt.Sprintf("[CFA%+d]", r.Off)
	case RuleValue:
		return fmt.Sprintf("CFA%+d", r.Off)
	case RuleSavedAt:
		return fmt.Sprintf("[r%d%+d]", r.Reg, r.Off)
	case RuleInReg:
		return fmt.Sprintf("r%d%+d", r.Reg, r.Off)
	}
	return r.Kind.String()
}

// String returns the flags' names, joined by "|", or "0".
func (f RowFlags) String() string {
	return names(uint8(f), "signal", "outermost", "mangled-ra", "pauth-b", "pc-mask")
}

// String writes the range and the three rules on one line.
func (r Row) String() string {
	s := fmt.Sprintf("[%#x,%#x) CFA=%v RA=%v FP=%v", r.Lo, r.Lo+uint64(r.Len), r.CFA, r.RA, r.FP)
	if r.Flags != 0 {
		s += " " + r.Flags.String()
	}
	return s
}
