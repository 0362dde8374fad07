package symbol

import dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
import "debug/dwarf"

// entry holds the attributes of an entry of .debug_info: of a unit, a function or a scope.
type entry struct {
	name, linkage, dir             dwarfdata.Value
	origin, specification, sibling dwarfdata.Value
	low, high, entryPC, ranges     dwarfdata.Value
	callFile, callLine             dwarfdata.Value
	lines, language                dwarfdata.Value
	addrs, strOffsets, rangeLists  dwarfdata.Value
	splitName, splitID, oldRanges  dwarfdata.Value
	frameBase, locLists, producer  dwarfdata.Value

	declared bool // it only declares what another entry defines
	allJumps bool // call site entries describe all tail calls of the function
	asked    bool // its ranges are looked at for a question: other bounds hold for that work

	held *holding // has the memory for its ranges; nil where they are kept for good, or not at all

	// Set by debugInfo.appendRanges:
	enters  uint64 // address that entryPC stands for; nowhere if there is none
	entered bool   // one of the ranges holds enters
	crowded bool   // there was no room for one of the ranges
}

// readEntry reads the attributes of an entry.
func readEntry(c *dwarfdata.Cursor, a *dwarfdata.Abbrev) (e entry) {
	for i := range a.Attrs {
		x := &a.Attrs[i]
		v := c.Value(x.Form, x.Implicit)
		switch x.Attr {
		case dwarf.AttrName:
			e.name = v
		case dwarf.AttrLinkageName, dwarfdata.AttrMIPSLinkageName:
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
		case dwarf.AttrAddrBase, dwarfdata.AttrGNUAddrBase:
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
		case dwarf.AttrDwoName, dwarfdata.AttrGNUSplitName:
			e.splitName = v
		case dwarfdata.AttrGNUSplitID:
			e.splitID = v
		case dwarfdata.AttrGNURangesBase:
			e.oldRanges = v
		case dwarf.AttrDeclaration:
			e.declared = v.N != 0
		case dwarf.AttrCallAllCalls, dwarf.AttrCallAllTailCalls, dwarfdata.AttrGNUAllCalls, dwarfdata.AttrGNUAllTailCalls:
			e.allJumps = e.allJumps || v.N != 0
		}
	}
	return e
}

// lineNumber returns v as the number of a line or file; 0 if v is no number, or too large.
func lineNumber(v dwarfdata.Value) int32 {
	if v.Class != dwarfdata.ClassConstant || v.N > 1<<31-1 {
		return 0
	}
	return int32(v.N)
}
