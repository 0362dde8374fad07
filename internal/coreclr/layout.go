package coreclr

// Layout says where the run time's structures have what is needed. Offsets are in bytes.
type Layout struct {
	release string // by which the layout is known: "8", "9", "10 and later"

	section  sectionLayout
	heap     heapLayout
	header   headerLayout
	ready    readyLayout
	toReady  uint64 // from Module to ReadyToRunInfo
	assembly uint64 // from Module to PEAssembly
	image    uint64 // from PEAssembly to PEImage
	layout   uint64 // from PEImage to PEImageLayout

	desc    methodLayout
	types   typeLayout
	threads threadLayout
	places  placesLayout
	// replacedSize is the size of a PatchpointInfo without variables: what the code of a method
	// needs that is replaced while it runs.
	replacedSize uint32
}

// sectionLayout is of RangeSectionFragment and RangeSection.
type sectionLayout struct {
	next, begin, end, section uint64
	flags, heap, module       uint64
}

// heapLayout is of CodeHeapListNode (HeapList).
type heapLayout struct{ start, end, base, nibbles uint64 }

// headerLayout is of RealCodeHeader.
type headerLayout struct{ debug, clauses, method, count, functions uint64 }

// readyLayout is of ReadyToRunInfo.
type readyLayout struct{ header, composite, count, functions, methods uint64 }

// methodLayout is of MethodDesc, its chunk, and the MethodTable of its type.
type methodLayout struct {
	remainder, index, flags uint64 // MethodDesc
	name                    uint64 // DynamicMethodDesc
	chunk                   uint64 // size of MethodDescChunk
	table, tokens           uint64 // MethodDescChunk
	module                  uint64 // MethodTable
	// overrides says that a type of another module than its loader's has an optional field for that
	// module (.NET 8). The other offsets tell where it is.
	overrides      bool
	flags2         uint64 // MethodTable
	virtuals, size uint64 // MethodTable
}

// placesLayout is the form of the lists of places of code that was compiled at run time.
type placesLayout int

const (
	nibbles placesLayout = iota
	packed               // by bits
	unknown
)

// common is what the releases 8, 9 and 10 have in the same places.
var common = Layout{
	section: sectionLayout{next: 0, begin: 8, end: 16, section: 24, flags: 16, heap: 40, module: 32},
	heap:    heapLayout{start: 16, end: 24, base: 32, nibbles: 40},
	header:  headerLayout{debug: 0, clauses: 8, method: 24, count: 32, functions: 36},
	ready:   readyLayout{header: 16, composite: 40, count: 88, functions: 80, methods: 448},
	image:   8,
	layout:  120, replacedSize: 32,
	desc: methodLayout{
		remainder: 0, index: 2, flags: 6, chunk: 24, table: 0, tokens: 18,
		flags2: 8, module: 24, virtuals: 12, size: 64, name: 32,
	},
	types: typeLayout{flags: 0, base: 4, row: 8, parent: 16, class: 40, instance: 48, table: 16, fields: 24},
}

// eight and nine are the layouts of .NET 8 and 9.
func eight() *Layout {
	l := common
	l.release, l.toReady, l.assembly = "8", 1152, 272
	l.desc.overrides, l.desc.name = true, 24
	l.types.row, l.types.shortRow = 10, true
	l.threads = threadLayout{first: 160, link: 224, id: 24, system: 416, object: 424, thrown: 456, base: 240, allocate: 80}
	return &l
}

func nine() *Layout {
	l := common
	l.release, l.toReady, l.assembly = "9", 1168, 280
	return &l
}

