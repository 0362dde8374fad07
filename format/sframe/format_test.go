package sframe

import (
	"fmt"
	"testing"
)

func TestStrings(t *testing.T) {
	for _, c := range []struct {
		v    fmt.Stringer
		want string
	}{
		{V3, "SFRAME_VERSION_3"},
		{Flags(0), "0"},
		{FDESorted | FDEFuncStartPCRel, "SFRAME_F_FDE_SORTED|SFRAME_F_FDE_FUNC_START_PCREL"},
		{FramePointer | 0x50, "SFRAME_F_FRAME_POINTER|0x50"},
		{AArch64BE, "SFRAME_ABI_AARCH64_ENDIAN_BIG"},
		{AArch64LE, "SFRAME_ABI_AARCH64_ENDIAN_LITTLE"},
		{AMD64, "SFRAME_ABI_AMD64_ENDIAN_LITTLE"},
		{S390X, "SFRAME_ABI_S390X_ENDIAN_BIG"},
		{ABI(9), "ABI(9)"},
		{Addr1, "SFRAME_FRE_TYPE_ADDR1"},
		{Addr2, "SFRAME_FRE_TYPE_ADDR2"},
		{Addr4, "SFRAME_FRE_TYPE_ADDR4"},
		{FREType(3), "FREType(3)"},
		{PCInc, "SFRAME_FDE_PCTYPE_INC"},
		{PCMask, "SFRAME_FDE_PCTYPE_MASK"},
		{PCType(2), "PCType(2)"},
		{FDEDefault, "SFRAME_FDE_TYPE_DEFAULT"},
		{FDEFlex, "SFRAME_FDE_TYPE_FLEX"},
		{FDEType(2), "FDEType(2)"},
		{PauthA, "SFRAME_AARCH64_PAUTH_KEY_A"},
		{PauthB, "SFRAME_AARCH64_PAUTH_KEY_B"},
		{PauthKey(2), "PauthKey(2)"},
		{RuleKind(9), "RuleKind(9)"},
		{Rule{}, "none"},
		{same, "same"},
		{undef, "undefined"},
		{saved(-8), "[CFA-8]"},
		{Rule{Kind: RuleValue, Off: 8}, "CFA+8"},
		{at(10, 0), "[r10+0]"},
		{reg(7, 16), "r7+16"},
		{Row{Lo: 0x10, Len: 2, Flags: RowSignal | RowOutermost | RowMangledRA | RowPauthB | RowPCMask, CFA: reg(7, 8), RA: saved(-8), FP: same},
			"[0x10,0x12) CFA=r7+8 RA=[CFA-8] FP=same signal|outermost|mangled-ra|pauth-b|pc-mask"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%T: %q, expected %q", c.v, got, c.want)
		}
	}
}
