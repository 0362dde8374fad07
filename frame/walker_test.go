package frame_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// A slot, the row's key with it, is one cache line of every processor that is served
// (s390x's are longer). Where pointers are shorter it is smaller.
func TestRowSlotSize(t *testing.T) {
	if frame.RowSlotSize > 64 || frame.RowSlotSize != 64 && bits.UintSize == 64 {
		t.Errorf("a slot of the row cache has %d bytes", frame.RowSlotSize)
	}
}

// spRow is the row of a function without frame pointer whose frame has size bytes
// with the return address.
func spRow(size int32) trad.Row {
	return trad.Row{
		CFA: trad.Rule{Kind: trad.InReg, Reg: amd64.RSP, Off: size},
		RA:  trad.Rule{Kind: trad.Saved, Off: -8},
		FP:  trad.Rule{Kind: trad.Same},
	}
}

// signalRow is the row of a signal trampoline: the interrupted PC, SP and FP are the
// words at SP.
var signalRow = trad.Row{
	Flags: trad.Signal,
	CFA:   trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 8},
	RA:    trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP},
	FP:    trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 16},
	More:  &trad.Rest{Regs: []trad.RegRule{{Reg: amd64.RSP, Rule: trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 8}}}},
}

// outermost makes a row the outermost frame's.
func outermost(row trad.Row) trad.Row {
	row.Flags |= trad.Outermost
	return row
}

// lent is a fake whose memory lends its words.
type lent struct{ *fake }

func (l lent) Memory() target.Memory { return lentMemory{l.fake, l.bytes()} }

func (f *fake) bytes() (p []byte) {
	for _, w := range f.words {
		p = binary.LittleEndian.AppendUint64(p, w)
	}
	return p
}

type lentMemory struct {
	*fake
	data []byte
}

func (m lentMemory) Window(addr uint64) (uint64, []byte) {
	if addr-stackBase < uint64(len(m.data)) {
		return stackBase, m.data
	}
	return 0, nil
}

// check walks a stack both ways and by hand: it must have these PCs and end so.
func check(t *testing.T, f target.Target, sniffers []frame.Sniffer, want []uint64, stop frame.StopReason) {
	t.Helper()
	threads, err := f.Threads()
	if err != nil {
		t.Fatal(err)
	}
	table := frame.NewTable(f.Arch(), sniffers...)
	if err := walktest.New(f.Modules(), table).Check(f, threads[0]); err != nil {
		t.Error(err)
	}
	var regs arch.Registers
	if err := threads[0].Registers(&regs); err != nil {
		t.Fatal(err)
	}
	pcs := make([]uint64, len(want)+1)
	n, got := frame.NewWalker(f.Modules(), table).Walk(&regs, f.Memory(), pcs)
	if !slices.Equal(pcs[:n], want) || got != stop {
		t.Errorf("PCs %#x stopped by %q, want %#x by %q", pcs[:n], got, want, stop)
	}
}

// A stack of a function without frame pointer, a signal handler, what it interrupted,
// and functions with frame pointers.
func signalStack() (*fake, []frame.Sniffer, []uint64) {
	const sp = stackBase
	f := newFake(0x1010, sp, 0x77,
		0, 0x1100, // 0x1010: a frame of 16 bytes
		0x1200, sp+40, sp+56, // 0x1100: PC, SP, FP that the signal found
		0, 0x1300, // 0x1200
		sp+72, 0x1400, // 0x1300: frame record
		sp+88, 0x1400, 0, 0)
	s := &rows{name: "rows", at: map[uint64]trad.Row{
		0x1010: spRow(16), 0x10ff: signalRow, 0x1200: spRow(16), 0x12ff: fp, 0x13ff: fp,
	}}
	return f, []frame.Sniffer{s}, []uint64{0x1010, 0x1100, 0x1200, 0x1300, 0x1400, 0x1400}
}

