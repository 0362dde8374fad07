package hotspot

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

const senderSP = "frame::interpreter_frame_sender_sp_offset"

// machine says where a process's Java virtual machine has its code.
type machine struct {
	why frame.Answer // why it cannot be used

	blobs   vmstructs.CodeCache
	code    *vmstructs.Interpreter
	virtual vmstructs.Continuations

	adapters vmstructs.Adapters
	// The rules of other registers: in compiled frames, and in interpreted ones.
	compiledOthers, interpretedOthers *trad.OtherRules
	sender                            int64           // where the caller's SP is in an interpreted frame: words from FP on
	callStub                          vmstructs.Field // the return address of the call from C++ to Java; its offset is 0 if not known
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
	vm := layOut(t, a)
	vm.compiledOthers = others(a)
	vm.interpretedOthers = others(a, trad.RegRule{Reg: a.SP, Rule: trad.Rule{Kind: trad.Saved, Off: int32(a.PtrSize)*int32(vm.sender) - a.FrameRecord}})
	return vm
}

// layOut takes the needed offsets and sizes from the tables.
func layOut(t *vmstructs.Tables, a *arch.Arch) *machine {
	needed := vmstructs.Needed{Tables: t}
	vm := &machine{blobs: needed.CodeCache(), code: needed.Interpreter(), virtual: needed.Continuations(), adapters: needed.Adapters()}
	var ok bool
	switch vm.sender, ok = t.Constants[senderSP]; {
	case ok:
	case a.JavaInterpreter != nil:
		vm.sender = a.JavaInterpreter.SenderSlot
	default:
		needed.Lacks(senderSP)
	}
	if err := needed.Err(); err != nil {
		return &machine{why: frame.Answer(err.Error())}
	}
	if vm.sender < -maxFixed || vm.sender > maxFixed {
		return &machine{why: unread}
	}
	vm.callStub = t.Fields["StubRoutines::_call_stub_return_address"]
	return vm
}

// maxFixed bounds the fixed part of an interpreted frame, in words.
const maxFixed = 64
