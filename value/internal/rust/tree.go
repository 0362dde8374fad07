package rust

import (
	"strings"

	"github.com/sfwalk/sfwalk/value"
)

// maxTreeHeight bounds the height of a BTreeMap; each node but the root has five keys at least.
const maxTreeHeight = 32

func shownTreeMap(w *value.Writer, v *value.Value) *value.Shown { return tree(w, v, true) }

// shownTreeSet shows a BTreeSet, which is a map without values.
func shownTreeSet(w *value.Writer, v *value.Value) *value.Shown {
	m, ok := v.Member("map")
	if !ok {
		return nil
	}
	return tree(w, &m, false)
}

func tree(w *value.Writer, m *value.Value, isMap bool) *value.Shown {
	length, ok := m.Member("length")
	root, ok2 := m.Member("root")
	if !ok || !ok2 {
		return nil
	}
	n, err := length.Uint()
	if err != nil {
		return nil
	}
	name, hint := "BTreeSet", value.AsArray
	if isMap {
		name, hint = "BTreeMap", value.AsMap
	}
	if n == 0 {
		return sized(name, n, hint, nil)
	}
	if _, is, ok, err := root.Variant(); err == nil && ok { // an Option
		if root, ok = is.Member("__0"); !ok {
			return nil
		}
	}
	node, ok := root.Member("node")
	h, ok2 := root.Member("height")
	if !ok || !ok2 {
		return nil
	}
	p, ok := pointerOf(&node)
	height, err := h.Uint()
	if !ok || err != nil || height > maxTreeHeight {
		return nil
	}
	first, ok := nodeAt(w, p, int(height))
	if !ok {
		return nil
	}
	return sized(name, n, hint, func(yield func(value.Child, error) bool) {
		(&walk{w: w, isMap: isMap, yield: yield}).node(first, int(height))
	})
}

// walk goes through the keys of a tree in their order.
type walk struct {
	w     *value.Writer
	isMap bool
	yield func(value.Child, error) bool
}

// treeNode is a node of a tree.
type treeNode struct {
	keys, values value.Value
	edges        *value.Value // nil for a leaf
	n            uint64
}

// nodeAt reads a node. p points to the part of it that a leaf has.
func nodeAt(w *value.Writer, p value.Value, height int) (n treeNode, ok bool) {
	const most = 1 << 16
	leaf := p.Deref()
	if size, ok := leaf.Type.SizeOf(); !ok || !w.Spend(int(min(size, most))) {
		return n, false
	}
	keys, ok := leaf.Member("keys")
	values, ok2 := leaf.Member("vals")
	length, ok3 := leaf.Member("len")
	if !ok || !ok2 || !ok3 {
		return n, false
	}
	count, err := length.Uint()
	if err != nil || count > keys.Type.Strip().Bounds().Count {
		return n, false
	}
	n = treeNode{keys: keys, values: values, n: count}
	if height > 0 {
		internal := internalNode(leaf.Type.Strip())
		if internal == nil {
			return n, false
		}
		addr, err := p.Uint()
		if err != nil {
			return n, false
		}
		whole := p.At(internal, addr)
		edges, ok := whole.Member("edges")
		if !ok {
			return n, false
		}
		n.edges = &edges
	}
	return n, true
}

// internalNode returns the type of nodes with children: a leaf's parent is one.
func internalNode(leaf *value.Type) *value.Type {
	for _, f := range leaf.Fields() {
		if f.Name != "parent" {
			continue
		}
		for _, fields := range f.Type.Strip().Variants() {
			for _, x := range fields {
				for _, m := range x.Type.Strip().Fields() {
					inner := m.Type.Strip()
					for range 4 {
						if inner.Kind == value.Pointer {
							return inner.Elem()
						}
						if len(inner.Fields()) == 0 {
							break
						}
						inner = inner.Fields()[0].Type.Strip()
					}
				}
			}
		}
	}
	return nil
}

// initialized returns the value in a MaybeUninit.
func initialized(v *value.Value) (value.Value, bool) {
	x, ok := v.Member("value", "value")
	if ok && strings.HasPrefix(x.Type.Strip().FullName(), "core::mem::maybe_dangling::MaybeDangling<") {
		return x.Member("__0")
	}
	return x, ok
}

// node yields what is in a node and below it. It reports whether to go on.
func (t *walk) node(n treeNode, height int) bool {
	for i := uint64(0); i <= n.n; i++ {
		if n.edges != nil && !t.edge(&n, i, height) {
			return false
		}
		if i == n.n {
			break
		}
		key, ok := element(&n.keys, i)
		if !ok || !t.yield(key, nil) {
			return false
		}
		if t.isMap {
			x, ok := element(&n.values, i)
			if !ok || !t.yield(x, nil) {
				return false
			}
		}
	}
	return true
}

// edge yields what is below edge i of a node.
func (t *walk) edge(n *treeNode, i uint64, height int) bool {
	cell := n.edges.Index(i)
	edge, ok := initialized(&cell)
	if !ok {
		return false
	}
	p, ok := pointerOf(&edge)
	if !ok {
		if inner, has := edge.Member("ptr"); has { // BoxedNode, before Rust 1.50
			p, ok = pointerOf(&inner)
		}
	}
	if !ok {
		return false
	}
	below, ok := nodeAt(t.w, p, height-1)
	return ok && t.node(below, height-1)
}

// element returns a key or a value of a node. One without bytes is ().
func element(of *value.Value, i uint64) (value.Child, bool) {
	if n, ok := of.Type.SizeOf(); ok && n == 0 {
		return value.Child{Text: "()"}, true
	}
	cell := of.Index(i)
	x, ok := initialized(&cell)
	return value.Child{Value: x}, ok
}
