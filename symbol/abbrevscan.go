package symbol

import (
	"bytes"
	"debug/dwarf"
	"slices"
)

// scanKind says what a scan of a unit does with the entries of an abbreviation.
type scanKind uint8

const (
	scanOver     scanKind = iota // they tell nothing, what is within them may
	scanPast                     // there are no functions within them
	scanScope                    // the names of functions within them begin with their names
	scanFunction                 // functions that may have code
	scanEnum                     // enumerations: scopes in Rust, whose enumerations have methods
	scanNoCode                   // functions that have no code
)

// skipStep goes over attributes of a fixed size, then over one whose size varies.
type skipStep struct {
	fixed uint16
	then  form // formLEB, formBlock1, formBlock, formString; 0 for none
}

// formLEB stands for all forms that are one LEB128 number.
const formLEB = formUdata

// prepare fills in what a scan needs of an abbreviation. It puts the steps into room.
func (a *abbrev) prepare(u *unit, room []skipStep) (rest []skipStep) {
	a.scan, a.sibling = a.kind(), -1
	fixed, ok, start := 0, true, len(room)
	for i := range a.attrs {
		x := &a.attrs[i]
		if x.attr == dwarf.AttrSibling && x.form == formRef4 && len(room) == start && ok {
			a.sibling = fixed
		}
		if n := x.form.size(u); n >= 0 {
			fixed += n
			continue
		}
		then := x.form
		switch then {
		case formUdata, formSdata, formRefUdata, formAddrx, formGNUAddrIndex, formStrx, formGNUStrIndex, formRnglistx, formLoclistx:
			then = formLEB
		case formExprloc:
			then = formBlock
		case formBlock, formBlock1, formString:
		default:
			ok = false
		}
		ok = ok && fixed < 1<<16
		room = append(room, skipStep{uint16(fixed), then})
		fixed = 0
	}
	if !ok || fixed >= 1<<16 {
		return room[:start]
	}
	if fixed > 0 {
		room = append(room, skipStep{fixed: uint16(fixed)})
	}
	a.steps = room[start:len(room):len(room)]
	return room
}

func (a *abbrev) kind() scanKind {
	switch t := a.tag; {
	case t == dwarf.TagSubprogram && a.hasCode():
		return scanFunction
	case t == dwarf.TagSubprogram && a.declares(), isCallSite(t), t == dwarf.TagArrayType, t == dwarf.TagSubroutineType:
		return scanPast
	case t == dwarf.TagSubprogram:
		return scanNoCode
	case t == dwarf.TagEnumerationType:
		return scanEnum
	case isScope(t):
		return scanScope
	}
	return scanOver
}

// declares reports whether entries of a are only declarations.
func (a *abbrev) declares() bool {
	return slices.Contains(a.attrs, attrForm{attr: dwarf.AttrDeclaration, form: formFlagPresent})
}

// over returns the offset in data behind the attributes of an entry, which begin at off. It returns
// -1 where the data ends before, or the attributes have to be read one by one.
func (a *abbrev) over(data []byte, off int) int {
	if a.size >= 0 {
		if off += a.size; off > len(data) {
			return -1
		}
		return off
	}
	if a.steps == nil {
		return -1
	}
	for _, s := range a.steps {
		off += int(s.fixed)
		if off >= len(data) {
			if off == len(data) && s.then == 0 {
				return off
			}
			return -1
		}
		switch s.then {
		case formLEB:
			for n := 0; data[off] >= 0x80; n++ {
				if off++; off == len(data) || n == maxLEB {
					return -1
				}
			}
			off++
		case formBlock1:
			off += 1 + int(data[off])
		case formBlock:
			n := int(data[off])
			if n >= 0x80 {
				return -1
			}
			off += 1 + n
		case formString:
			i := bytes.IndexByte(data[off:], 0)
			if i < 0 {
				return -1
			}
			off += i + 1
		}
		if off > len(data) {
			return -1
		}
	}
	return off
}

// maxLEB is how many bytes of a number over goes past. Longer ones are rare.
const maxLEB = 8

// plainBlock reports whether entries of a are blocks of statements without code of their own: as if
// they were not there, like in GDB. Rust's macros put parameters into some.
func (a *abbrev) plainBlock() bool { return a.tag == dwarf.TagLexDwarfBlock && !a.hasCode() }

// over goes over the attributes of an entry. It returns the offset of the entry's next sibling; 0
// where the entry does not tell.
func (c *entryCursor) over(a *abbrev) (sibling uint64) {
	start := c.Off
	if end := a.over(c.Data, start); end >= 0 {
		c.Off = end
	} else if c.skip(a); c.Bad {
		return 0
	}
	if a.sibling >= 0 {
		end := c.Off
		c.Off = start + a.sibling
		sibling = c.unit.start + c.Uint(4)
		c.Off = end
	}
	return sibling
}
