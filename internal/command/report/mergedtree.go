package report

import (
	"fmt"

	"github.com/sfwalk/sfwalk/picture"
)

// stackTree are all stacks as one tree.
type stackTree struct {
	places placeKeys
	tree   *picture.Tree[*Frame]
}

func newStackTree() *stackTree { return &stackTree{newPlaceKeys(), picture.NewTree[*Frame]()} }

func (t *stackTree) add(x *walked) {
	at := func(i int) *Frame { return &x.frames[len(x.frames)-1-i] }
	t.tree.Add(len(x.frames), 1, func(i int) int { return t.places.of(at(i)) }, func(i int) *Frame {
		if x.single() {
			return at(i)
		}
		f := *at(i)
		return &f
	})
}

// mostIndent is the number of forks from which on the tree is indented no further.
const mostIndent = 60

// tree prints the tree: a line for each frame, with the number of threads. Frames are indented
// where the stacks part.
func (p *textPrinter) tree(t *stackTree) {
	width := len(fmt.Sprint(len(t.places.known)))
	for _, i := range t.tree.Children(-1) {
		width = max(width, len(fmt.Sprint(t.tree.Nodes[i].Value)))
	}
	forks := make([]int, len(t.tree.Nodes)) // above each node
	t.tree.Walk(func(i int) {
		n := &t.tree.Nodes[i]
		if n.Parent >= 0 {
			forks[i] = forks[n.Parent]
			if t.tree.Nodes[n.Parent].Value != n.Value {
				forks[i]++
			}
		}
		p.Text(fmt.Sprintf("%*d  ", width, n.Value))
		for range min(forks[i], mostIndent) {
			p.Text("  ")
		}
		p.shared(n.Frame)
		p.Byte('\n')
		p.MakeRoom()
	})
}

// treeEntry is a node of the tree in JSON. The nodes are a list, for no reader of JSON takes
// objects that are as deep as stacks can be.
type treeEntry struct {
	Depth    int    `json:"depth"`
	Count    int64  `json:"count"`
	Self     int64  `json:"self"`
	Function string `json:"function"`
	Offset   uint64 `json:"offset"`
	Module   string `json:"module"`
	BuildID  string `json:"build_id"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Type     string `json:"type"`
}

func (t *stackTree) entries() []treeEntry {
	list := make([]treeEntry, 0, len(t.tree.Nodes))
	t.tree.Walk(func(i int) {
		n := &t.tree.Nodes[i]
		f := n.Frame
		list = append(list, treeEntry{n.Depth, n.Value, n.Self, f.Function, f.Offset, f.Module, f.BuildID, f.File, f.Line, f.Type})
	})
	return list
}
