package record

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/symbol"
)

// A stack for which the tree has no room is counted, and says that frames are missing.
func TestFullTree(t *testing.T) {
	tree := newTree()
	tree.most = 3 // the outside, and two frames
	a, b, c := tree.place(place{addr: 1}), tree.place(place{addr: 2}), tree.place(place{addr: 3})
	tree.add(0, stateUnknown, []uint32{b, a}, 10)
	tree.add(0, stateUnknown, []uint32{c, b, a}, 10)
	tree.add(0, stateUnknown, []uint32{c, b, a}, 10)
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := Profile{Frequency: 1, Threads: []Thread{{PID: 1, TID: 1}}, stacks: tree.now()}
	stacks := p.Picture(names)
	got := map[int64][]string{}
	for _, s := range stacks.Samples {
		for _, f := range s.Frames {
			got[s.Values[0]] = append(got[s.Values[0]], stacks.Places[f].Name)
		}
	}
	if !slices.Equal(got[1], []string{"0x2", "0x1"}) || !slices.Equal(got[2], []string{"[inner frames are left out: there are too many different stacks]", "0x2", "0x1"}) {
		t.Errorf("%v", got)
	}
}
