package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/symbol"
)

// The names of all places, and the labels of all samples, have a bound. What is beyond has
// addresses alone, and is counted.
func TestMaxText(t *testing.T) {
	const places, size, most = 100, 1000, 10_500
	tree := newTree()
	labels := tree.tag(0, []goroutine.Label{{Key: "k", Value: strings.Repeat("v", size)}})
	for i := range places {
		at := tree.place(place{addr: uint64(i + 1), name: tree.nameID(Name{Function: fmt.Sprintf("%04d%s", i, strings.Repeat("n", size-4))})})
		tree.add(sampleKey{tag: labels}, []uint32{at}, 1)
	}
	names := symbol.New(symbol.Options{})
	defer names.Close()
	namer := NewNamer(names)
	namer.MaxText = most
	p := &Profile{Frequency: 1, Threads: []Thread{{PID: 1, TID: 1}}, stacks: tree.stacks}
	for range 2 { // names are kept, and counted once
		stacks := namer.Picture(p)
		named, labelled := 0, 0
		for _, s := range stacks.Samples {
			if at := stacks.Places[s.Frames[0]]; at.Function != "" {
				named++
			} else if !strings.HasPrefix(at.Name, "0x") {
				t.Errorf("%+v has no address", at)
			}
			labelled += len(s.Texts)
		}
		if len(stacks.Samples) != places || named != most/size || labelled != most/size {
			t.Errorf("%d samples: %d places have names, %d samples labels; want %d", len(stacks.Samples), named, labelled, most/size)
		}
		if said := fmt.Sprint(namer.LeftOut); !strings.Contains(said, "90 places") || !strings.Contains(said, "90 different samples") {
			t.Errorf("it says %s", said)
		}
	}
}
