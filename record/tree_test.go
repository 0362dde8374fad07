package record

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/picture"
	"github.com/sfwalk/sfwalk/symbol"
)

// A stack for which the tree has no room is counted, and says that frames are missing.
func TestFullTree(t *testing.T) {
	tree := newTree()
	tree.bounds.nodes = 3 // the outside, and two frames
	a, b, c := tree.place(place{addr: 1}), tree.place(place{addr: 2}), tree.place(place{addr: 3})
	tree.add(sampleKey{}, []uint32{b, a}, 10)
	tree.add(sampleKey{}, []uint32{c, b, a}, 10)
	tree.add(sampleKey{}, []uint32{c, b, a}, 10)
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

// Beyond the bounds, samples have labels without the goroutine's number, then nothing; known ones
// stay.
func TestFullTags(t *testing.T) {
	tree := newTree()
	blue := []goroutine.Label{{Key: "tenant", Value: "blue"}}
	first := tree.tag(1, blue)
	for i := range maxTags + 10 {
		tree.tag(uint64(i+1), nil)
	}
	if n := tree.tag(1<<40, nil); n != 0 {
		t.Errorf("one goroutine too many has the tag %v", tree.tags[n])
	}
	if n := tree.tag(1<<40, blue); tree.tags[n].goroutine != 0 || len(tree.tags[n].labels) != 1 {
		t.Errorf("one goroutine too many with labels has the tag %v", tree.tags[n])
	}
	if tree.tag(1, blue) != first {
		t.Error("a tag is not found again")
	}
	long := strings.Repeat("x", 1<<16)
	for i := range 2 * maxLabels {
		tree.tag(0, []goroutine.Label{{Key: strconv.Itoa(i), Value: long}})
	}
	if tree.labelBytes > maxLabelBytes || len(tree.tags) > maxTags+maxLabels+1 {
		t.Errorf("%d bytes of labels, %d tags", tree.labelBytes, len(tree.tags))
	}
	if n := tree.tag(0, []goroutine.Label{{Key: "one too many", Value: long}}); n != 0 {
		t.Errorf("one set too many has the tag %d", n)
	}
}

// A thread that is away from its processor when a profile is taken counts in the next one, with the
// stack, the labels and the thread that it had.
func TestAnew(t *testing.T) {
	e := newEngine(nil, nil, Options{})
	e.tree.place(place{addr: 1}) // so that numbers change
	e.tree.reason("another reason")
	e.tree.tag(7, nil)
	e.listed(Thread{PID: 1, TID: 1})
	e.stack = []uint32{e.tree.place(place{addr: 2}), e.tree.place(place{addr: 3})}
	e.mark("why it ends")
	labels := []goroutine.Label{{Key: "tenant", Value: "blue"}}
	e.offCPU[2] = &offCPU{off: true, since: 10, stack: slices.Clone(e.stack), key: sampleKey{thread: e.listed(Thread{PID: 1, TID: 2, Name: "worker"}), tag: e.tree.tag(8, labels), state: stateWaiting}}
	e.offCPU[3] = &offCPU{}
	e.reset()
	e.allBack(30)
	names := symbol.New(symbol.Options{})
	defer names.Close()
	stacks := (&Profile{Frequency: 1, Threads: e.list, stacks: e.tree.now()}).Picture(names)
	if len(stacks.Samples) != 1 || len(e.list) != 1 || len(e.offCPU) != 1 || len(stacks.Places) != 3 {
		t.Fatalf("%+v\n%v", stacks, e.list)
	}
	s := &stacks.Samples[0]
	var frames []string
	for _, f := range s.Frames {
		frames = append(frames, stacks.Places[f].Name)
	}
	if !slices.Equal(frames, []string{"0x2", "0x3", "[why it ends]"}) || s.Values[1] != 20 {
		t.Errorf("%v: %v", frames, s.Values)
	}
	want := []picture.Text{{Key: "thread", Value: "worker"}, {Key: "state", Value: "waiting"}, {Key: "tenant", Value: "blue"}}
	if !slices.Equal(s.Texts, want) || !slices.Contains(s.Numbers, picture.Number{Key: "goroutine", Value: 8}) {
		t.Errorf("%v %v", s.Texts, s.Numbers)
	}
}
