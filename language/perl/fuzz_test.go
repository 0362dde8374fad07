package perl

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const base = 0x10000

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// small returns memory with a sub that an eval has called. The list of contexts leads to the
// list at the address outer. A state leads to them.
func small(l *layout, outer uint64) ([]byte, state) {
	const info, contexts, cv, body, gv, gvBody, hek, cop, stash, stashBody = base + 0x100, base + 0x200, base + 0x400, base + 0x440, base + 0x500,
		base + 0x540, base + 0x5c0, base + 0x600, base + 0x680, base + 0x6c0
	b := make([]byte, 0x900)
	word := func(at, v uint64) { binary.LittleEndian.PutUint64(b[at-base:], v) }
	half := func(at, v uint64) { binary.LittleEndian.PutUint32(b[at-base:], uint32(v)) }
	half(info+l.SIIndex, 1)
	half(info+l.SIMax, 9)
	if l.SISub != absent {
		half(info+l.SISub, 1)
	}
	word(info+l.SIContexts, contexts)
	word(info+l.SIPrev, outer)
	for i, kind := range []uint64{l.TypeEval | l.TryBlock, l.TypeSub} {
		at := contexts + uint64(i)*l.Context
		b[at-base+l.ContextType] = byte(kind)
		word(at+l.ContextCop, cop)
		word(at+l.ContextRetOp, cop)
	}
	word(contexts+l.Context+l.ContextCV, cv)
	word(cv+l.SVAny, body)
	word(body+l.CVName, gv)
	word(gv+l.SVAny, gvBody)
	word(gvBody+l.GVName, hek)
	word(gvBody+l.GVStash, stash)
	half(stash+l.SVFlags, l.SVTypeHV|l.HVHasAux)
	word(stash+l.SVAny, stashBody)
	aux := stashBody + l.HVAux
	if l.HVAux == absent {
		aux = base + 0x800
		word(stash+l.SVU, aux-8)
	}
	word(aux+l.AuxName, hek)
	half(hek+l.HEKLength, 3)
	copy(b[hek-base+l.HEKKey:], "abc")
	half(cop+l.CopLine, 7)
	return b, state{op: cop, cop: cop, info: info}
}

func read(minor int, threads bool, b []byte, st state) ([]segment, error) {
	l, err := layoutOf(minor, threads)
	if err != nil {
		return nil, err
	}
	r := &runtime{arch: amd64.Arch, layout: l}
	m := reader{structs.New(amd64.Arch, memtest.Flat{Lo: base, Data: b}, &spare), l}
	defer m.Free()
	return r.contexts(m, st)
}

// TestSmall has the contexts of each release read, and a list of them that goes round.
func TestSmall(t *testing.T) {
	for minor := oldest; minor <= 42; minor += 2 {
		l, err := layoutOf(minor, true)
		if err != nil {
			t.Fatal(err)
		}
		b, st := small(l, 0)
		list, err := read(minor, true, b, st)
		if err != nil || len(list) != 1 || len(list[0].frames) != 3 {
			t.Fatalf("5.%d: %+v, %v", minor, list, err)
		}
		for i, want := range []string{"abc::abc", "eval {...}", "(main)"} {
			if f := list[0].frames[i]; f.Function != want || f.Line != 7 {
				t.Errorf("5.%d: %+v, want %s", minor, f, want)
			}
		}
		b, st = small(l, st.info)
		if list, err := read(minor, true, b, st); err == nil {
			t.Errorf("5.%d: a list that goes round has %d segments", minor, len(list))
		}
	}
}

// FuzzContexts reads contexts and all that they lead to.
func FuzzContexts(f *testing.F) {
	for _, minor := range []int{oldest, 42} {
		l, err := layoutOf(minor, true)
		if err != nil {
			f.Fatal(err)
		}
		for _, outer := range []uint64{0, base + 0x100} {
			b, st := small(l, outer)
			f.Add(uint8(minor-oldest), b, uint16(st.op-base), uint16(st.cop-base), uint16(st.info-base))
		}
	}
	f.Fuzz(func(t *testing.T, minor uint8, b []byte, op, cop, info uint16) {
		bounds.Hold(t, 8*mostBytes, func() {
			read(oldest+int(minor)%16, true, b, state{op: base + uint64(op), cop: base + uint64(cop), info: base + uint64(info)})
		})
	})
}