func TestWalkerSignal(t *testing.T) {
	f, sniffers, want := signalStack()
	check(t, f, sniffers, want, frame.NoSavedPC)
	check(t, lent{f}, sniffers, want, frame.NoSavedPC)
}

// Once its rows are known, a walk allocates nothing.
func TestWalkerAllocates(t *testing.T) {
	chain := newFake(0x1010, stackBase, stackBase)
	for i := range uint64(700) { // more than a page
		chain.words = append(chain.words, stackBase+16*(i+1), 0x1100+i%64)
	}
	chain.words = append(chain.words, 0, 0)
	signal, signalSniffers, _ := signalStack()
	once := fp
	once.Flags = trad.Once
	for _, tt := range []struct {
		name     string
		target   target.Target
		sniffers []frame.Sniffer
	}{
		{"plain memory", chain, []frame.Sniffer{everywhere{fp}}},
		{"lent memory", lent{chain}, []frame.Sniffer{everywhere{fp}}},
		{"rows that are not kept", chain, []frame.Sniffer{everywhere{once}}},
		{"a signal frame", signal, signalSniffers},
		{"a signal frame, lent memory", lent{signal}, signalSniffers},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var regs arch.Registers
			threads, _ := tt.target.Threads()
			threads[0].Registers(&regs)
			w := frame.NewWalker(tt.target.Modules(), frame.NewTable(amd64.Arch, tt.sniffers...))
			mem := tt.target.Memory()
			pcs, cfas := make([]uint64, 1000), make([]uint64, 1000)
			depth, end := w.Walk(&regs, mem, pcs)
			if depth < 6 || end != frame.NoSavedPC && end != frame.Outermost {
				t.Fatalf("%d frames, %v", depth, end)
			}
			for name, walk := range map[string]func() (int, frame.StopReason){
				"Walk":    func() (int, frame.StopReason) { return w.Walk(&regs, mem, pcs) },
				"WalkCFA": func() (int, frame.StopReason) { return w.WalkCFA(&regs, mem, pcs, cfas) },
				"Step": func() (n int, stop frame.StopReason) {
					c := frame.NewContext(amd64.Arch, &regs)
					for n = 1; stop == frame.NoReason; n++ {
						stop = w.Step(&c, mem)
					}
					return n - 1, stop
				},
			} {
				if n, stop := walk(); n != depth || stop != end {
					t.Fatalf("%s: %d frames of %d, %v", name, n, depth, stop)
				}
				if got := testing.AllocsPerRun(20, func() { walk() }); got != 0 {
					t.Errorf("%s allocates %v times", name, got)
				}
			}
		})
	}
}

// rbxStack is one whose frames 3 and 4 have their CFA in rbx, which frame 1 has saved.
func rbxStack() (*fake, []frame.Sniffer, []uint64) { return rbxStackAt(200) }

// rbxStackAt is rbxStack with the frames 3 and 4 that far out.
func rbxStackAt(far uint64) (*fake, []frame.Sniffer, []uint64) {
	saves := spRow(24)
	saves.More = &trad.Rest{Unlisted: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -24}}}}
	leaves := spRow(8)
	leaves.More = &trad.Rest{Unlisted: trad.Same}
	uses := spRow(16)
	uses.CFA.Reg = amd64.RBX
	uses.More = leaves.More
	const sp = stackBase
	further := uses
	further.CFA.Off = 40
	f := newFake(0x1010, sp, 0x77,
		0x1100,               // frame 0, which changes rbx
		sp+far, 0x55, 0x1200, // frame 1
		0x1300, // frame 2
	)
	f.words = append(f.words, make([]uint64, 80)...)
	f.words[(far+8)/8] = 0x1400  // frame 3
	f.words[(far+32)/8] = 0x1500 // frame 4
	return f, []frame.Sniffer{&rows{name: "rows", at: map[uint64]trad.Row{
		0x1010: leaves, 0x10ff: saves, 0x11ff: leaves, 0x12ff: uses, 0x13ff: further, 0x14ff: leaves,
	}}}, []uint64{0x1010, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500}
}

