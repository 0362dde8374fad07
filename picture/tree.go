package picture

import (
	"cmp"
	"slices"
)

// Tree is the tree of all stacks, the outermost frames at its roots.
type Tree[F any] struct {
	Nodes []Node[F] // a parent stands before its children
	known map[child]int32
	root  Node[F] // the parent of the roots
}

// Node is a frame, for all stacks that have it behind the same frames further out.
type Node[F any] struct {
	Frame  F
	Parent int // index of the frame further out; -1 at a root
	Depth  int // 0 at a root
	Value  int64
	Self   int64 // of the stacks whose innermost frame this is

	first, last, next int32 // its first and last child, and the next child of its parent, in the order in which they came; 0 for none
}

// child names a node by its parent and by what makes frames equal.
type child struct {
	parent, key int32
}

// NewTree returns a tree without nodes.
func NewTree[F any]() *Tree[F] { return &Tree[F]{known: map[child]int32{}} }

// Add adds a stack of n frames, which has been found value times. i counts frames from the
// outermost on. Frames with the same key(i) behind the same frames are one node. Add calls frame(i)
// for the first of them alone.
func (t *Tree[F]) Add(n int, value int64, key func(i int) int, frame func(i int) F) {
	at := int32(-1)
	for i := range n {
		c := child{at, int32(key(i))}
		kid, ok := t.known[c]
		if !ok {
			kid = int32(len(t.Nodes))
			t.known[c] = kid
			t.Nodes = append(t.Nodes, Node[F]{Frame: frame(i), Parent: int(at), Depth: i})
			if parent := t.node(int(at)); kid > 0 && (at < 0 || parent.first > 0) {
				t.Nodes[parent.last].next, parent.last = kid, kid
			} else {
				parent.first, parent.last = kid, kid
			}
		}
		t.Nodes[kid].Value += value
		at = kid
	}
	if at >= 0 {
		t.Nodes[at].Self += value
	}
}

// node returns a node by its index; the parent of the roots for -1.
func (t *Tree[F]) node(i int) *Node[F] {
	if i < 0 {
		return &t.root
	}
	return &t.Nodes[i]
}

// kids returns the indices of a node's children, the first that came first; of -1, the roots.
func (t *Tree[F]) kids(of int) (list []int) {
	n := t.node(of)
	if len(t.Nodes) == 0 || of >= 0 && n.first == 0 { // node 0 is a root
		return nil
	}
	for i := n.first; ; i = t.Nodes[i].next {
		if list = append(list, int(i)); i == n.last {
			return list
		}
	}
}

// Children returns the indices of a node's children, the child with the greatest Value first. The
// children of -1 are the roots.
func (t *Tree[F]) Children(of int) []int {
	list := t.kids(of)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(t.Nodes[b].Value, t.Nodes[a].Value) })
	return list
}

// Walk calls visit with the nodes in the order of a listing: a node, then its children, the child
// with the greatest Value first. The tree may be deeper than a program's own stack.
func (t *Tree[F]) Walk(visit func(i int)) {
	todo := t.Children(-1)
	slices.Reverse(todo)
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(i)
		kids := t.Children(i)
		slices.Reverse(kids)
		todo = append(todo, kids...)
	}
}
