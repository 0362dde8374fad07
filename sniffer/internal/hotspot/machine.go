package hotspot

import (
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
)

// looked names the structures whose fields are taken from the tables.
var looked = map[string]bool{
	"CodeCache": true, "CodeHeap": true, "VirtualSpace": true, "HeapBlock": true, "HeapBlock::Header": true,
	"GrowableArrayBase": true, "GenericGrowableArray": true, "GrowableArray<int>": true,
	"CodeBlob": true, "AbstractInterpreter": true, "StubQueue": true, "InterpreterCodelet": true, "StubRoutines": true,
}

const senderSP = "frame::interpreter_frame_sender_sp_offset"

// constants names the constants that are taken from the tables.
var constants = map[string]bool{senderSP: true}

// machine says where a process's Java virtual machine has its code.
type machine struct {
	why frame.Answer // why it cannot be used

	heaps          field // the list of code heaps; old releases have only heap
	heap           field
	length, data   field // of a GrowableArray
	memory, segmap uint64
	low, high      uint64 // of a VirtualSpace
	segment        field  // log2 of a segment's size
	used           field
	header         uint64 // size of HeapBlock

	frameSize, complete  field
	codeBegin, codeEnd   field // addresses; if the tables lack them,
	codeOffset, codeStop field // offsets in the blob

	queue, buffer, limit field // of the interpreter's code
	sender               int64 // where the caller's SP is in an interpreted frame: words from FP on
	codelet              codelets
	listed               codeletList
	callStub             field // the return address of the call from C++ to Java; its offset is 0 if not known
}

type machineKey struct{}

// machineOf returns the virtual machine of the process that q is about.
func machineOf(q *frame.Query) *machine {
	return q.Modules.Memo(machineKey{}, func() any { return newMachine(q) }).(*machine)
}

const (
	symbolPrefix = "gHotSpotVM"
	tableSymbol  = symbolPrefix + "Structs"
	maxSymbols   = 64 // there are some 25
)

func newMachine(q *frame.Query) *machine {
	for _, m := range q.Modules.All() {
		im, bias, err := m.PeekImage()
		if err != nil || !im.MayHaveSymbol(tableSymbol) {
			continue
		}
		exported := im.LookupPrefix(symbolPrefix, maxSymbols)
		if _, ok := exported[tableSymbol]; ok {
			return open(q, exported, bias)
		}
	}
	return &machine{why: noMachine}
}

func open(q *frame.Query, exported map[string]elf.Symbol, bias uint64) *machine {
	a := q.Arch
	// The return address and the caller's frame pointer are the first words of each frame.
	if a.PtrSize != 8 || a.FrameRecord != 16 || a.SPFromCFA != 0 {
		return &machine{why: otherFrames}
	}
	s := symbols{&reader{memory: q.Modules.MemoryOr(q.Memory), order: a.Order}, exported, bias}
	t, ok := s.read()
	if !ok {
		return &machine{why: unread}
	}
	return layOut(&t)
}

// layOut takes the needed offsets and sizes from the tables.
func layOut(t *tables) *machine {
	vm := &machine{}
	missing := ""
	need := func(names ...string) (f field) {
		for _, name := range names {
			if f, ok := t.fields[name]; ok {
				return f
			}
		}
		if missing == "" {
			missing = names[0]
		}
		return f
	}
	number := func(name string) field {
		f := need(name)
		if f.size == 0 && missing == "" {
			missing = "the type of " + name
		}
		return f
	}
	optional := func(name string) (f field, ok bool) { f, ok = t.fields[name]; return f, ok }

	if heap, ok := optional("CodeCache::_heap"); ok {
		vm.heap = heap
	} else {
		vm.heaps = need("CodeCache::_heaps")
		vm.length = need("GrowableArrayBase::_len", "GenericGrowableArray::_len")
		vm.data = need("GrowableArray<int>::_data")
	}
	vm.memory, vm.segmap = need("CodeHeap::_memory").offset, need("CodeHeap::_segmap").offset
	vm.low, vm.high = need("VirtualSpace::_low").offset, need("VirtualSpace::_high").offset
	vm.segment = number("CodeHeap::_log2_segment_size")
	vm.used = number("HeapBlock::Header::_used")
	vm.used.offset += need("HeapBlock::_header").offset
	if vm.header = t.sizes["HeapBlock"].bytes; vm.header == 0 && missing == "" {
		missing = "HeapBlock"
	}
	vm.frameSize, vm.complete = number("CodeBlob::_frame_size"), number("CodeBlob::_frame_complete_offset")
	if begin, ok := optional("CodeBlob::_code_begin"); ok {
		vm.codeBegin, vm.codeEnd = begin, need("CodeBlob::_code_end")
	} else {
		vm.codeOffset, vm.codeStop = number("CodeBlob::_code_offset"), number("CodeBlob::_data_offset")
	}
	vm.queue = need("AbstractInterpreter::_code")
	vm.buffer, vm.limit = need("StubQueue::_stub_buffer"), number("StubQueue::_buffer_limit")
	sender, ok := t.constants[senderSP]
	if !ok && missing == "" {
		missing = senderSP
	}
	if vm.sender = sender; missing != "" {
		return &machine{why: frame.Answer("the Java virtual machine's tables leave out " + missing)}
	}
	if sender < -maxFixed || sender > maxFixed {
		return &machine{why: unread}
	}
	vm.codelet = layOutCodelets(t)
	vm.callStub, _ = optional("StubRoutines::_call_stub_return_address")
	return vm
}

// maxFixed bounds the fixed part of an interpreted frame, in words.
const maxFixed = 64