// A frame that needs a register that the walker does not carry along is unwound all
// the same, and those further out too.
func TestWalkerNeedsRegister(t *testing.T) {
	f, sniffers, want := rbxStack()
	check(t, f, sniffers, want, frame.NoSavedPC)
	check(t, lent{f}, sniffers, want, frame.NoSavedPC)

	// In frame 0 all registers are at hand.
	f = newFake(0x1010, stackBase, 0, 0, 0, 0x1100, 0)
	f.regs[amd64.RBX] = stackBase + 8
	row := spRow(16)
	row.CFA.Reg = amd64.RBX
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: map[uint64]trad.Row{0x1010: row, 0x10ff: outermost(spRow(8))}}},
		[]uint64{0x1010, 0x1100}, frame.Outermost)

	// The caller's PC itself may be in a register.
	f, sniffers, want = rbxStack()
	last := sniffers[0].(*rows)
	inRBX := spRow(160)
	inRBX.RA = trad.Rule{Kind: trad.InReg, Reg: amd64.RBX, Off: int32(0x1600 - stackBase - 200)}
	last.at[0x12ff] = inRBX
	last.at[0x15ff] = outermost(spRow(8))
	check(t, f, sniffers, append(want[:4:4], 0x1600), frame.Outermost)

	// And where nobody knows the register, the stack ends there.
	unknown := spRow(16)
	unknown.CFA.Reg = amd64.R13
	last.at[0x12ff] = unknown
	check(t, f, sniffers, want[:4], frame.Unavailable)
}

// A frame whose row is in CFA and RA as fast as others, but whose FP is found otherwise.
func TestWalkerFP(t *testing.T) {
	const sp = stackBase
	lost := spRow(16)
	lost.FP = trad.Rule{Kind: trad.Undefined}
	moved := spRow(16)
	moved.FP = trad.Rule{Kind: trad.Value, Off: 16}
	unreadable := spRow(16)
	unreadable.FP = trad.Rule{Kind: trad.Saved, Off: 1 << 20}
	f := newFake(0x1010, sp, sp, 0, 0x1100, 0, 0x1200, sp+48, 0x1300, 0, 0x1400)
	for _, tt := range []struct {
		first, second trad.Row
		want          []uint64
		stop          frame.StopReason
	}{
		{spRow(16), moved, []uint64{0x1010, 0x1100, 0x1200, 0x1400}, frame.Unavailable},
		{spRow(16), lost, []uint64{0x1010, 0x1100, 0x1200}, frame.Unavailable},
		{unreadable, spRow(16), []uint64{0x1010, 0x1100, 0x1200}, frame.Unavailable},
		{moved, spRow(16), []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.NoSavedPC},
	} {
		s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: tt.first, 0x10ff: tt.second, 0x11ff: fp, 0x12ff: spRow(8)}}
		check(t, f, []frame.Sniffer{s}, tt.want, tt.stop)
	}
}

// A frame pointer that is not known is not taken for 0.
func TestWalkerUnknownFP(t *testing.T) {
	f := newFake(0x1010, stackBase, 0, 0, 0x1100, 0, 0x1100)
	delete(f.regs, amd64.RBP)
	far := fp
	far.CFA.Off = stackBase + 16
	at := map[uint64]trad.Row{0x1010: far, 0x10ff: far}
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010}, frame.Unavailable)
	at[0x1010] = spRow(16)
	check(t, f, []frame.Sniffer{&rows{name: "rows", at: at}}, []uint64{0x1010, 0x1100}, frame.Unavailable)
}

// somewhere is a sniffer that a row is too small for, at one PC.
type somewhere struct {
	whole
	block uint64
}

func (s somewhere) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Block != s.block {
		return trad.Row{}, "elsewhere"
	}
	return s.whole.Sniff(q)
}

