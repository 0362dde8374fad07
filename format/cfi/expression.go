package cfi

import "github.com/sfwalk/sfwalk/format/dwarf/expr"

// expression returns the expression whose length is at offset off of one of the FDE's programs,
// which the machine has read before.
func (s *Section) expression(off int, f *FDE) expr.Rule {
	end := f.program.to
	if in := f.CIE.program; off >= in.from && off < in.to {
		end = in.to
	}
	c := s.reader(off, end)
	code := c.Take(c.ULEB128())
	return expr.Rule{Code: code, Section: s.Kind.String(), At: uint32(c.at() - len(code)), Big: s.big, AddrSize: f.CIE.PtrSize}
}
