package hotspot

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
)

const senderSP = "frame::interpreter_frame_sender_sp_offset"

// machine says where a process's Java virtual machine has its code.
type machine struct {
	why frame.Answer // why it cannot be used

	heaps          vmstructs.Field // the list of code heaps; old releases have only heap
	heap           vmstructs.Field
	length, data   vmstructs.Field // of a GrowableArray
	memory, segmap uint64
	low, high      uint64          // of a VirtualSpace
	segment        vmstructs.Field // log2 of a segment's size
	used           vmstructs.Field
	header         uint64 // size of HeapBlock

	frameSize, complete  vmstructs.Field
	codeBegin, codeEnd   vmstructs.Field // addresses; if the tables lack them,
	codeOffset, codeStop vmstructs.Field // offsets in the blob

	queue, buffer, limit vmstructs.Field // of the interpreter's code
	sender               int64           // where the caller's SP is in an interpreted frame: words from FP on
	codelet              codelets
	listed               codeletList
	callStub             vmstructs.Field // the return address of the call from C++ to Java; its offset is 0 if not known
}

type machineKey struct{}

// machineOf returns the virtual machine of the process that q is about.
func machineOf(q *frame.Query) *machine {
	return q.Modules.Memo(machineKey{}, func() any { return newMachine(q) }).(*machine)
}

func newMachine(q *frame.Query) *machine {
	a := q.Arch
	t, err := vmstructs.Of(q.Modules, q.Memory, a)
	if err != nil {
		return &machine{why: frame.Answer(err.Error())}
	}
	// The return address and the caller's frame pointer are the first words of each frame.
	if a.PtrSize != 8 || a.FrameRecord != 16 || a.SPFromCFA != 0 {
		return &machine{why: otherFrames}
	}
	return layOut(t)
}

// layOut takes the needed offsets and sizes from the tables.
func layOut(t *vmstructs.Tables) *machine {
	vm := &machine{}
	missing := ""
	need := func(names ...string) (f vmstructs.Field) {
		for _, name := range names {
			if f, ok := t.Fields[name]; ok {
				return f
			}
		}
		if missing == "" {
			missing = names[0]
		}
		return f
	}
	number := func(name string) vmstructs.Field {
		f := need(name)
		if f.Size == 0 && missing == "" {
			missing = "the type of " + name
		}
		return f
	}
	optional := func(name string) (f vmstructs.Field, ok bool) { f, ok = t.Fields[name]; return f, ok }

	if heap, ok := optional("CodeCache::_heap"); ok {
		vm.heap = heap
	} else {
		vm.heaps = need("CodeCache::_heaps")
		vm.length = need("GrowableArrayBase::_len", "GenericGrowableArray::_len")
		vm.data = need("GrowableArray<int>::_data")
	}
	vm.memory, vm.segmap = need("CodeHeap::_memory").Offset, need("CodeHeap::_segmap").Offset
	vm.low, vm.high = need("VirtualSpace::_low").Offset, need("VirtualSpace::_high").Offset
	vm.segment = number("CodeHeap::_log2_segment_size")
	vm.used = number("HeapBlock::Header::_used")
	vm.used.Offset += need("HeapBlock::_header").Offset
	if vm.header = t.Types["HeapBlock"].Size; vm.header == 0 && missing == "" {
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
	sender, ok := t.Constants[senderSP]
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