func (somewhere) ThisID(this *frame.Frame) (frame.ID, error) {
	cfa, _ := this.CFA()
	return frame.ID{Stack: cfa, Special: 7, Has: frame.HasStack | frame.HasSpecial}, nil
}

func (somewhere) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	if this.Next().Level != this.Level-1 {
		return frame.Value{} // not in its place on the stack
	}
	v := this.Register(r) // needs all registers of THIS
	switch r {
	case amd64.RIP:
		v = this.Register(amd64.RBX)
	case amd64.RSP:
		v.Bits += 16
	case amd64.RBP:
		v = frame.Value{Bits: v.Bits + 16, Lval: frame.Computed}
	case amd64.R12:
		v.Bits++
	}
	return v
}

func TestWalkerUnwinder(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+48, 0x1400, sp+64, 0x1300, 0, 0, 0, 0)
	f.regs[amd64.RBX] = 0x1200
	same := fp
	same.More = &trad.Rest{Unlisted: trad.Same}
	sniffers := []frame.Sniffer{
		somewhere{whole{everywhere{spRow(16)}}, 0x10ff},
		&rows{name: "rows", at: map[uint64]trad.Row{0x1010: same, 0x11ff: same, 0x12ff: same}},
	}
	check(t, f, sniffers, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.NoSavedPC)
	check(t, lent{f}, sniffers, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.NoSavedPC)
	pcs, _, _ := unwind(t, newFake(0x1010, stackBase, 0, 0), whole{everywhere{spRow(8)}})
	if len(pcs) != 3 {
		t.Errorf("PCs %#x", pcs)
	}
}

// byRegisters is somewhere, by all registers at once, without a look at other frames.
type byRegisters struct{ somewhere }

func (byRegisters) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	var all arch.Registers
	if this.Registers(&all); r == amd64.RIP {
		r = amd64.RBX
	}
	v, ok := all.Get(r)
	if !ok {
		return frame.Value{}
	}
	return frame.Value{Bits: v, Lval: frame.Computed}
}

// A row that leads to no code gives way to a later sniffer that needs all of the stack
// to see that it does.
func TestWalkerLooksBack(t *testing.T) {
	const sp = stackBase
	leaves := spRow(16)
	leaves.More = &trad.Rest{Unlisted: trad.Same}
	at := fixed{0x1010: leaves, 0x10ff: leaves, 0x11ff: outermost(fp)}
	for _, later := range []frame.Sniffer{
		somewhere{whole{everywhere{spRow(16)}}, 0x10ff},
		byRegisters{somewhere{whole{everywhere{spRow(16)}}, 0x10ff}},
	} {
		f := newFake(0x1010, sp, sp+64, 0, 0x1100, 0, 0x99999999, 0, 0)
		f.regs[amd64.RBX] = 0x1200
		check(t, f, []frame.Sniffer{at, later}, []uint64{0x1010, 0x1100, 0x1200}, frame.Outermost)
	}
}

// needy is a sniffer that cannot do without THIS, or whose rows are true once.
type needy struct {
	row          trad.Row
	alone, asked int
}

func (*needy) Name() string { return "needy" }
func (s *needy) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.This == nil {
		s.alone++
		if s.row.Flags&trad.Once == 0 {
			return trad.Row{}, frame.NeedsFrame
		}
	} else {
		s.asked++
		if pc := q.This.Register(amd64.RIP); pc.Bits != q.PC || !pc.Known() {
			return trad.Row{}, "the frame has another PC"
		}
	}
	row := s.row
	row.Lo, row.Len = q.Block, 1
	return row, frame.Claimed
}

