package symbol

import "debug/dwarf"

// entry holds the attributes of an entry of .debug_info: of a unit, a function or a scope.
type entry struct {
	name, linkage, dir             value
	origin, specification, sibling value
	low, high, entryPC, ranges     value
	callFile, callLine             value
	lines, language                value
	addrs, strOffsets, rangeLists  value
	splitName, splitID, oldRanges  value
	frameBase, locLists, producer  value

	declared bool // it only declares what another entry defines
	allJumps bool // call site entries describe all tail calls of the function
	asked    bool // its ranges are looked at for a question: other bounds hold for that work

	held *holding // has the memory for its ranges; nil where they are kept for good, or not at all

	// Set by debugInfo.appendRanges:
	enters  uint64 // address that entryPC stands for; nowhere if there is none
	entered bool   // one of the ranges holds enters
	crowded bool   // there was no room for one of the ranges
}

// entry reads the attributes of an entry.
func (c *entryCursor) entry(a *abbrev) (e entry) {
	const (
		gnuAllTailCalls = 0x2116 // this and the next: before DWARF 5
		gnuAllCalls     = 0x2117
		mipsLinkageName = 0x2007 // before DWARF 4
		gnuSplitName    = 0x2130 // this and the next three: the extension to DWARF 4 for split files
		gnuSplitID      = 0x2131
		gnuRangesBase   = 0x2132
		gnuAddrBase     = 0x2133
	)
	for i := range a.attrs {
		x := &a.attrs[i]
		v := c.value(x.form, x.implicit)
		switch x.attr {
		case dwarf.AttrName:
			e.name = v
		case dwarf.AttrLinkageName, mipsLinkageName:
			e.linkage = v
		case dwarf.AttrCompDir:
			e.dir = v
		case dwarf.AttrAbstractOrigin:
			e.origin = v
		case dwarf.AttrSpecification:
			e.specification = v
		case dwarf.AttrSibling:
			e.sibling = v
		case dwarf.AttrLowpc:
			e.low = v
		case dwarf.AttrHighpc:
			e.high = v
		case dwarf.AttrEntrypc:
			e.entryPC = v
		case dwarf.AttrRanges:
			e.ranges = v
		case dwarf.AttrCallFile:
			e.callFile = v
		case dwarf.AttrCallLine:
			e.callLine = v
		case dwarf.AttrStmtList:
			e.lines = v
		case dwarf.AttrLanguage:
			e.language = v
		case dwarf.AttrAddrBase, gnuAddrBase:
			e.addrs = v
		case dwarf.AttrStrOffsetsBase:
			e.strOffsets = v
		case dwarf.AttrRnglistsBase:
			e.rangeLists = v
		case dwarf.AttrProducer:
			e.producer = v
		case dwarf.AttrFrameBase:
			e.frameBase = v
		case dwarf.AttrLoclistsBase:
			e.locLists = v
		case dwarf.AttrDwoName, gnuSplitName:
			e.splitName = v
		case gnuSplitID:
			e.splitID = v
		case gnuRangesBase:
			e.oldRanges = v
		case dwarf.AttrDeclaration:
			e.declared = v.n != 0
		case dwarf.AttrCallAllCalls, dwarf.AttrCallAllTailCalls, gnuAllCalls, gnuAllTailCalls:
			e.allJumps = e.allJumps || v.n != 0
		}
	}
	return e
}

// skip goes over an entry's attributes.
func (c *entryCursor) skip(a *abbrev) {
	if a.size >= 0 {
		c.Take(uint64(a.size))
		return
	}
	for i := range a.attrs {
		c.value(a.attrs[i].form, 0)
	}
}

// text reports whether a value is a string.
func (v value) text() bool {
	switch v.class {
	case classText, classStr, classSupStr, classLineStr, classStrIndex:
		return true
	}
	return false
}

// reference reports whether a value refers to an entry.
func (v value) reference() bool { return v.class == classReference || v.class == classSupReference }

// number returns v as the number of a line or file; 0 if v is no number, or too large.
func (v value) number() int32 {
	if v.class != classConstant || v.n > 1<<31-1 {
		return 0
	}
	return int32(v.n)
}