// described returns the layout that a run time describes. What .NET 9 leaves out is of that
// release.
func described(d *descriptor) (*Layout, error) {
	t := taker{descriptor: d}
	threads := threadLayout{
		first: t.offset("ThreadStore", "FirstThreadLink"), link: t.offset("Thread", "LinkNext"), state: t.offset("Thread", "State"),
		id: t.offset("Thread", "Id"), system: t.offset("Thread", "OSId"), object: t.offset("Thread", "GCHandle"), thrown: t.offset("Thread", "LastThrownObject"),
		apart: true, locals: t.offset("Thread", "RuntimeThreadLocals"),
		allocate: t.offset("RuntimeThreadLocals", "AllocContext") + uint64(d.Types["EEAllocContext"]["GCAllocationContext"]) + t.offset("GCAllocContext", "Pointer"),
	}
	threads.base = threads.link + 8
	if _, ok := d.Types["RangeSection"]; !ok {
		l := nine()
		l.threads = threads
		return l, t.err()
	}
	l := &Layout{threads: threads, release: "10 and later", places: packed, replacedSize: 40}
	l.section = sectionLayout{
		next: t.offset("RangeSectionFragment", "Next"), begin: t.offset("RangeSectionFragment", "RangeBegin"),
		end: t.offset("RangeSectionFragment", "RangeEndOpen"), section: t.offset("RangeSectionFragment", "RangeSection"),
		flags: t.offset("RangeSection", "Flags"), heap: t.offset("RangeSection", "HeapList"), module: t.offset("RangeSection", "R2RModule"),
	}
	l.heap = heapLayout{
		start: t.offset("CodeHeapListNode", "StartAddress"), end: t.offset("CodeHeapListNode", "EndAddress"),
		base: t.offset("CodeHeapListNode", "MapBase"), nibbles: t.offset("CodeHeapListNode", "HeaderMap"),
	}
	l.header = headerLayout{
		method: t.offset("RealCodeHeader", "MethodDesc"),
		count:  t.offset("RealCodeHeader", "NumUnwindInfos"), functions: t.offset("RealCodeHeader", "UnwindInfos"),
	}
	if _, changed := d.Contracts["DebugInfo"]; changed { // .NET 11 has another form
		l.places = unknown
	}
	l.header.clauses = 8
	for name, offset := range map[string]*uint64{"DebugInfo": &l.header.debug, "EHInfo": &l.header.clauses} { // .NET 10 leaves them out
		if f, ok := d.Types["RealCodeHeader"][name]; ok {
			*offset = uint64(f)
		}
	}
	l.ready = readyLayout{
		composite: t.offset("ReadyToRunInfo", "CompositeInfo"), header: t.offset("ReadyToRunInfo", "ReadyToRunHeader"),
		count: t.offset("ReadyToRunInfo", "NumRuntimeFunctions"), functions: t.offset("ReadyToRunInfo", "RuntimeFunctions"),
		methods: t.offset("ReadyToRunInfo", "EntryPointToMethodDescMap"),
	}
	l.ready.methods += t.offset("HashMap", "Buckets")
	l.toReady, l.assembly = t.offset("Module", "ReadyToRunInfo"), t.offset("Module", "PEAssembly")
	l.image, l.layout = t.offset("PEAssembly", "PEImage"), t.offset("PEImage", "LoadedImageLayout")
	l.desc = methodLayout{
		remainder: t.offset("MethodDesc", "Flags3AndTokenRemainder"), index: t.offset("MethodDesc", "ChunkIndex"), flags: t.offset("MethodDesc", "Flags"),
		chunk: t.offset("MethodDescChunk", "!"), table: t.offset("MethodDescChunk", "MethodTable"), tokens: t.offset("MethodDescChunk", "FlagsAndTokenRange"),
		flags2: t.offset("MethodTable", "MTFlags2"), module: t.offset("MethodTable", "Module"),
		virtuals: t.offset("MethodTable", "NumVirtuals"), size: t.offset("MethodTable", "!"), name: t.offset("DynamicMethodDesc", "MethodName"),
	}
	l.types = typeLayout{
		flags: t.offset("MethodTable", "MTFlags"), base: t.offset("MethodTable", "BaseSize"), row: t.offset("MethodTable", "MTFlags2"),
		parent: t.offset("MethodTable", "ParentMethodTable"), class: t.offset("MethodTable", "EEClassOrCanonMT"),
		instance: t.offset("MethodTable", "PerInstInfo"), table: t.offset("EEClass", "MethodTable"), fields: t.offset("EEClass", "FieldDescList"),
	}
	return l, t.err()
}