// An answer that needs the frame is kept like any other; one that holds once is asked for
// each time.
func TestWalkerNeedsFrame(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300, 0, 0)
	var regs arch.Registers
	f.Registers(&regs)
	once := fp
	once.Flags = trad.Once
	for _, tt := range []struct {
		row   trad.Row
		end   frame.StopReason
		asked int // in two walks
	}{{fp, frame.NoSavedPC, 4}, {once, frame.Outermost, 8}} {
		s := &needy{row: tt.row}
		check(t, f, []frame.Sniffer{s}, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, tt.end)
		s.alone, s.asked = 0, 0
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s))
		for range 2 {
			if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 4 || stop != tt.end {
				t.Errorf("%d frames, %v", n, stop)
			}
		}
		if s.alone == 0 || s.asked != tt.asked {
			t.Errorf("row %v: asked %d times with a frame, %d without; want %d with", tt.row.Flags, s.asked, s.alone, tt.asked)
		}
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

// reader is a sniffer that reads memory, and does not know what to make of it.
type reader struct{}

func (reader) Name() string { return "reader" }
func (reader) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	return trad.Row{}, frame.Answer(fmt.Sprintf("%d bytes can be read", len(q.Read(stackBase, 8))))
}

// A context outlives a change of modules.
func TestStepOverSetModules(t *testing.T) {
	f, sniffers, want := rbxStack()
	sniffers = append([]frame.Sniffer{reader{}}, sniffers...)
	var regs arch.Registers
	f.Registers(&regs)
	for at := range want {
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, sniffers...))
		c := frame.NewContext(amd64.Arch, &regs)
		for i, pc := range want {
			if i == at {
				w.SetModules(newFake(0, 0, 0).mods)
			}
			if c.PC != pc {
				t.Errorf("frame %d has PC %#x, want %#x", i, c.PC, pc)
			}
			w.Step(&c, f)
		}
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

func TestWalkerBuffers(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300)
	table := frame.NewTable(amd64.Arch, &rows{name: "rows", at: map[uint64]trad.Row{0x1010: fp, 0x10ff: fp, 0x11ff: fp, 0x12ff: outermost(spRow(8))}})
	var regs arch.Registers
	f.Registers(&regs)
	w := frame.NewWalker(f.mods, table)
	for range 2 { // empty cache, filled cache
		for _, tt := range []struct {
			room int
			want string
			stop frame.StopReason
		}{
			{0, "[]", frame.Limit},
			{1, "[0x1010]", frame.Limit},
			{3, "[0x1010 0x1100 0x1200]", frame.Limit},
			{4, "[0x1010 0x1100 0x1200 0x1300]", frame.Outermost},
			{5, "[0x1010 0x1100 0x1200 0x1300]", frame.Outermost},
		} {
			pcs := []uint64{1, 2, 3, 4, 5, 6}
			n, stop := w.Walk(&regs, f, pcs[:tt.room:6])
			if got := fmt.Sprintf("%#x", pcs[:n]); got != tt.want || stop != tt.stop {
				t.Errorf("%d frames asked for: %s by %q, want %s by %q", tt.room, got, stop, tt.want, tt.stop)
			}
			if pcs[n] != uint64(n+1) {
				t.Errorf("%d frames asked for: written beyond", tt.room)
			}
		}
	}
	if n, stop := w.Walk(&regs, f, nil); n != 0 || stop != frame.Limit {
		t.Errorf("no buffer: %d frames by %q", n, stop)
	}
}

// Without PC or SP there is no stack.
func TestWalkerUnknown(t *testing.T) {
	for _, r := range []trad.Reg{amd64.RIP, amd64.RSP} {
		f := newFake(0x1010, stackBase, stackBase, stackBase+16, 0x1100, 0, 0)
		var regs arch.Registers
		f.Registers(&regs)
		regs.Known.Remove(r)
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, everywhere{fp}))
		if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 0 || stop != frame.Unavailable {
			t.Errorf("without %s: %d frames, %v", amd64.Arch.RegName(r), n, stop)
		}
		c := frame.NewContext(amd64.Arch, &regs)
		if stop := w.Step(&c, f); c.PC != 0 || stop != frame.Unavailable {
			t.Errorf("without %s: PC %#x, %v", amd64.Arch.RegName(r), c.PC, stop)
		}
	}
	var c frame.Context
	w := frame.NewWalker(newFake(0, 0, 0).mods, frame.NewTable(amd64.Arch))
	if stop := w.Step(&c, newFake(0, 0, 0)); stop != frame.Unavailable {
		t.Errorf("a context of nothing: %v", stop)
	}
}

