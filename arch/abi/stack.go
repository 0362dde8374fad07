package abi

import (
	"errors"
	"slices"
)

// Stack lays out what a call needs on the stack: inward from the thread's SP the memory of the
// result and of copies, then the arguments, and inmost what the processor wants before them.
type Stack struct {
	outer uint64 // the end of what is written
	at    uint64 // where the next copy ends
	wrap  bool   // there are not as many addresses below SP
	// copies hold what is written between at and outer, args the arguments from the inmost on.
	copies []copied
	args   []byte
	align  uint64 // of the first argument's address
	slot   uint64 // bytes
}

type copied struct {
	addr  uint64
	bytes []byte
}

// NewStack begins a layout below address sp. The first argument on the stack is at a
// multiple of align, a power of two.
func NewStack(sp, align uint64) *Stack { return NewStackOf(sp, align, 8) }

// NewStackOf is NewStack for slots of another size, in bytes, a power of two.
func NewStackOf(sp, align, slot uint64) *Stack {
	return &Stack{outer: sp, at: sp, align: align, slot: slot}
}

// Reserve returns the address of size bytes that stay as they are. It comes before all copies.
func (s *Stack) Reserve(size, align uint64) uint64 {
	s.outer = s.inward(size, align)
	return s.outer
}

// Copy returns the address at which b will be.
func (s *Stack) Copy(b []byte, align uint64) uint64 {
	addr := s.inward(uint64(len(b)), align)
	s.copies = append(s.copies, copied{addr, b})
	return addr
}

func (s *Stack) inward(size, align uint64) uint64 {
	s.wrap = s.wrap || size > s.at
	s.at = (s.at - size) &^ (align - 1)
	return s.at
}

// Push adds an argument at the next multiple of align, and fills its last slot with zeros.
func (s *Stack) Push(b []byte, align uint64) {
	s.align = max(s.align, align)
	s.args = append(s.pad(align), b...)
	s.args = s.pad(s.slot)
}

func (s *Stack) pad(align uint64) []byte {
	over := -uint64(len(s.args)) & (align - 1)
	return append(s.args, make([]byte, over)...)
}

// Finish returns SP, and the bytes from SP outward: inner, then the arguments and the copies.
func (s *Stack) Finish(inner []byte) (sp uint64, data []byte, err error) {
	s.inward(uint64(len(s.args)), s.align)
	args := s.at
	sp = s.inward(uint64(len(inner)), 1)
	if s.wrap || sp > s.outer {
		return 0, nil, errors.New("the stack has no room for the arguments")
	}
	data = slices.Grow(inner[:len(inner):len(inner)], int(s.outer-args))[:s.outer-sp]
	clear(data[len(inner):])
	copy(data[len(inner):], s.args)
	for _, c := range s.copies {
		copy(data[c.addr-sp:], c.bytes)
	}
	return sp, data, nil
}
