// Package pdata reads the unwind tables of Windows programs for amd64: the functions in .pdata, and
// their unwind codes (UNWIND_INFO, mostly in .xdata), of version 1 and 2. It can be used alone.
//
// In goes a [Reader] of the image as it is mapped, by addresses relative to its base (RVA). Out
// comes, for an RVA in a function, the [trad.Row] that unwinds a frame there: in the prologue by
// the codes' offsets, in an epilogue by the code itself, which must be one of the few forms that
// Windows knows.
//
// .NET's run time describes its code by the same codes on all systems: [OfUnix] is for that.
//
// The sections that comments name are of Microsoft's "x64 exception handling".
package pdata
