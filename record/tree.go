package record

import (
	"slices"

	"github.com/sfwalk/sfwalk/target"
)

// place is where a frame is.
type place struct {
	kind   placeKind
	module *target.Module // of placeUser; nil for code of no file
	addr   uint64         // of the call, or of the interrupted instruction; for a placeEnd, which one
	pid    int32          // of a placeUser that is in no module, or in a doubted one
	name   uint32         // the number of a sniffer's name; 0 for none
}

// inFile returns the file of a place, "" for none, and where in the module of the file it is.
func (p *place) inFile() (path string, at uint64) {
	if p.module == nil {
		return "", p.addr
	}
	return p.module.Path, p.addr - p.module.Lo()
}

type placeKind uint8

const (
	placeUser placeKind = iota
	placeKernel
	placeEnd      // no frame: why the stack is not whole
	placeLanguage // a frame of a language, which has a name alone
)

// node is a frame of those stacks that have the same frames further out. Node 0 is outside of all.
type node struct{ parent, place uint32 }

// sampleKey is what samples have in common that are counted as one. cut says that there are frames
// further in, for which the tree had no room.
type sampleKey struct {
	thread, node uint32
	tag          uint32
	state        state
	cut          bool
}

// count is how many samples there were, and how much of the event they stand for.
type count struct{ samples, value uint64 }

// stacks are the stacks of a tree, as they are at one moment.
type stacks struct {
	places    []place
	nodes     []node
	keys      []sampleKey
	counts    []count  // of the keys
	tags      []tag    // of the keys; that with number 0 is of samples without any
	reasons   []string // why stacks are not whole
	named     []Name   // what sniffers and languages have named; a place's name counts from 1
	manyNamed bool     // there were more
}

// tree has all stacks. Its memory is bounded: when it is full, stacks that are new are kept as far
// as they are like others, and marked.
type tree struct {
	stacks
	placeIDs   map[place]uint32
	nameIDs    map[Name]uint32
	nameBytes  int // of nameIDs
	children   map[node]uint32
	indices    map[sampleKey]uint32 // in keys
	tagIDs     map[tagKey]uint32
	labelIDs   map[string]uint32 // the numbers of sets of labels, from 1
	labelBytes int               // of labelIDs
	bounds     treeBounds
	frames     int // of the stacks of all keys

	// path is the way to the stack that was added last, from outside to inside. Most stacks begin
	// as the one before.
	path []step
}

// step is a node and how it was reached.
type step struct{ place, node uint32 }

// treeBounds are the most that a tree may have. With maxBounds, it and the pictures of it, as the
// formats have them, take less than 150 MiB.
type treeBounds struct {
	places, nodes int
	keys          int // different samples
	frames        int // of the stacks of all of them
}

var maxBounds = treeBounds{places: 1 << 16, nodes: 3 << 17, keys: 1 << 17, frames: 3 << 20}

func newTree() *tree {
	return &tree{stacks: stacks{nodes: make([]node, 1), tags: make([]tag, 1)}, tagIDs: map[tagKey]uint32{}, labelIDs: map[string]uint32{}, placeIDs: map[place]uint32{}, nameIDs: map[Name]uint32{}, children: map[node]uint32{}, indices: map[sampleKey]uint32{}, bounds: maxBounds}
}

// now returns the stacks so far, which the tree does not change any more: all but the counts only
// ever grows.
func (t *tree) now() stacks {
	s := t.stacks
	s.counts = slices.Clone(s.counts)
	return s
}

func (t *tree) place(p place) uint32 {
	id, ok := t.placeIDs[p]
	if !ok && len(t.places) >= t.bounds.places && p.kind != placeEnd {
		return t.place(place{kind: placeEnd, addr: uint64(t.reason("a frame at one more address: there are too many"))})
	}
	if !ok {
		id = uint32(len(t.places))
		t.places = append(t.places, p)
		t.placeIDs[p] = id
	}
	return id
}

// reason returns the number of a reason why stacks are not whole.
func (t *tree) reason(why string) int {
	i := slices.Index(t.reasons, why)
	if i < 0 {
		i = len(t.reasons)
		t.reasons = append(t.reasons, why)
	}
	return i
}

// add counts a stack, whose innermost frame comes first. key says what else the sample has. It
// returns the index of the whole key.
func (t *tree) add(key sampleKey, stack []uint32, value uint64) uint32 {
	at, cut := uint32(0), false
	i, same := len(stack)-1, 0
	for ; i >= 0 && same < len(t.path) && t.path[same].place == stack[i]; i-- {
		at = t.path[same].node
		same++
	}
	t.path = t.path[:same]
	for ; i >= 0; i-- {
		child := node{at, stack[i]}
		next, ok := t.children[child]
		if !ok {
			if cut = len(t.nodes) >= t.bounds.nodes; cut {
				break
			}
			next = uint32(len(t.nodes))
			t.nodes = append(t.nodes, child)
			t.children[child] = next
		}
		at = next
		t.path = append(t.path, step{stack[i], next})
	}
	key.node, key.cut = at, cut
	index, ok := t.indices[key]
	if !ok && (len(t.keys) >= t.bounds.keys || t.frames+len(t.path) > t.bounds.frames) {
		key = sampleKey{thread: key.thread, cut: true} // all frames are left out
		index, ok = t.indices[key]
	}
	if !ok {
		if key.node != 0 {
			t.frames += len(t.path)
		}
		index = uint32(len(t.keys))
		t.keys, t.counts = append(t.keys, key), append(t.counts, count{})
		t.indices[key] = index
	}
	t.counts[index].samples++
	t.counts[index].value += value
	return index
}

// again counts one more sample with the stack of an earlier one, whose key has an index.
func (t *tree) again(index uint32, now state, value uint64) {
	key := t.keys[index]
	if key.state == now {
		t.counts[index].samples++
		t.counts[index].value += value
		return
	}
	t.add(sampleKey{thread: key.thread, tag: key.tag, state: now}, t.stack(nil, index), value)
}

// stack appends the frames of a key to list, the innermost first.
func (t *tree) stack(list []uint32, index uint32) []uint32 {
	for at := t.keys[index].node; at != 0; at = t.nodes[at].parent {
		list = append(list, t.nodes[at].place)
	}
	return list
}

// move counts a sample of a key for another stack. It returns the index of the sample's new key.
func (t *tree) move(index uint32, stack []uint32, value uint64) uint32 {
	key := t.keys[index]
	if key.cut {
		return index // not all frames are there
	}
	t.counts[index].samples--
	t.counts[index].value -= value
	return t.add(key, stack, value)
}
