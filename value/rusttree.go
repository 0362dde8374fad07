package value

import (
	"strconv"
	"strings"
)

// maxTreeHeight bounds the height of a BTreeMap; each node but the root has five keys at least.
const maxTreeHeight = 32

// rustTree writes a BTreeMap or a BTreeSet, which is a map without values.
func (w *Writer) rustTree(v *Value, isMap bool) bool {
	m := *v
	if !isMap {
		var ok bool
		if m, ok = v.dig("map"); !ok {
			return false
		}
	}
	length, ok := m.dig("length")
	root, ok2 := m.dig("root")
	if !ok || !ok2 {
		return false
	}
	n, err := length.Uint()
	if err != nil {
		return false
	}
	name, how := "BTreeSet", array
	if isMap {
		name, how = "BTreeMap", pairs
	}
	title := name + "(size=" + strconv.FormatUint(n, 10) + ")"
	if n == 0 {
		w.Put(title)
		return true
	}
	if _, is, ok, err := root.Variant(); err == nil && ok { // an Option
		if root, ok = is.dig("__0"); !ok {
			return false
		}
	}
	node, ok := root.dig("node")
	h, ok2 := root.dig("height")
	if !ok || !ok2 {
		return false
	}
	p, ok := node.pointerOf()
	height, err := h.Uint()
	if !ok || err != nil || height > maxTreeHeight {
		return false
	}
	walk := &treeWalk{w: w, isMap: isMap}
	if !walk.push(p, int(height)) {
		return false
	}
	w.items(title, how, walk.next)
	return true
}

// treeWalk goes through the keys of a tree in their order.
type treeWalk struct {
	w       *Writer
	path    []treeNode // from the root
	isMap   bool
	pending *item // the value of the key before
}

type treeNode struct {
	keys, values Value
	edges        *Value // nil for a leaf
	n, i         uint64
	height       int
	down         bool // the child before key i is done
}

// push enters a node. p points to the part of it that a leaf has.
func (t *treeWalk) push(p Value, height int) bool {
	leaf := p.Deref()
	if n, ok := leaf.size(); !ok || !t.w.Spend(int(min(n, maxRead))) {
		return false
	}
	n := treeNode{height: height}
	var ok, ok2 bool
	n.keys, ok = leaf.dig("keys")
	n.values, ok2 = leaf.dig("vals")
	length, ok3 := leaf.dig("len")
	if !ok || !ok2 || !ok3 {
		return false
	}
	count, err := length.Uint()
	if err != nil || count > n.keys.Type.Strip().Bounds().Count {
		return false
	}
	n.n = count
	if height > 0 {
		internal := leaf.internalNode()
		if internal == nil {
			return false
		}
		addr, err := p.Uint()
		if err != nil {
			return false
		}
		whole := p.At(internal, addr)
		edges, ok := whole.dig("edges")
		if !ok {
			return false
		}
		n.edges = &edges
	}
	t.path = append(t.path, n)
	return true
}

// internalNode returns the type of nodes with children: a leaf's parent is one.
func (v *Value) internalNode() *Type {
	for i := range v.Type.Strip().Fields() {
		f := &v.Type.Strip().Fields()[i]
		if f.Name != "parent" {
			continue
		}
		option := f.Type.Strip()
		variants := option.read().variant
		if variants == nil {
			return nil
		}
		for _, x := range variants.variants {
			for k := range x.fields {
				some := x.fields[k].Type.Strip()
				for _, m := range some.Fields() {
					inner := m.Type.Strip()
					for range 4 {
						if inner.Kind == Pointer {
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
func (v *Value) initialized() (Value, bool) {
	x, ok := v.dig("value", "value")
	if ok && strings.HasPrefix(x.Type.Strip().FullName(), "core::mem::maybe_dangling::MaybeDangling<") {
		return x.dig("__0")
	}
	return x, ok
}

func (t *treeWalk) next() (item, bool) {
	if t.pending != nil {
		x := *t.pending
		t.pending = nil
		return x, true
	}
	for len(t.path) > 0 {
		at := &t.path[len(t.path)-1]
		if at.edges != nil && !at.down {
			at.down = true
			cell := at.edges.Index(at.i)
			edge, ok := cell.initialized()
			if !ok {
				return item{}, false
			}
			p, ok := edge.pointerOf()
			if !ok {
				if inner, has := edge.dig("ptr"); has { // BoxedNode, before Rust 1.50
					p, ok = inner.pointerOf()
				}
			}
			if !ok || !t.push(p, at.height-1) {
				return item{}, false
			}
			continue
		}
		if at.i >= at.n {
			t.path = t.path[:len(t.path)-1]
			continue
		}
		i := at.i
		at.i++
		at.down = false
		key, ok := treeElement(&at.keys, i)
		if !ok {
			return item{}, false
		}
		if t.isMap {
			x, ok := treeElement(&at.values, i)
			if !ok {
				return item{}, false
			}
			t.pending = &x
		}
		return key, true
	}
	return item{}, false
}

// treeElement returns a key or a value of a node. One without bytes is ().
func treeElement(of *Value, i uint64) (item, bool) {
	if n, ok := of.size(); ok && n == 0 {
		return item{text: "()"}, true
	}
	cell := of.Index(i)
	x, ok := cell.initialized()
	return item{value: x}, ok
}
