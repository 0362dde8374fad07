package vmstructs

import (
	"math"
	"slices"
	"strings"
	"sync"
)

const (
	maxCodelets = 1 << 12
	codeAlign   = 16 // the least alignment, in bytes, of a codelet's first instruction
	maxPadding  = 128
)

// Interpreter says where a virtual machine has its interpreter's code: a StubQueue of
// InterpreterCodelets, one for each bytecode, and one for each way to enter a method.
type Interpreter struct {
	queue, buffer, limit Field

	begin, end  Field // of a StubQueue: offsets in its buffer
	size        Field
	description Field
	header      uint64
	known       bool
	listed      codeletList
}

// Codelet is a piece of the interpreter's code: [Lo, Hi).
type Codelet struct {
	Lo, Hi uint64
	Name   string
}

// IsEntry reports whether a method is entered here: control comes as by a call, and there is no
// frame at first.
func (c *Codelet) IsEntry() bool { return strings.HasPrefix(c.Name, "method entry point") }

// Interpreter returns where the interpreter's code is.
func (t *Needed) Interpreter() *Interpreter {
	x := &Interpreter{}
	x.queue = t.Field("AbstractInterpreter::_code")
	x.buffer, x.limit = t.Field("StubQueue::_stub_buffer"), t.Number("StubQueue::_buffer_limit")
	x.begin, x.end = t.Fields["StubQueue::_queue_begin"], t.Fields["StubQueue::_queue_end"]
	x.size, x.description = t.Fields["InterpreterCodelet::_size"], t.Fields["InterpreterCodelet::_description"]
	x.header = t.Types["InterpreterCodelet"].Size
	_, described := t.Fields["InterpreterCodelet::_description"]
	x.known = described && x.begin.Size > 0 && x.end.Size > 0 && x.size.Size > 0 && x.header > 0
	return x
}

// Code returns the address and the size, in bytes, of the interpreter's code.
func (x *Interpreter) Code(r *Reader) (lo, n uint64, ok bool) {
	queue, ok := r.Word(x.queue.Offset)
	if !ok || queue == 0 {
		return 0, 0, false
	}
	lo, ok = r.Pointer(queue, x.buffer)
	size, known := r.Number(queue, x.limit)
	return lo, uint64(size), ok && known && size > 0 && size <= math.MaxInt32
}

// Codelet returns the codelet that pc is in. ok is false if there is none, or the tables leave out
// what finds it.
func (x *Interpreter) Codelet(r *Reader, pc uint64) (c Codelet, ok bool) {
	queue, ok := r.Word(x.queue.Offset)
	if !ok || !x.known {
		return c, false
	}
	buffer, ok := r.Pointer(queue, x.buffer)
	begin, known := r.Number(queue, x.begin)
	end, bounded := r.Number(queue, x.end)
	if !ok || !known || !bounded || begin < 0 {
		return c, false
	}
	at, hi, ok := x.listed.find(r, x.size, buffer+uint64(begin), buffer+uint64(end), pc)
	if !ok {
		return c, false
	}
	described, _ := r.Word(at + x.description.Offset)
	name := r.Name(described)
	lo := (at + x.header + codeAlign - 1) &^ (codeAlign - 1)
	padding := r.Read(lo, int(min(maxPadding, hi-min(lo, hi))))
	for len(padding) > codeAlign && strings.Trim(string(padding[:codeAlign]), "\x00") == "" {
		padding, lo = padding[codeAlign:], lo+codeAlign
	}
	return Codelet{lo, hi, name}, true
}

// codeletList has where the codelets of a queue begin. A virtual machine adds codelets as it
// starts, and none later: they are listed once for each end of the queue, and not for each frame.
// It is safe for concurrent use.
type codeletList struct {
	mu         sync.Mutex
	begin, end uint64   // of the queue that is listed
	at         []uint64 // ascending: where each codelet begins, and where the last one ends
}

// find returns the range of the codelet that pc is in, of the codelets from begin to end. size is
// the field with a codelet's size.
func (l *codeletList) find(r *Reader, size Field, begin, end, pc uint64) (at, hi uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil || l.begin != begin || l.end != end {
		l.begin, l.end, l.at = begin, end, append(l.at[:0], begin)
		for at := begin; at < end && len(l.at) <= maxCodelets; l.at = append(l.at, at) {
			n, ok := r.Number(at, size)
			if !ok || n <= 0 || at+uint64(n) < at {
				break
			}
			at += uint64(n)
		}
	}
	i, found := slices.BinarySearch(l.at, pc)
	if found {
		i++
	}
	if i == 0 || i == len(l.at) {
		return 0, 0, false
	}
	return l.at[i-1], l.at[i], true
}
