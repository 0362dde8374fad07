package dwarf

import godwarf "debug/dwarf"

// Attributes that [debug/dwarf] has no names for.
const (
	AttrMIPSLinkageName godwarf.Attr = 0x2007 // before DWARF 4
	AttrGNUVector       godwarf.Attr = 0x2107 // of an array: it is a vector of the processor

	AttrGNUCallValue    godwarf.Attr = 0x2111 // GCC's attributes of calls, before DWARF 5
	AttrGNUDataValue    godwarf.Attr = 0x2112
	AttrGNUTarget       godwarf.Attr = 0x2113
	AttrGNUTailCall     godwarf.Attr = 0x2115
	AttrGNUAllTailCalls godwarf.Attr = 0x2116
	AttrGNUAllCalls     godwarf.Attr = 0x2117

	AttrGNUSplitName  godwarf.Attr = 0x2130 // the extension to DWARF 4 for split files
	AttrGNUSplitID    godwarf.Attr = 0x2131
	AttrGNURangesBase godwarf.Attr = 0x2132
	AttrGNUAddrBase   godwarf.Attr = 0x2133

	AttrGoKind       godwarf.Attr = 0x2900 // of Go's compiler and linker: the number of a reflect.Kind
	AttrGoKey        godwarf.Attr = 0x2901 // of a map
	AttrGoElem       godwarf.Attr = 0x2902
	AttrGoEmbedded   godwarf.Attr = 0x2903 // of a member: its struct embeds it
	AttrGoType       godwarf.Attr = 0x2904 // offset of the type's description in the program, from runtime.types
	AttrGoDictionary godwarf.Attr = 0x2906 // of a type parameter: its index in the function's dictionary
)

// Tags that [debug/dwarf] has no names for: GCC's of calls before DWARF 5, and of templates.
const (
	TagGNUTemplateTemplate      godwarf.Tag = 0x4106 // a parameter that is a template
	TagGNUTemplateParameterPack godwarf.Tag = 0x4107
	TagGNUCallSite              godwarf.Tag = 0x4109
	TagGNUCallSiteParameter     godwarf.Tag = 0x410a
)
