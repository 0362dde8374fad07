package coreclr

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/format/pdata"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/target"
)

const imageAt = 0x10000

// memory is memory from imageAt on.
type memory []byte

func (m memory) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < imageAt || addr-imageAt >= uint64(len(m)) {
		return 0, target.ErrUnmapped
	}
	if n := copy(p, m[addr-imageAt:]); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

// Where the structures of the seed are.
const (
	tablesAt   = 0 // five of 2 KiB
	fragmentAt = 0x2800
	sectionAt  = 0x2840
	heapAt     = 0x2880
	nibblesAt  = 0x28c0
	headerAt   = 0x2900
	chunkAt    = 0x2980
	descAt     = chunkAt + 24
	typeAt     = 0x29c0
	placesAt   = 0x2a20
	recordAt   = 0x2a80 // what an assembly brings along
	readyAt    = 0x2b00
	codeAt     = 0x3000
	size       = 0x3100
)

// seed has a method that was compiled: its code begins 0x28 behind codeAt, and has 0x40 bytes.
func seed() memory {
	m := make(memory, size)
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	half := func(at int, v uint32) { order.PutUint32(m[at:], v) }
	pc := uint64(imageAt + codeAt)
	for i := range levels {
		next := uint64(imageAt + tablesAt + 0x800*(i+1))
		if i == levels-1 {
			next = imageAt + fragmentAt
		}
		shift := addressBits - levelBits*(i+1)
		put(tablesAt+0x800*i+8*int(pc>>shift&0xff), next|collectible)
	}
	put(fragmentAt+8, pc)
	put(fragmentAt+16, pc+0x100)
	put(fragmentAt+24, imageAt+sectionAt)
	half(sectionAt+16, flagHeap)
	put(sectionAt+40, imageAt+heapAt)
	put(heapAt+16, pc)
	put(heapAt+24, pc+0x100)
	put(heapAt+32, pc)
	put(heapAt+40, imageAt+nibblesAt)
	half(nibblesAt, 0x03000000) // the second bucket, 8 bytes behind its beginning
	put(codeAt+0x20, imageAt+headerAt)
	put(headerAt, imageAt+placesAt)
	put(headerAt+24, imageAt+descAt)
	half(headerAt+32, 1)
	half(headerAt+36, 0x28)
	half(headerAt+40, 0x68)
	half(headerAt+44, 0x68)
	put(chunkAt, imageAt+typeAt)
	half(descAt, 0x3007)
	put(typeAt+24, 0x1234560)
	copy(m[placesAt:], "\x00\x08\x00\x02\x10\x23\x00\x44\x55\x00") // two places
	copy(m[codeAt+0x68:], "\x01\x04\x01\x00\x04\x50")              // push rbp
	return m
}

func reading() *Runtime {
	r := &Runtime{Layout: *eight(), top: imageAt + tablesAt, store: imageAt}
	return r
}

// TestSeed holds that all of the seed is found, so that FuzzCode begins at what is right.
func TestSeed(t *testing.T) {
	r, m := reading(), seed()
	c, err := r.Find(m, imageAt+codeAt+0x30)
	if want := (pdata.Function{Begin: 0x28, End: 0x68, Unwind: 0x68}); err != nil || c.Start != imageAt+codeAt+0x28 || c.Base != imageAt+codeAt || c.Function != want || c.Method != imageAt+descAt {
		t.Errorf("%+v, %v", c, err)
	}
	if x := r.Method(m, c.Method); x.Row != 7 || x.Module != 0x1234560 {
		t.Errorf("%+v", x)
	}
	if row, err := pdata.OfUnix(Image{m, c.Base}).Row(c.Function, 0x30, false); err != nil || row.CFA.Off != 16 {
		t.Errorf("%+v, %v", row, err)
	}
	for _, pc := range []uint64{imageAt + codeAt + 0x27, imageAt + codeAt + 0x68, imageAt + codeAt + 0x100, imageAt} {
		if c, err := r.Find(m, pc); err == nil {
			t.Errorf("%#x: %+v", pc, c)
		}
	}
}

