package r

// The offsets of the fields of R's objects, bytes, where pointers have 8 (Rinlinedfuns.h, Defn.h),
// and the numbers of their types (Rinternals.h).
const (
	objectInfo    = 0
	objectAttrib  = 8
	typeMask      = 0x1f
	alternative   = 1 << 7 // ALTREP: the contents are elsewhere
	listCar       = 32
	listCdr       = 40
	listTag       = 48
	symbolName    = 32
	environFrame  = 32
	environHashes = 48
	vectorLength  = 32
	vectorData    = 48

	typeNil         = 0
	typeSymbol      = 1
	typeList        = 2
	typeEnvironment = 4
	typeCall        = 6
	typeChars       = 9
	typeInts        = 13
	typeReals       = 14
	typeStrings     = 16
	typeVector      = 19
	typeBytecode    = 21
)

// layout has the offsets of the fields of a context that releases have in different places.
type layout struct {
	relative uint64 // RCNTXT.relpc, the instruction in the code; 0 if there is none
	handlers uint64 // RCNTXT.handlerstack
	restarts uint64
	srcref   uint64
}

// The offsets of the other fields of a context (RCNTXT of Defn.h), with the sigjmp_buf of glibc and
// musl on amd64, which has 200 bytes.
const (
	contextNext  = 0
	contextFlags = 8
	contextCall  = 248
	contextBody  = 312 // the bytecode that made the call
	contextPC    = 320 // the address of the variable with its next instruction

	functions = 4  // CTXT_FUNCTION
	builtins  = 64 // CTXT_BUILTIN
)

// layouts are tried in turn: R has no number of its release in memory. The first one is of 4.2, the
// second one of 4.5 and 4.6.
var layouts = []layout{
	{handlers: 328, restarts: 336, srcref: 368},
	{relative: 328, handlers: 336, restarts: 344, srcref: 384},
}
