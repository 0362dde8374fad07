package cxx

import (
	"errors"
	"iter"
	"strconv"

	"github.com/sfwalk/sfwalk/value"
)

// Chain yields the elements of nodes, each of which begins with the address of the next. The
// element is offset bytes from the node's beginning.
func (o *Object) Chain(elem *value.Type, node, end, offset uint64) iter.Seq2[value.Value, error] {
	return o.ChainBy(0, elem, node, end, offset)
}

// ChainBy is Chain where the address of the next node is link bytes from the node's beginning.
func (o *Object) ChainBy(link uint64, elem *value.Type, node, end, offset uint64) iter.Seq2[value.Value, error] {
	return func(yield func(value.Value, error) bool) {
		for node := node; node != end; {
			next, err := o.Word(node + link)
			if err != nil {
				yield(value.Value{}, err)
				return
			}
			if !yield(o.At(elem, node+offset), nil) {
				return
			}
			node = next
		}
	}
}

// MaxTreeDepth bounds a tree: one with 2^63 nodes is at most twice as deep as it has bits.
const MaxTreeDepth = 128

// ErrLoop says that nodes of a container lead to each other.
var ErrLoop = errors.New("the container's nodes form a loop")

// Numbered yields values as elements [0], [1], ….
func Numbered(values iter.Seq2[value.Value, error]) iter.Seq2[value.Child, error] {
	return func(yield func(value.Child, error) bool) {
		i := 0
		for v, err := range values {
			if !yield(value.Child{Name: Index(i), Value: v}, err) {
				return
			}
			i++
		}
	}
}

// Index returns the name of element i: "[3]".
func Index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// CountText returns "1 element", or "5 elements".
func CountText(n int64) string {
	if n == 1 {
		return "1 element"
	}
	return strconv.FormatInt(n, 10) + " elements"
}
