package java

import (
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// carried fills in what a virtual thread does that a thread carries.
func (t *tasks) carried(x *language.Task, object, carrier uint64) {
	at, ok := t.at(carrier, threadClass, "eetop")
	record, _ := t.Word(at)
	if !ok || record == 0 {
		return
	}
	x.Thread = t.native(record)
	if status := t.status(carrier); x.State == "RUNNABLE" && status != unknownStatus && status.String() != "" {
		x.State = status.String()
	}
	if t.vm.layout == nil {
		return
	}
	spots, err := t.onStack(record, object)
	t.fill(x, spots, err)
}

// anchor is where the innermost frame of Java is, as a thread notes it before it leaves Java.
type anchor struct{ sp, fp, pc uint64 }

func (t *tasks) anchor(at uint64) (a anchor) {
	a.sp, _ = t.word(at, "JavaFrameAnchor::_last_Java_sp")
	a.fp, _ = t.word(at, "JavaFrameAnchor::_last_Java_fp")
	if a.pc, _ = t.word(at, "JavaFrameAnchor::_last_Java_pc"); a.pc == 0 && a.sp != 0 {
		a.pc, _ = t.Word(a.sp - 8)
	}
	return a
}

// onStack returns the frames of the virtual thread that a thread carries; none if the thread runs
// Java at this moment, as its registers are not at hand here.
func (t *tasks) onStack(record, object uint64) (list []spot, err error) {
	th, ok := t.stackOf(record)
	noted, has := t.tables.Fields["JavaThread::_anchor"]
	if !ok || !has {
		return nil, nil
	}
	a := t.anchor(record + noted.Offset)
	if a.sp == 0 {
		return nil, nil
	}
	callStub, _ := t.static("StubRoutines::_call_stub_return_address")
	for len(list) < mostSpots {
		if a.sp < th.limit || a.sp >= th.base {
			return list, errChunk
		}
		before := a.sp
		switch code := t.codeAt(a.pc); {
		case a.pc-1-t.interpreter < t.interpreterBytes:
			method, ok := t.Word(a.fp - 8*-methodSlot)
			bytecode, is := t.Word(a.fp - 8*uint64(-t.vm.slots.bytecode))
			sender, has := t.Word(a.fp - 8)
			if !ok || !is || !has || a.fp < a.sp {
				return list, errChunk
			}
			list = append(list, spot{a.pc, method, bytecode})
			// On arm64 the stack pointer of a caller that is interpreted lies inward of the
			// arguments, and may lie inward of this frame.
			a.sp = max(sender, a.fp+8*frameRecord)
			a.pc, _ = t.Word(a.fp + 8)
			a.fp, _ = t.Word(a.fp)
		case a.pc == callStub: // behind it are frames of C++, and then the frame of Java that led to them
			slot := t.wrapperSlot()
			wrapper, _ := t.Word(a.fp + 8*uint64(slot))
			noted, has := t.tables.Fields["JavaCallWrapper::_anchor"]
			if slot == 0 || wrapper == 0 || !has {
				return list, errChunk
			}
			a = t.anchor(wrapper + noted.Offset)
		case code.barrier:
			return t.onHeap(t.follow(object, virtualThread, "cont"), list)
		case code.enters:
			return list, nil
		case code.b.Frame <= 0:
			return list, errChunk
		default:
			if code.method {
				pc := a.pc
				if code.handler {
					pc = t.vm.original(t.Reader, &code.b, pc, a.sp)
				}
				list = append(list, spot{pc: pc})
			}
			a.sp += 8 * uint64(code.b.Frame)
			a.pc, _ = t.Word(a.sp - 8)
			a.fp, _ = t.Word(a.sp - 16)
		}
		if a.sp <= before {
			return list, errChunk
		}
	}
	return list, errTooDeep
}

// wrapperSlot returns where the frame by which C++ has called Java leads to what C++ has noted, in
// words from its frame pointer on; 0 if that is not known.
func (t *tasks) wrapperSlot() int64 {
	slot, ok := t.tables.Constants["frame::entry_frame_call_wrapper_offset"]
	if j := t.vm.arch.JavaInterpreter; !ok && j != nil {
		slot = j.WrapperSlot
	}
	return slot
}

// enterSpecial is the method by which a thread enters a continuation. Its frame has the record of
// that.
const enterSpecial = "jdk.internal.vm.Continuation.enterSpecial"

// enters reports whether compiled code is the method by which threads enter continuations.
func (vm *machine) enters(r *vmstructs.Reader, b *vmstructs.Blob) bool {
	at, ok := r.Pointer(b.At, vm.compiled.method)
	if !ok {
		return false
	}
	m := vm.method(r, at)
	return m != nil && m.native && m.function == enterSpecial
}

// onTheMove is why a virtual thread's frames are missing.
const onTheMove = "frames of the virtual thread are just being moved from the heap to the stack: they are not shown"

// onTheHeap is why a stack that was copied before has no more frames.
const onTheHeap = "the other frames of the virtual thread were on the heap, which may have changed"

// behindBarrier returns the frames of the virtual thread that a thread carries which are not on
// the thread's stack, but on the heap. The return barrier stands in the place of the method that
// has entered the continuation.
func (vm *machine) behindBarrier(s *language.Stack) ([]language.Frame, error) {
	r := &reading{Reader: &vmstructs.Reader{Memory: s.Memory, Order: s.Arch.Order}, heap: &vm.threads.heap}
	sp, ok := outermost(s)
	if !ok || !r.ready() {
		return nil, errChunk
	}
	th, ok := vm.threads.of(r, sp)
	if !ok {
		return nil, errChunk
	}
	t := vm.newTasks(r)
	spots, err := t.onHeap(t.follow(r.handle(th.at, "JavaThread::_vthread"), virtualThread, "cont"), nil)
	return append(t.framesOf(spots), language.Frame{Function: enterSpecial, Kind: "native"}), err
}
