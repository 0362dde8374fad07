package coreclr

import (
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
		})
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
