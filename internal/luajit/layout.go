package luajit

// Where the structures of LuaJIT have their fields, bytes, and constants: of builds with pointers
// of 64 bits (LJ_GC64). layouts/layout.c prints them; layouts/README.md says of which releases they
// are.
const (
	StateType     = 9
	StateStatus   = 11
	StateGlobal   = 16
	StateBase     = 32
	StateTop      = 40
	StateMaxStack = 48
	StateStack    = 56
	StateCFrame   = 80
	StateSize     = 88 // slots of the stack

	GlobalWhite    = 32 // the color of what lives, of WhiteBits
	GlobalObjects  = 40 // the list of all collectable objects
	GlobalVMState  = 184
	GlobalMain     = 192
	GlobalRegistry = 272
	globalVMThread = 280 // from 2025 on
	globalCurrent  = 368 // 8 more with globalVMThread, as the next one
	globalJITBase  = 376

	ObjectNext   = 0
	ObjectMarked = 8
	WhiteBits    = 3
	TypeString   = 4
	TypeThread   = 6
	TypeProto    = 7
	TypeFunc     = 8
	TypeTrace    = 9
	TypeTable    = 11
	TypeUserdata = 12  // the highest type of an object
	Proto        = 104 // its size: the code follows
	ProtoSize    = 12
	ProtoK       = 32
	ProtoGC      = 48
	ProtoBytes   = 56
	ProtoUp      = 60
	ProtoChunk   = 64
	ProtoLine    = 72
	ProtoLines   = 76
	ProtoInfo    = 80
	ProtoUpInfo  = 88
	ProtoVars    = 96
	FuncKind     = 10
	FuncPC       = 32
	FuncC        = 40
	StringSize   = 20
	StringText   = 24
	TableNodes   = 40
	TableMask    = 52
	Node         = 24 // its size
	NodeKey      = 8

	// Of the compiler, from the address of its table of traces' place on.
	jitTraces   = 12 // how many there are
	jitParent   = 2632
	jitExit     = 2636
	jitArea     = 2664
	jitAreaSize = 2688

	TraceSnaps     = 10
	TraceIR        = 32
	traceLowest    = 40
	traceEntries   = 44
	TraceSnap      = 48
	TraceMap       = 56
	TraceStart     = 72
	TraceInstr     = 80 // the instruction in whose place the trace begins
	traceSize      = 84
	traceCode      = 88
	TraceNumber    = 104
	traceLink      = 106
	Snap           = 12 // its size
	snapCode       = 6
	snapEntries    = 10
	irSize         = 8
	irNumber       = 28 // KNUM: the number follows
	irObject       = 24 // KGC: the address follows
	mostSnaps      = 1 << 16
	snapFrame      = 0x010000
	snapNoRestore  = 0x040000
	snapFirstSlots = 2 // slots before the base
)

// What the machine does (vmstate), if it is not the number of a trace that runs.
const (
	VMInC    = ^uint32(1)
	VMInExit = ^uint32(3)
)
