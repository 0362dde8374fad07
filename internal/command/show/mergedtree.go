package show

import (
	"fmt"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/internal/command/report"
	"github.com/sfwalk/sfwalk/picture"
)

// stackTree are all stacks as one tree.
type stackTree struct {
	places placeKeys
	tree   *picture.Tree[*report.Frame]
	hid    *atomic.Bool // set if frames of the standard library are left out; nil if none are to be
}

func newStackTree() *stackTree {
	return &stackTree{places: newPlaceKeys(), tree: picture.NewTree[*report.Frame]()}
}

func (t *stackTree) add(x *report.Walked) {
	frames := x.Frames
	if t.hid != nil {
		if frames = shownOf(x.Frames); len(frames) < len(x.Frames) {
			t.hid.Store(true)
		}
	}
	at := func(i int) *report.Frame { return &frames[len(frames)-1-i] }
	t.tree.Add(len(frames), 1, func(i int) int { return t.places.of(at(i), len(frames)-1-i) }, func(i int) *report.Frame {
		if x.Single() {
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

func (t *stackTree) entries() []report.TreeEntry {
	list := make([]report.TreeEntry, 0, len(t.tree.Nodes))
	t.tree.Walk(func(i int) {
		n := &t.tree.Nodes[i]
		f := n.Frame
		list = append(list, report.TreeEntry{
			Depth: n.Depth, Count: n.Value, Self: n.Self, Function: f.Function, NameFrom: f.NameFrom, Offset: f.Offset,
			Module: f.Module, BuildID: f.BuildID, File: f.File, Line: f.Line, Column: f.Column, Type: f.Type, Language: f.Language,
		})
	})
	return list
}
