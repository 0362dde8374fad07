package perl

import (
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/trad"
)

// nativeSubs returns the subs in C that run: functions that the function which calls subs has
// called. Perl has no context of them. The sub is among the registers and on the stack of the two
// frames, or still behind the top of Perl's stack, from which it was taken: it is the one that
// begins where the called function does. Where it is in none of these places, nothing is said.
func (r *runtime) nativeSubs(m reader, s *language.Stack, own []ownFrame, top uint64) (groups []language.Group) {
	left := mostNative
	for _, o := range own {
		if !r.entersub.has(o.pc) || o.level == 0 {
			continue
		}
		if left--; left < 0 {
			break
		}
		called := s.Frames[o.level-1]
		begin, ok := called.Function()
		if !ok {
			continue
		}
		cv, ok := r.subAt(m, s, o.level, begin, top)
		if !ok {
			continue
		}
		groups = append(groups, language.Group{
			Anchor: anchorAt(o.level, o.f), Frames: []language.Frame{{Function: r.subName(m, cv), Kind: "native", Place: cv}},
		})
	}
	return groups
}

// mostNative bounds the calls of subs in C that are looked at in one stack, and mostWords the
// words on the stack that are looked at for each.
const (
	mostNative = 1 << 10
	mostWords  = 128
)

// subAt returns the sub that begins at an address, if the frame at a level has called it.
func (r *runtime) subAt(m reader, s *language.Stack, level int, begin, top uint64) (cv uint64, ok bool) {
	is := func(cv uint64) bool {
		if cv < 1<<12 || cv%8 != 0 || m.Uint(cv+m.SVFlags, 4)&m.SVTypeMask != m.SVTypeCV {
			m.Err()
			return false
		}
		any := m.Pointer(cv + m.SVAny)
		found := m.Uint(any+m.CVFlags, 4)&m.CVIsXSub != 0 && m.Pointer(any+m.CVXSub) == begin
		return m.Err() == nil && found
	}
	for _, f := range s.Frames[max(0, level-2) : level+1] {
		for reg := range trad.Reg(len(s.Arch.Regs)) {
			if v := f.Register(reg); v.Known() && s.Arch.CalleeSaved.Has(reg) && is(v.Bits) {
				return v.Bits, true
			}
		}
	}
	if cv := m.subOf(m.Pointer(top + 8)); is(cv) {
		return cv, true
	}
	m.Err()
	inner := s.Frames[level-1].Register(s.Arch.SP)
	cfa, known := s.Frames[level].CFA()
	if !inner.Known() || !known || cfa < inner.Bits {
		return 0, false
	}
	for at := inner.Bits; at < min(cfa, inner.Bits+8*mostWords); at += 8 {
		if v := m.Pointer(at); is(v) {
			return v, true
		}
	}
	m.Err()
	return 0, false
}

// subOf returns the sub of a value that a call may have: a sub, a reference to it, or a glob.
func (m reader) subOf(sv uint64) (cv uint64) {
	flags := m.Uint(sv+m.SVFlags, 4)
	switch {
	case flags&m.SVRok != 0:
		return m.Pointer(sv + m.SVU)
	case flags&m.SVTypeMask == m.SVTypeGV && flags&(m.SVPok|m.SVGP) == m.SVGP:
		return m.Pointer(m.Pointer(sv+m.SVU) + m.GPCV)
	}
	return sv
}
