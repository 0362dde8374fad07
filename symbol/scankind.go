package symbol

import (
	"debug/dwarf"
	"slices"

	dwarfdata "github.com/sfwalk/sfwalk/format/dwarf"
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

// kindOf returns the kind of the entries of an abbreviation.
func kindOf(a *dwarfdata.Abbrev) scanKind {
	switch t := a.Tag; {
	case t == dwarf.TagSubprogram && hasCode(a):
		return scanFunction
	case t == dwarf.TagSubprogram && declares(a), isCallSite(t), t == dwarf.TagArrayType, t == dwarf.TagSubroutineType:
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
func declares(a *dwarfdata.Abbrev) bool {
	return slices.Contains(a.Attrs, dwarfdata.AttrForm{Attr: dwarf.AttrDeclaration, Form: dwarfdata.FormFlagPresent})
}

// plainBlock reports whether entries of a are blocks of statements without code of their own: as if
// they were not there, like in GDB. Rust's macros put parameters into some.
func plainBlock(a *dwarfdata.Abbrev) bool { return a.Tag == dwarf.TagLexDwarfBlock && !hasCode(a) }

// hasCode reports whether entries of a have an address of code of their own.
func hasCode(a *dwarfdata.Abbrev) bool {
	return slices.ContainsFunc(a.Attrs, func(x dwarfdata.AttrForm) bool { return x.Attr == dwarf.AttrLowpc || x.Attr == dwarf.AttrRanges })
}
