package java

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/language"
)

// TestStackLocked: an object is locked if its mark word leads to a lock on the stack. A word of the
// stack that looks like such a mark word makes no object of the stack, wherever the heap may be.
func TestStackLocked(t *testing.T) {
	const object, limit, base = 0x10000, 0x10010, 0x10040
	const lock = limit + 0x20
	var memory []byte
	for _, word := range []uint64{
		lock, 0, // the object: its mark word, its class
		limit + 8, lock, // a word of the stack that leads to one that leads to the lock
		object, 0,
		1, 0, // the lock has the mark word of an object that is not locked
	} {
		memory = binary.LittleEndian.AppendUint64(memory, word)
	}
	m := memtest.Flat{Lo: object, Data: memory}
	r := &reading{Reader: vmstructs.NewReader(m, binary.LittleEndian), heap: &heap{heapLow: 1 << 12, heapSize: 1 << 47}}
	defer r.Reader.Free()
	s := &language.Stack{Arch: amd64.Arch, Memory: m}
	got := r.stackLockedFrom(limit, s, javaThread{base: base, limit: limit}, nil)
	if !slices.Equal(got, []uint64{object}) {
		t.Errorf("the thread has locked %#x, want %#x", got, uint64(object))
	}
}
