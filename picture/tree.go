package picture

import (
	"cmp"
	"slices"
)

// Tree is the tree of all stacks, the outermost frames at its roots.
type Tree[F any] struct {
	Nodes []Node[F] // a parent stands before its children
	known map[child]int
}

// Node is a frame of those stacks that have the same frames further out.
type Node[F any] struct {
	Frame  F
	Parent int // index of the frame further out; -1 at a root
	Depth  int // 0 at a root
	Value  int64
	Self   int64 // of the stacks whose innermost frame this is
	kids   []int
}

// child names a node by its parent and by what makes frames equal.
type child struct {
	parent, key int
}

// NewTree returns a tree without nodes.
func NewTree[F any]() *Tree[F] { return &Tree[F]{known: map[child]int{}} }

// Add adds a stack of n frames. key returns what makes the i-th frame equal to others, from the outermost
// on; frame returns that frame, which is only asked for the first of equal ones.
func (t *Tree[F]) Add(n int, value int64, key func(i int) int, frame func(i int) F) {
	parent := -1
	for i := range n {
		c := child{parent, key(i)}
		at, ok := t.known[c]
		if !ok {
			at = len(t.Nodes)
			t.known[c] = at
			depth := 0
			if parent >= 0 {
				depth = t.Nodes[parent].Depth + 1
				t.Nodes[parent].kids = append(t.Nodes[parent].kids, at)
			}
			t.Nodes = append(t.Nodes, Node[F]{Frame: frame(i), Parent: parent, Depth: depth})
		}
		t.Nodes[at].Value += value
		parent = at
	}
	if parent >= 0 {
		t.Nodes[parent].Self += value
	}
}

// Children returns the indices of a node's children, those with the most first; of -1, the roots.
func (t *Tree[F]) Children(of int) []int {
	var list []int
	if of >= 0 {
		list = slices.Clone(t.Nodes[of].kids)
	} else {
		for i := range t.Nodes {
			if t.Nodes[i].Parent < 0 {
				list = append(list, i)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(t.Nodes[b].Value, t.Nodes[a].Value) })
	return list
}

// Walk calls visit with the nodes in the order of a listing: a node, then its children, those with the
// most first. The tree may be deeper than a program's own stack.
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