// Contexts of several stacks, and copies of them, are stepped on one walker in turns.
func TestContextsInTurns(t *testing.T) {
	rbx, sniffers, want1 := rbxStack()
	const far, further = 200, 400
	rbx2, _, _ := rbxStackAt(further)
	signal, others, want2 := signalStack()
	s := sniffers[0].(*rows)
	// Both stacks' rows by one table: the second stack's code is 0x800 bytes further on.
	moved := *signal
	moved.regs = map[trad.Reg]uint64{amd64.RIP: signal.regs[amd64.RIP] + 0x800, amd64.RSP: signal.regs[amd64.RSP], amd64.RBP: signal.regs[amd64.RBP]}
	moved.words = slices.Clone(signal.words)
	for i, w := range moved.words {
		if w >= codeLo && w < codeHi {
			moved.words[i] += 0x800
		}
	}
	for at, row := range others[0].(*rows).at {
		s.at[at+0x800] = row
	}
	for i := range want2 {
		want2[i] += 0x800
	}
	type stack struct {
		sp   uint64 // of frame 4
		f    *fake
		c    frame.Context
		want []uint64
		regs arch.Registers
		at   int
	}
	stacks := []*stack{
		{f: rbx, want: want1, sp: stackBase + far + 16},
		{f: &moved, want: want2},
		{f: rbx2, want: want1, sp: stackBase + further + 16},
	}
	for _, x := range stacks {
		x.f.Registers(&x.regs)
		x.c = frame.NewContext(amd64.Arch, &x.regs)
	}
	w := frame.NewWalker(rbx.mods, frame.NewTable(amd64.Arch, s))
	for round := range 12 {
		for i, x := range stacks {
			if i == 2 && round%2 == 1 || x.at == len(x.want) {
				continue // the third falls behind the first, which has the same rows
			}
			if x.c.PC != x.want[x.at] {
				t.Errorf("stack %d, frame %d: PC %#x, want %#x", i, x.at, x.c.PC, x.want[x.at])
			}
			if x.at == 4 && x.sp != 0 && x.c.SP != x.sp {
				t.Errorf("stack %d, frame 4: SP %#x, want %#x", i, x.c.SP, x.sp)
			}
			// A copy goes to the end before the context goes on.
			ahead, n := x.c, x.at
			for w.Step(&ahead, x.f) == frame.NoReason {
				if n++; n < len(x.want) && ahead.PC != x.want[n] {
					t.Errorf("stack %d, copy of the context of frame %d: frame %d has PC %#x, want %#x", i, x.at, n, ahead.PC, x.want[n])
				}
			}
			if n != len(x.want)-1 {
				t.Errorf("stack %d: the copy of frame %d's context ends at frame %d", i, x.at, n)
			}
			w.Step(&x.c, x.f)
			x.at++
		}
	}
	// A context of one walker goes on with another.
	c := frame.NewContext(amd64.Arch, &stacks[0].regs)
	for i, pc := range want1 {
		if c.PC != pc {
			t.Errorf("frame %d by walkers in turns: PC %#x, want %#x", i, c.PC, pc)
		}
		w := frame.NewWalker(rbx.mods, frame.NewTable(amd64.Arch, s))
		other := frame.NewContext(amd64.Arch, &stacks[1].regs)
		w.Step(&other, &moved)
		w.Step(&c, rbx)
	}
}

