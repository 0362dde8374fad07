package sframe

import "math"

// words are the data words of one FRE that is being encoded.
type words struct {
	v      [6]int64 // CFA, RA, FP: at most a control word and an offset each
	n      int
	size   int  // of a word, large enough for each of them: 1, 2 or 4 bytes
	baseSP bool // the base register of the CFA is SP (Default)
}

// offset adds a signed word.
func (w *words) offset(v int64) {
	w.add(v)
	switch {
	case v == int64(int8(v)):
	case v == int64(int16(v)):
		w.size = max(w.size, 2)
	default:
		w.size = 4
	}
}

// control adds an unsigned word.
func (w *words) control(v uint32) {
	w.add(int64(v))
	switch {
	case v <= math.MaxUint8:
	case v <= math.MaxUint16:
		w.size = max(w.size, 2)
	default:
		w.size = 4
	}
}

func (w *words) add(v int64) {
	w.v[w.n] = v
	w.n++
}

// words fills w with the data words of an entry in an FDE of type t. It returns the reason why the
// FDE cannot hold the entry, "" if it can.
func (e *encoder) words(w *words, t FDEType, entry *Entry) string {
	*w = words{size: 1}
	if entry.RA.Kind == RuleUndefined {
		switch {
		case e.Version == V1:
			return "RA undefined"
		case entry.CFA != Rule{} || entry.FP != Rule{} || entry.RA != Rule{Kind: RuleUndefined}:
			return "an entry whose RA is undefined has no other rule"
		}
		return ""
	}
	if t == FDEFlex {
		return e.flexWords(w, entry)
	}
	return e.defaultWords(w, entry)
}

// fitsDefault reports whether a Default FDE of V3 can hold the entry.
func (e *encoder) fitsDefault(entry *Entry) bool {
	var w words
	return e.words(&w, FDEDefault, entry) == ""
}

func (e *encoder) defaultWords(w *words, entry *Entry) string {
	cfa := entry.CFA
	switch {
	case cfa.Kind != RuleInReg || cfa.Reg != e.sp && cfa.Reg != e.fp:
		return "the CFA is not at an offset from SP or FP"
	case !e.scale(&cfa):
		return badScale
	}
	w.baseSP = cfa.Reg == e.sp
	w.offset(int64(cfa.Off))

	fpGiven := entry.FP != e.fp0
	if e.FixedRA == 0 {
		switch ra, problem := e.place(entry.RA); {
		case problem != "":
			return "RA " + problem
		case entry.RA.Kind == RuleSame && !fpGiven:
		case entry.RA.Kind == RuleSame && e.ABI != S390X:
			return "FP is saved and RA is not, for which s390x alone has a place holder"
		case entry.RA.Kind != RuleSame && ra == 0:
			return "RA at CFA+0, whose offset means that RA is not saved"
		default:
			w.offset(ra)
		}
	} else if entry.RA != e.ra0 {
		return "RA is not where the header puts it"
	}
	if !fpGiven {
		return ""
	}
	if e.FixedFP != 0 {
		return "FP is not where the header puts it"
	}
	fp, problem := e.place(entry.FP)
	if problem != "" {
		return "FP " + problem
	}
	if fp == 0 && e.Version == V3 {
		return "FP at CFA+0, which Linux's reader takes for unchanged" // the flexible form is plain
	}
	w.offset(fp)
	return ""
}

// place returns the data word for the place of RA or FP in a Default FDE, 0 for a register that is
// the same.
func (e *encoder) place(r Rule) (word int64, problem string) {
	odd := e.ABI == S390X && e.Version == V2 // odd words name registers there
	switch {
	case r == Rule{Kind: RuleSame}:
		return 0, ""
	case r.Kind == RuleSaved && r.Reg == 0:
		if odd && r.Off&1 != 0 {
			return 0, "is at an odd offset, which would name a register"
		}
		return int64(r.Off), ""
	case r.Kind == RuleInReg && r.Off == 0 && odd:
		return int64(r.Reg)<<1 | 1, ""
	}
	return 0, "is neither the same nor saved at an offset from the CFA"
}

func (e *encoder) flexWords(w *words, entry *Entry) string {
	cfa := entry.CFA
	switch {
	case cfa.Kind != RuleInReg && cfa.Kind != RuleSavedAt:
		return "the CFA is not based on a register"
	case !e.scale(&cfa):
		return badScale
	}
	w.addRule(cfa)
	if entry.RA != e.ra0 {
		if !flexible(entry.RA) {
			return "RA has no control word"
		}
		w.addRule(entry.RA)
	} else if entry.FP != e.fp0 {
		w.control(0) // padding
	}
	if entry.FP != e.fp0 {
		if !flexible(entry.FP) {
			return "FP has no control word"
		}
		w.addRule(entry.FP)
	}
	return ""
}

// flexible reports whether a rule has a control word. A value at CFA+n has
// none: it would be 0, the padding word.
func flexible(r Rule) bool {
	return r.Kind == RuleSaved && r.Reg == 0 || r.Kind == RuleSavedAt || r.Kind == RuleInReg
}

func (w *words) addRule(r Rule) {
	var ctrl uint32
	if r.Kind != RuleSaved {
		ctrl = ctrlReg | uint32(r.Reg)<<ctrlRegShift
	}
	if r.Kind != RuleInReg {
		ctrl |= ctrlDeref
	}
	w.control(ctrl)
	w.offset(int64(r.Off))
}

const badScale = "s390x holds no CFA offset that is not a multiple of 8"

// scale encodes the CFA offset of s390x in place. It reports whether decoding gives the same
// offset.
func (e *encoder) scale(cfa *Rule) bool {
	if e.ABI != S390X {
		return true
	}
	off := int64(cfa.Off) + s390xCFAAdjustment
	cfa.Off = int32(off / s390xCFAFactor)
	return off%s390xCFAFactor == 0
}
