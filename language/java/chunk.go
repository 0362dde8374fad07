package java

import (
	"errors"
	"fmt"
	"slices"
)

// A virtual thread that is on no carrier has its frames in objects on the heap: chunks. They lie
// there as on a stack, but for addresses of the stack in interpreted frames, which are distances
// from the frame pointer, in words.

// spot is where one frame is.
type spot struct {
	pc uint64 // of compiled code

	// Of an interpreted frame: the Method, which is 0 for other frames, and the address of the
	// bytecode.
	method, bytecode uint64
}

// Bounds of the chunks of one virtual thread.
const (
	mostChunks  = 1 << 12
	mostOfStack = 1 << 20 // words of a chunk
	mostSpots   = 1 << 16 // frames of a virtual thread

	mostWordsOfAll = 1 << 28 // of all virtual threads

	stackChunk   = "jdk/internal/vm/StackChunk"
	senderSlot   = -1
	frameRecord  = 2 // words: the frame pointer and the return address
	continuation = "jdk/internal/vm/Continuation"
)

var (
	errChunk   = errors.New("a frame of the virtual thread is broken")
	errTooMuch = fmt.Errorf("the frames of the virtual threads take more than %d words", mostWordsOfAll)
	errTooDeep = fmt.Errorf("the virtual thread has more than %d frames, or %d pieces of these on the heap", mostSpots, mostChunks)
)

// onHeap adds the frames that a continuation has on the heap.
func (t *tasks) onHeap(object uint64, list []spot) ([]spot, error) {
	chunk := t.follow(object, continuation, "tail")
	turn := newTurn(chunk)
	for range mostChunks {
		if chunk == 0 {
			return list, nil
		}
		var err error
		if list, err = t.chunk(chunk, list); err != nil {
			return list, err
		}
		if chunk = t.follow(chunk, stackChunk, "parent"); turn.back(chunk) {
			return list, errChunk
		}
	}
	return list, errTooDeep
}

// chunk adds the frames of one chunk.
func (t *tasks) chunk(object uint64, list []spot) ([]spot, error) {
	size, ok := t.integer(object, stackChunk, "size")
	sp, known := t.integer(object, stackChunk, "sp")
	end, bounded := t.integer(object, stackChunk, "bottom")
	if !bounded { // up to 21
		var arguments int
		arguments, bounded = t.integer(object, stackChunk, "argsize")
		end = size - arguments
	}
	helper, laidOut := t.reading.number(t.classOf(object), "Klass::_layout_helper")
	if !ok || !known || !bounded || !laidOut || helper <= 0 || sp < 0 || sp > end || end > size || size > mostOfStack {
		return list, errChunk
	}
	if sp == end {
		return list, nil
	}
	if sp < frameRecord {
		return list, errChunk
	}
	// The stack lies behind the fields. The return address of the innermost frame is inward of it.
	low := sp - frameRecord
	if t.words += end - low; t.words > mostWordsOfAll {
		return list, errTooMuch
	}
	t.room = slices.Grow(t.room[:0], 8*(end-low))
	words := t.room[:8*(end-low)]
	start := object + uint64(helper)&^7
	if n, _ := t.Memory.ReadMemory(start+8*uint64(low), words); n < len(words) {
		return list, errChunk
	}
	return t.walk(&chunkFrames{t, words, low, end, start}, list)
}

// chunkFrames are the words of a chunk's stack from low on, up to end.
type chunkFrames struct {
	*tasks
	words    []byte
	low, end int
	start    uint64 // the address of word 0
}

// word returns a word of the stack.
func (c *chunkFrames) word(i int) (v uint64, ok bool) {
	if i < c.low || i >= c.end {
		return 0, false
	}
	return c.Order.Uint64(c.words[8*(i-c.low):]), true
}

// distance returns the word to which word i leads, from fp on.
func (c *chunkFrames) distance(i, fp int) (to int, ok bool) {
	v, ok := c.word(i)
	d := int64(v)
	return fp + int(d), ok && d > -mostOfStack && d < mostOfStack
}

// walk adds the frames of a chunk.
func (t *tasks) walk(c *chunkFrames, list []spot) ([]spot, error) {
	// The frame's stack pointer, and where it is without what its callee has moved.
	sp := c.low + frameRecord
	own := sp
	for len(list) < mostSpots {
		pc, ok := c.word(sp - 1)
		if !ok {
			return list, errChunk
		}
		if pc-1-t.interpreter < t.interpreterBytes {
			fp, ok := c.distance(sp-frameRecord, sp-frameRecord)
			method, is := c.word(fp + methodSlot)
			bytecode, has := c.word(fp + t.vm.slots.bytecode)
			locals, bounded := c.distance(fp+t.vm.slots.locals, fp)
			sender, known := c.distance(fp+senderSlot, fp)
			if !ok || !is || !has || !bounded || !known || fp < sp {
				return list, errChunk
			}
			list = append(list, spot{pc, method, bytecode})
			if locals+1 >= c.end {
				return list, nil
			}
			sp = fp + frameRecord
			own = max(sender, sp) // as in onStack
			continue
		}
		code := t.codeAt(pc)
		if code.b.Frame <= 0 {
			return list, fmt.Errorf("%w: there is no code at %#x", errChunk, pc)
		}
		if code.method {
			if code.handler {
				pc = t.vm.original(t.Reader, &code.b, pc, c.start+8*uint64(own))
			}
			list = append(list, spot{pc: pc})
		}
		sp = own + int(code.b.Frame)
		if own = sp; sp >= c.end-frameRecord {
			return list, nil
		}
	}
	return list, errTooDeep
}
