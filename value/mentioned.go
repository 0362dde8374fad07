package value

import (
	"debug/dwarf"

	"github.com/sfwalk/sfwalk/symbol"
)

// mentioned is a variable that an expression or the bound of an array refers to, as debug
// information has it at one address.
type mentioned struct {
	entry *symbol.Entry // has the location
	t     *Type
	known known
	err   error // why there is no entry
}

// attributeOf is an attribute of an entry.
type attributeOf struct {
	entry symbol.Ref
	attr  dwarf.Attr
}

// maxMentioned bounds how many of each kind are kept for one address. Programs refer to as many as
// their frames have arrays.
const maxMentioned = 1 << 8

// mentioned returns the variable of an entry, or the one in scope that this is the abstract entry
// of.
func (s *scopes) mentioned(r *Reader, ref symbol.Ref) *mentioned {
	if to := s.mentions[ref]; to != nil {
		return to
	}
	to := &mentioned{}
	if to.entry, to.err = r.Symbols.Entry(ref); to.err == nil {
		to.t = r.typeOf(to.entry)
		to.known.varies = to.t.varies(0)
		if !to.entry.Has(dwarf.AttrLocation) && !to.entry.Has(dwarf.AttrConstValue) {
			to.entry = s.concrete(to.entry)
		}
	}
	if s.mentions == nil || len(s.mentions) >= maxMentioned {
		s.mentions = make(map[symbol.Ref]*mentioned)
	}
	s.mentions[ref] = to
	return to
}

// concrete returns the variable in scope that an entry is the abstract entry of; that entry itself
// if there is none.
func (s *scopes) concrete(abstract *symbol.Entry) *symbol.Entry {
	for i := range s.list {
		for _, x := range s.list[i].Entries {
			if x.Reference(dwarf.AttrAbstractOrigin) == abstract.Ref {
				return x
			}
		}
	}
	return abstract
}

// expression is expressionOf, and keeps what was read.
func (s *scopes) expression(e *symbol.Entry, a dwarf.Attr, pc uint64) *expression {
	key := attributeOf{e.Ref, a}
	if x := s.expressions[key]; x != nil {
		return x
	}
	x := expressionOf(e, a, pc)
	if s.expressions == nil || len(s.expressions) >= maxMentioned {
		s.expressions = make(map[attributeOf]*expression)
	}
	s.expressions[key] = x
	return x
}
