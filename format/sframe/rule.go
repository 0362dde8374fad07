package sframe

import "math"

// s390x stores a CFA offset scaled and adjusted so that most fit one byte:
// SFRAME_S390X_CFA_OFFSET_ALIGNMENT_FACTOR, SFRAME_S390X_CFA_OFFSET_ADJUSTMENT.
const (
	s390xCFAFactor     = 8
	s390xCFAAdjustment = -160
)

// Fields of a control word (Flexible FDE Type Interpretation).
const (
	ctrlReg      = 1 << 0 // the base is a register and not the CFA
	ctrlDeref    = 1 << 1 // the value is in memory at base+offset
	ctrlRegShift = 3      // the rest is the DWARF register number
)

// rules decodes an FRE's data words into cfa, ra and fp, which the caller passes zero. It returns
// what is wrong with the words, "" if nothing is.
func (s *Section) rules(t FDEType, info FREInfo, words []byte, cfa, ra, fp *Rule) string {
	n := info.NumWords()
	if n == 0 {
		if s.Version == V1 {
			return "no data words, expected at least the CFA's"
		}
		*ra = Rule{Kind: RuleUndefined} // V2 errata 2
		return ""
	}
	*ra, *fp = s.ra0, s.fp0
	if t == FDEFlex {
		return s.flexRules(info, words, cfa, ra, fp)
	}
	size := info.WordSize()

	*cfa = Rule{Kind: RuleInReg, Reg: s.fp, Off: s.word(words, 0, size)}
	if info.BaseSP() {
		cfa.Reg = s.sp
	}
	if s.ABI == S390X && !unscale(cfa) {
		return overflow
	}

	i := 1
	if s.FixedRA == 0 {
		if i < n {
			// 0 is SFRAME_FRE_RA_OFFSET_INVALID: a place holder before FP's offset.
			if off := s.word(words, i, size); off != 0 && !s.saved(off, ra) {
				return "RA's register number is not one of 0 to 65535"
			}
		}
		i++
	}
	if s.FixedFP == 0 && i < n && !s.saved(s.word(words, i, size), fp) {
		return "FP's register number is not one of 0 to 65535"
	}
	return ""
}

const overflow = "the decoded CFA offset does not fit 32 bits"

// unscale decodes the CFA offset of s390x in place, and reports whether the result fits 32 bits.
func unscale(cfa *Rule) bool {
	off := int64(cfa.Off)*s390xCFAFactor - s390xCFAAdjustment
	cfa.Off = int32(off)
	return off == int64(cfa.Off)
}

// saved decodes the place of RA or FP in a Default FDE. The place is CFA+off, but on s390x in V2 an
// odd off stands for the register off>>1. It reports whether that register number is valid.
func (s *Section) saved(off int32, r *Rule) bool {
	if s.ABI == S390X && s.Version == V2 && off&1 != 0 {
		reg := off >> 1
		*r = Rule{Kind: RuleInReg, Reg: uint16(reg)}
		return reg == int32(uint16(reg))
	}
	*r = Rule{Kind: RuleSaved, Off: off}
	return true
}

// flexRules decodes control words and offsets in the order CFA, RA, FP. It leaves ra or fp as it is
// if the words pad it or leave it out.
func (s *Section) flexRules(info FREInfo, words []byte, cfa, ra, fp *Rule) string {
	n, size := info.NumWords(), info.WordSize()
	mask := uint32(math.MaxUint32) >> (32 - 8*size)
	i := 0
	for _, r := range [...]*Rule{cfa, ra, fp} {
		if i >= n {
			break
		}
		ctrl := uint32(s.word(words, i, size)) & mask
		i++
		if r == cfa && ctrl&ctrlReg == 0 {
			return "the CFA's control word names no register"
		}
		if ctrl == 0 {
			continue // the padding word: no offset follows
		}
		if i >= n {
			return "a control word without its offset"
		}
		*r = Rule{Kind: RuleValue, Off: s.word(words, i, size)}
		i++
		if ctrl&ctrlReg != 0 {
			reg := ctrl >> ctrlRegShift
			if reg > math.MaxUint16 {
				return "a control word's register number does not fit 16 bits"
			}
			r.Kind, r.Reg = RuleInReg, uint16(reg)
		}
		if ctrl&ctrlDeref != 0 {
			r.Kind-- // RuleValue and RuleInReg each follow their dereferenced kind
		}
		// The specification scales the offset only in Default FDEs. binutils 2.47 writes and reads
		// scaled offsets in Flex FDEs, too.
		if r == cfa && s.ABI == S390X && !unscale(cfa) {
			return overflow
		}
	}
	return ""
}

// word loads the i-th data word, of size bytes.
func (s *Section) word(words []byte, i, size int) int32 {
	switch size {
	case 1:
		return int32(int8(words[i]))
	case 2:
		return int32(int16(s.u16(words, 2*i)))
	}
	return int32(s.u32(words, 4*i))
}
