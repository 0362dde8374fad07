package dwarf

import godwarf "debug/dwarf"

// Attributes that [debug/dwarf] has no names for.
const (
	AttrMIPSLinkageName godwarf.Attr = 0x2007 // before DWARF 4

	AttrGNUTarget       godwarf.Attr = 0x2113 // GCC's attributes of calls, before DWARF 5
	AttrGNUTailCall     godwarf.Attr = 0x2115
	AttrGNUAllTailCalls godwarf.Attr = 0x2116
	AttrGNUAllCalls     godwarf.Attr = 0x2117

	AttrGNUSplitName  godwarf.Attr = 0x2130 // the extension to DWARF 4 for split files
	AttrGNUSplitID    godwarf.Attr = 0x2131
	AttrGNURangesBase godwarf.Attr = 0x2132
	AttrGNUAddrBase   godwarf.Attr = 0x2133
)

// TagGNUCallSite is the tag of GCC's entries of calls before DWARF 5.
const TagGNUCallSite godwarf.Tag = 0x4109