// A plain memory is read to the end of a page: the two words of a frame record may be
// on different ones, and the second may not be there.
func TestWalkerPageEnd(t *testing.T) {
	const sp, page = stackBase, 0x1000
	for _, at := range []uint64{sp + page - 24, sp + page - 16, sp + page - 8, sp + page, sp + page - 12, sp + page - 4} {
		f := newFake(0x1010, sp, at)
		f.words = make([]uint64, 3*page/8)
		put := func(addr, v uint64) {
			for i := range uint64(8) {
				k := addr + i - sp
				f.words[k/8] = f.words[k/8]&^(0xff<<(k%8*8)) | v>>(8*i)&0xff<<(k%8*8)
			}
		}
		put(at, at+page)
		put(at+8, 0x1100)
		put(at+page, at+page+16)
		put(at+page+8, 0x1200)
		want := []uint64{0x1010, 0x1100, 0x1200}
		check(t, f, []frame.Sniffer{everywhere{fp}}, want, frame.NoSavedPC)
		check(t, lent{f}, []frame.Sniffer{everywhere{fp}}, want, frame.NoSavedPC)
		f.words = f.words[:page/8]
		n := 1
		if at+16 <= sp+page {
			n = 2
		}
		check(t, f, []frame.Sniffer{everywhere{fp}}, want[:n], frame.MemoryError)
	}
}

// bigFake is a stack of s390x, whose words have the high byte first.
type bigFake struct{ *fake }

func (bigFake) Arch() *arch.Arch                    { return s390x.Arch }
func (f bigFake) Memory() target.Memory             { return f }
func (f bigFake) Threads() ([]target.Thread, error) { return []target.Thread{f.fake}, nil }
func (f bigFake) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n := range p {
		at := addr + uint64(n) - stackBase
		if at/8 >= uint64(len(f.words)) {
			return n, target.ErrUnmapped
		}
		p[n] = byte(f.words[at/8] >> (56 - at%8*8))
	}
	return len(p), nil
}

func TestWalkerBigEndian(t *testing.T) {
	const sp, size, save = stackBase, 176, 160 // a frame, and the area that callers leave above SP
	row := trad.Row{
		CFA:  trad.Rule{Kind: trad.InReg, Reg: s390x.R15, Off: size + save},
		RA:   trad.Rule{Kind: trad.Saved, Off: 8*14 - save},
		FP:   trad.Rule{Kind: trad.Saved, Off: 8*11 - save},
		More: &trad.Rest{Unlisted: trad.Same},
	}
	byFP := row
	byFP.CFA.Reg = s390x.R11
	f := newFake(0, 0, 0)
	f.regs = map[trad.Reg]uint64{s390x.PSWA: 0x1010, s390x.R15: sp, s390x.R11: 0x5a5a, s390x.R14: 0x1080}
	f.words = make([]uint64, 1000)
	for i, ra := range []uint64{0x1100, 0x1200, 0x1300} {
		f.words[((i+1)*size+8*14)/8] = ra
		f.words[((i+1)*size+8*11)/8] = sp + 2*size // what frame 2 has in r11
	}
	s := &rows{name: "rows", at: map[uint64]trad.Row{0x1010: row, 0x10ff: row, 0x11ff: byFP, 0x12ff: outermost(row)}}
	check(t, bigFake{f}, []frame.Sniffer{s}, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, frame.Outermost)
}

