package record

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sfwalk/sfwalk/symbol"
)

// An hour of samples 999 times a second stays within 200 MiB, however much the stacks differ: once
// the tree is full, it grows no more. These stacks fill it, and there are more of them. None is
// left out of the counts.
func TestHour(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tree := newTree()
	r := rand.New(rand.NewPCG(1, 2))
	places := make([]uint32, 20_000)
	for i := range places {
		places[i] = tree.place(place{addr: uint64(i + 1)})
	}
	samples := maxBounds.keys + 400_000
	stack := make([]uint32, 40)
	for i := range samples {
		for at := range stack { // the outer frames are of few kinds, the inner ones of many
			stack[len(stack)-1-at] = places[r.IntN(1+at*at*len(places)/(40*40))]
		}
		// Some differ in their outermost frames alone.
		tree.add(sampleKey{thread: uint32(i % 64)}, stack[len(stack)-1-i%2*39:], 1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > 200<<20 {
		t.Errorf("the stacks take %d MiB", took>>20)
	} else {
		t.Logf("%d nodes, %d different samples: %d MiB", len(tree.nodes), len(tree.keys), took>>20)
	}
	if len(tree.nodes) != maxBounds.nodes || len(tree.keys) > maxBounds.keys+64 {
		t.Errorf("%d nodes, %d different samples", len(tree.nodes), len(tree.keys))
	}
	var counted uint64
	for _, c := range tree.counts {
		counted += c.samples
	}
	if counted != uint64(samples) {
		t.Errorf("%d samples are counted, want %d", counted, samples)
	}
}

// Where there is no room for another kind of sample, its time is counted without its frames, and
// says so.
func TestFullKeys(t *testing.T) {
	tree := newTree()
	tree.bounds.keys = 1
	a, b := tree.place(place{addr: 1}), tree.place(place{addr: 2})
	tree.add(sampleKey{}, []uint32{a}, 10)
	tree.add(sampleKey{}, []uint32{b, a}, 10)
	tree.add(sampleKey{}, []uint32{b}, 10)
	names := symbol.New(symbol.Options{})
	defer names.Close()
	p := Profile{Frequency: 1, Threads: []Thread{{PID: 1, TID: 1}}, stacks: tree.stacks}
	stacks := p.Picture(names)
	if len(stacks.Samples) != 2 || stacks.Samples[1].Values[0] != 2 || len(stacks.Samples[1].Frames) != 1 ||
		stacks.Places[stacks.Samples[1].Frames[0]].Name != "[inner frames are left out: there are too many different stacks]" {
		t.Errorf("%+v of %+v", stacks.Samples, stacks.Places)
	}
}
