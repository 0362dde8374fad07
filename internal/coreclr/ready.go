package coreclr

import (
	"sort"
	"unicode/utf16"

	"github.com/sfwalk/sfwalk/target"
)

const (
	headerMagic  = 0x00525452 // "RTR"
	mostReady    = 1 << 24    // functions of an assembly: the run time's own has 48,000
	mostBefore   = 1 << 10    // handlers before a function that belong to the same method
	mostBuckets  = 1 << 24
	bucketSlots  = 4
	bucketSize   = 16 * bucketSlots
	hasCollision = 1 << 63
)

// ready is what an assembly brings along as compiled code.
type ready struct {
	header    uint64
	functions uint64
	count     uint32
	methods   uint64 // the map from where bodies begin to methods
}

// ready returns what a module has as compiled code; nil if that cannot be read.
func (r *Runtime) ready(m target.Memory, module uint64) *ready {
	l := &r.Layout.ready
	info := word(m, module+r.toReady)
	if composite := word(m, info+l.composite); composite != 0 {
		info = composite
	}
	x := &ready{header: word(m, info+l.header)}
	x.functions, x.methods = word(m, info+l.functions), word(m, info+l.methods)
	var ok bool
	x.count, ok = half(m, info+l.count)
	if magic, _ := half(m, x.header); magic != headerMagic || !ok || x.count > mostReady || x.functions == 0 {
		return nil
	}
	return x
}

// at returns a function of the code.
func (x *ready) at(m target.Memory, i int) (b [functionSize]byte, ok bool) {
	ok = read(m, x.functions+functionSize*uint64(i), b[:])
	return b, ok
}

// brought returns code that an assembly has brought along.
func (r *Runtime) brought(m target.Memory, s *section, pc uint64) (c Code, err error) {
	x := r.ready(m, s.module)
	if x == nil || pc-s.begin > mostHeap {
		return c, ErrUnread
	}
	rva, failed := uint32(pc-s.begin), false
	i := sort.Search(int(x.count), func(i int) bool {
		b, ok := x.at(m, i)
		failed = failed || !ok
		return order.Uint32(b[:]) > rva
	}) - 1
	if failed {
		return c, ErrUnread
	}
	if i < 0 {
		return c, ErrNoCode
	}
	b, _ := x.at(m, i)
	c = Code{Base: s.begin, Function: function(b[:]), Brought: true, header: x.header}
	c.Start = c.Base + uint64(c.Function.Begin)
	if !c.Function.Contains(rva) {
		return c, ErrStub // helpers lie behind the methods
	}
	// The run time knows methods by where their bodies begin. Handlers come behind these.
	for back := 0; back < mostBefore && back <= i; back++ {
		b, ok := x.at(m, i-back)
		if !ok {
			break
		}
		start := c.Base + uint64(function(b[:]).Begin)
		if method := lookUp(m, x.methods, start); method != 0 {
			c.Start, c.Method, c.index = start, method, uint32(i-back)
			break
		}
	}
	return c, nil
}

// lookUp returns what a map (HashMap) has for a key; 0 if it has nothing. Where a bucket is full,
// the key is some steps further on.
func lookUp(m target.Memory, buckets, key uint64) uint64 {
	n := word(m, buckets) // where the first bucket's first key would be
	if n < 2 || n > mostBuckets {
		return 0
	}
	const mostTries = 64
	seed := uint32(key >> 2)
	step := 1 + (uint32(key>>5)+1)%uint32(n-1)
	for range mostTries {
		var b [bucketSize]byte
		if !read(m, buckets+bucketSize*(1+uint64(seed)%n), b[:]) {
			return 0
		}
		for i := range bucketSlots {
			if order.Uint64(b[8*i:]) == key {
				return order.Uint64(b[8*bucketSlots+8*i:]) &^ hasCollision << 1
			}
		}
		if order.Uint64(b[8*bucketSlots:])&hasCollision == 0 {
			return 0
		}
		seed += step
	}
	return 0
}

// layoutMapped is a flag of an image's layout: its sections are where they belong in memory.
const layoutMapped = 1

// Assembly is where an assembly's file is in memory.
type Assembly struct {
	Base   uint64
	Size   uint32
	Mapped bool // each section is at its RVA; else the file is as it is on disk
	Path   string
}

// Image returns where the assembly of a module is in memory. Its Base is 0 if it is nowhere, as one
// that was made at run time, or as one that a core file lacks.
func (r *Runtime) Image(m target.Memory, module uint64) (a Assembly) {
	image := word(m, word(m, module+r.assembly)+r.image)
	layout := word(m, image+r.layout)
	base := word(m, layout+8)
	var magic [2]byte
	if read(m, base, magic[:]) && string(magic[:]) == "MZ" {
		a.Base = base
	}
	a.Size, _ = half(m, layout+16)
	flags, _ := half(m, layout+20)
	a.Mapped = flags&layoutMapped != 0
	a.Path = wideText(m, word(m, image+imagePath))
	return a
}

// imagePath is where a PEImage has the path of its file.
const imagePath = 16

const mostPath = 4 << 10 // bytes

// wideText reads a text of UTF-16 that ends with a zero; "" if it does not end.
func wideText(m target.Memory, at uint64) string {
	var text []uint16
	var p [128]byte
	for at != 0 && 2*len(text) < mostPath {
		n, _ := m.ReadMemory(at+2*uint64(len(text)), p[:])
		for i := 0; i+1 < n; i += 2 {
			c := order.Uint16(p[i:])
			if c == 0 {
				return string(utf16.Decode(text))
			}
			text = append(text, c)
		}
		if n < len(p) {
			break
		}
	}
	return ""
}