// Stacks that want to lead astray.
func TestWalkerHostile(t *testing.T) {
	const sp = stackBase
	const high = ^uint64(0) - 7
	inner, below := spRow(16), spRow(16)
	inner.CFA.Off, below.CFA.Off = -0x1000, -1<<31
	far := spRow(16)
	far.RA.Off = 1<<31 - 1
	zero := fp
	zero.RA = trad.Rule{Kind: trad.Saved, Off: 0}
	for _, tt := range []struct {
		name string
		f    *fake
		rows map[uint64]trad.Row
		want []uint64
		stop frame.StopReason
	}{
		{"CFA wraps around in frame 0", newFake(0x1010, sp, high, 0), map[uint64]trad.Row{0x1010: fp}, []uint64{0x1010}, frame.MemoryError},
		{"CFA wraps around further out", newFake(0x1010, sp, sp, high, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}, []uint64{0x1010, 0x1100}, frame.InnerID},
		{"CFA is 0", newFake(0x1010, sp, high-8, 0), map[uint64]trad.Row{0x1010: fp}, []uint64{0x1010}, frame.MemoryError},
		{"CFA further in", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: inner}, []uint64{0x1010, 0x1100}, frame.InnerID},
		{"CFA below address 0", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: below}, []uint64{0x1010, 0x1100}, frame.MemoryError},
		{"return address beyond memory", newFake(0x1010, sp, sp, sp+16, 0x1100, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: far}, []uint64{0x1010, 0x1100}, frame.MemoryError},
		{"SP at the end of all addresses", newFake(0x1010, ^uint64(0), 0), map[uint64]trad.Row{0x1010: spRow(8)}, []uint64{0x1010}, frame.MemoryError},
		{"return address 0 to a PC that is known", newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0, 0), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"two frames at one CFA in turns", newFake(0x1010, sp, sp, sp, 0x1100, sp, 0x1010), map[uint64]trad.Row{0x1010: fp, 0x10ff: zero, 0x100f: fp}, []uint64{0x1010}, frame.SameID},
		{"return address 0 where everything may be code", anyCode(newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0, sp+48, 0x1200)), map[uint64]trad.Row{0x1010: fp, 0x10ff: fp, ^uint64(0): fp, 0x11ff: outermost(fp)}, []uint64{0x1010, 0x1100}, frame.NoSavedPC},
		{"a call at the end of all code", newFake(0x1010, sp, sp, sp+16, codeHi, sp+32, 0x1200), map[uint64]trad.Row{0x1010: fp, codeHi - 1: fp, 0x11ff: outermost(fp)}, []uint64{0x1010, codeHi, 0x1200}, frame.Outermost},
		{"outermost where it cannot be", newFake(0x1010, sp, sp, sp-64, 0x1100), map[uint64]trad.Row{0x1010: fp, 0x10ff: outermost(fp)}, []uint64{0x1010, 0x1100}, frame.Outermost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := []frame.Sniffer{&rows{name: "rows", at: tt.rows}}
			check(t, tt.f, s, tt.want, tt.stop)
			check(t, lent{tt.f}, s, tt.want, tt.stop)
		})
	}
}

// anyCode has a target know of no executable memory: everything may be code.
func anyCode(f *fake) *fake {
	f.mods = target.NewModules(nil, nil)
	return f
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
	row, ok := s[q.Block]
	if !ok {
		return row, "no row for the address"
	}
	row.Lo, row.Len = q.Block, 1
	return row, frame.Claimed
}

// Walkers on many goroutines, over shared modules, sniffers and memory, see the same.
func TestWalkersAtOnce(t *testing.T) {
	for _, stack := range []func() (*fake, []frame.Sniffer, []uint64){signalStack, rbxStack} {
		f, sniffers, want := stack()
		table := frame.NewTable(amd64.Arch, fixed(sniffers[0].(*rows).at))
		var regs arch.Registers
		f.Registers(&regs)
		mem := lent{f}.Memory()
		var wg sync.WaitGroup
		for range 8 {
			w := frame.NewWalker(f.mods, table)
			wg.Go(func() {
				pcs := make([]uint64, 16)
				for round := range 200 {
					if n, stop := w.Walk(&regs, mem, pcs); !slices.Equal(pcs[:n], want) || stop != frame.NoSavedPC {
						t.Errorf("PCs %#x by %q", pcs[:n], stop)
						return
					}
					if round%16 == 0 {
						w.Reset()
					}
				}
			})
		}
		wg.Wait()
	}
}