// FuzzCode has memory of any content: nothing panics, no loop has no end, and little memory is
// taken.
func FuzzCode(f *testing.F) {
	f.Add([]byte(seed()), uint64(imageAt+codeAt+0x30), false)
	brought := seed()
	order.PutUint64(brought[sectionAt+32:], imageAt+recordAt)
	f.Add([]byte(brought), uint64(imageAt+codeAt+0x30), true)
	f.Fuzz(func(t *testing.T, b []byte, pc uint64, packs bool) {
		bounds.Hold(t, 4<<20, func() {
			r, m := reading(), memory(b)
			if packs {
				r.places, r.replacedSize, r.toReady = packed, 40, 8
			}
			c, err := r.Find(m, pc)
			if err == nil {
				c.Places(r, m, pc)
			}
			r.check(m)
			r.Image(m, imageAt+recordAt)
			r.Hijacked(m, pc)
			r.ready(m, imageAt+recordAt)
			other := Code{Start: imageAt + codeAt, Base: imageAt, Brought: true, header: imageAt + readyAt, index: uint32(pc), Function: pdata.Function{Begin: 1}, clauses: imageAt + placesAt, places: imageAt + placesAt}
			other.Places(r, m, pc)
			lookUp(m, imageAt+readyAt, pc)
			if d, err := readDescriptor(m, imageAt); err == nil {
				_, _ = described(d)
				d.variable(m, "ThreadStore")
			}
			_, _ = ReadTrip(b, pc)
			r.locks, r.domain = imageAt+heapAt, imageAt+heapAt+8
			for _, t := range r.Threads(m) {
				t.State |= ThreadWaits
				r.Wait(m, &t)
			}
			if x, ok := r.Type(m, pc); ok {
				r.Fields(m, &x)
			}
			r.Arguments(m, pc)
		})
	})
}

// heap is a heap: a list of variables, one of which leads to what the collector tells, and that
// leads to a segment with objects of one type, and free memory between them.
func heap() memory {
	const (
		variable, told, generations, fields, list, objects, typ, class, free = 0x10, 0x40, 0x200, 0x400, 0x420, 0x800, 0x600, 0x680, 0x700
		size                                                                 = 0x1000
	)
	m := make(memory, size)
	put := func(at int, v uint64) { order.PutUint64(m[at:], v) }
	put(0, imageAt+variable)
	put(variable, imageAt+told)
	m[told] = leastVersion
	put(told+8*generationSize, 0x40)
	put(told+8*generationCount, 5)
	for i, at := range map[int]int{generationTable: generations, maxGeneration: 0x180, generationFields: fields, currentSegment: 0x190, currentEnd: 0x198, invalidCount: 0x1a0} {
		put(told+8*i, uint64(imageAt+at))
	}
	put(0x180, 2)
	order.PutUint32(m[fields+4*ofFirstSegment:], 0x10)
	put(generations+0x10, imageAt+list)
	put(0x190, imageAt+list)
	put(0x198, imageAt+objects+0x90)
	put(list+8*segmentBegin, imageAt+objects)
	put(list+8*segmentEnd, imageAt+objects+0x20)
	put(typ, 32<<32)
	put(typ+24, imageAt) // the module
	put(typ+40, imageAt+class)
	put(class+16, imageAt+typ)
	put(free, leastSize<<32|hasComponents|1)
	put(objects, imageAt+typ)
	put(objects+0x20, imageAt+free)
	put(objects+0x28, 0x18)
	put(objects+0x50, imageAt+typ)
	put(objects+0x70, imageAt+typ)
	return m
}

func objects(m memory) (list []uint64, err error) {
	r := Fake(imageAt, imageAt+8)
	spans, err := r.Spans(m)
	if err != nil {
		return nil, err
	}
	return list, r.Objects(m, spans, func(table uint64) bool { return true }, func(at, table uint64) { list = append(list, at) })
}

// TestHeap holds that all objects of the seed are found, so that FuzzHeap begins at what is right.
func TestHeap(t *testing.T) {
	got, err := objects(heap())
	if want := []uint64{imageAt + 0x800, imageAt + 0x850, imageAt + 0x870}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%#x, %v; want %#x", got, err, want)
	}
}

// FuzzHeap has a heap of any content.
func FuzzHeap(f *testing.F) {
	f.Add([]byte(heap()))
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 8<<20+100*len(b), func() { _, _ = objects(b) })
	})
}

// Places asks all that is known of a place.
func (c *Code) Places(r *Runtime, m memory, pc uint64) {
	r.Method(m, c.Method)
	r.IsFilter(m, c)
	r.Place(m, c, pc)
	c.Brought = !c.Brought
	r.IsFilter(m, c)
	r.Place(m, c, pc)
	_, _ = pdata.OfUnix(Image{m, c.Base}).Row(c.Function, uint32(pc-c.Base), true)
}
