package frame_test

import (
	"math/bits"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// A slot with its row and key is one cache line of every supported processor (s390x's are
// longer). It is smaller if pointers are.
func TestRowSlotSize(t *testing.T) {
	if frame.RowSlotSize > 64 || frame.RowSlotSize != 64 && bits.UintSize == 64 {
		t.Errorf("a slot of the row cache has %d bytes", frame.RowSlotSize)
	}
}

func TestWalkerForgets(t *testing.T) {
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}}
	f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, stackBase+32, 0x1100, 0, 0)
	var regs arch.Registers
	f.Registers(&regs)
	w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s))
	walk := func(asked int, why string) {
		t.Helper()
		s.asked = 0
		if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 3 || stop != frame.NoSavedPC {
			t.Errorf("%s: %d frames, %v", why, n, stop)
		}
		if s.asked != asked {
			t.Errorf("%s: sniffers were asked %d times, want %d", why, s.asked, asked)
		}
	}
	walk(2, "first walk")
	walk(0, "second walk")
	w.Reset()
	walk(2, "after Reset")
	for range 3 {
		w.Reset()
	}
	walk(2, "after more of them")
	for range 2 { // the second time, the slots have rows of the first epoch
		frame.LastEpoch(w)
		w.Reset()
		walk(2, "in the first epoch")
		walk(0, "in the first epoch, again")
	}
	w.SetModules(f.mods)
	walk(0, "after SetModules of the same modules")
	f.mods = newFake(0, 0, 0).mods
	w.SetModules(f.mods)
	walk(2, "after SetModules")
	s.at[0x1010] = outermost(fp) // the code is another one
	walk(0, "rows that are kept")
	if n, _ := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s)).Walk(&regs, f, make([]uint64, 9)); n != 1 {
		t.Errorf("a walker of its own: %d frames", n)
	}
	s.at[0x1010] = fp
	w.SetModules(target.NewModules(nil, []target.Mapping{{Lo: codeLo, Hi: 0x1011, Exec: true}}))
	if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 2 || stop != frame.NotCode {
		t.Errorf("where 0x1100 is no code: %d frames, %v", n, stop)
	}
}

// Hits, misses and collisions are counted as their comments say.
func TestWalkerCacheStats(t *testing.T) {
	const sp = stackBase
	code := []target.Mapping{{Lo: 0x1000, Hi: 1 << 30, Exec: true}}
	a := uint64(0x2100)
	b := a + 1
	for frame.SlotOf(a) != frame.SlotOf(b) {
		b++
	}
	for _, tt := range []struct {
		name       string
		a, b       uint64 // return addresses, in turns
		cold, warm frame.CacheStats
	}{
		{"two PCs", 0x2100, 0x2200, frame.CacheStats{Hits: 2, Misses: 3}, frame.CacheStats{Hits: 5}},
		{"two PCs in one slot", a, b, frame.CacheStats{Misses: 5, Collisions: 3}, frame.CacheStats{Hits: 1, Misses: 4, Collisions: 4}},
	} {
		f := newFake(0x1010, sp, sp, sp+16, tt.a, sp+32, tt.b, sp+48, tt.a, sp+64, tt.b, 0, 0)
		f.mods = target.NewModules(nil, code)
		check(t, f, []frame.Sniffer{everywhere{fp}}, []uint64{0x1010, tt.a, tt.b, tt.a, tt.b}, frame.NoSavedPC)
		var regs arch.Registers
		f.Registers(&regs)
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, everywhere{fp}))
		before := frame.CacheStats{}
		for _, want := range []frame.CacheStats{tt.cold, tt.warm} {
			w.Walk(&regs, f, make([]uint64, 9))
			s := w.CacheStats()
			got := frame.CacheStats{Hits: s.Hits - before.Hits, Misses: s.Misses - before.Misses, Collisions: s.Collisions - before.Collisions}
			if before = s; got != want {
				t.Errorf("%s: %+v, want %+v", tt.name, got, want)
			}
		}
	}
}

// A table may have more sniffers than a slot can name.
func TestWalkerManySniffers(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0x1100, 0, 0)
	wrong := fixed{0x1010: outermost(fp), 0x10ff: outermost(fp)}
	for _, before := range []int{255, 256, 300} {
		sniffers := []frame.Sniffer{fixed{}, fixed{}}
		for len(sniffers) < before {
			sniffers = append(sniffers, fixed{})
		}
		sniffers = append(sniffers, &rows{name: "right", at: fixed{0x1010: fp, 0x10ff: fp}}, wrong)
		check(t, f, sniffers, []uint64{0x1010, 0x1100, 0x1100}, frame.NoSavedPC)
		if _, last, _ := unwind(t, f, sniffers...); last.Sniffer() != "right" {
			t.Errorf("%v is claimed by %q, number %d", last, last.Sniffer(), before)
		}
	}
}

// fixed is a sniffer of rows by address in block that many goroutines may ask.
type fixed map[uint64]trad.Row

func (fixed) Name() string { return "fixed" }
func (s fixed) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	row, ok := s[q.AddressInBlock]
	if !ok {
		return row, "no row for the address"
	}
	row.Lo, row.Len = q.AddressInBlock, 1
	return row, frame.Claimed
}
