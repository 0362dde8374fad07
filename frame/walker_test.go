package frame_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

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
	Flags:  trad.Signal,
	CFA:    trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 8},
	RA:     trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP},
	FP:     trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 16},
	Others: &trad.OtherRules{Regs: []trad.RegRule{{Reg: amd64.RSP, Rule: trad.Rule{Kind: trad.SavedAt, Reg: amd64.RSP, Off: 8}}}},
}

// outermost makes a row the outermost frame's.
func outermost(row trad.Row) trad.Row {
	row.Flags |= trad.Outermost
	return row
}

// check walks a stack with both walkers: it must have these PCs and this end.
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

// rbxStack is a stack whose frames 3 and 4 have their CFA in rbx. Frame 1 has saved rbx.
func rbxStack() (*fake, []frame.Sniffer, []uint64) { return rbxStackAt(200) }

// rbxStackAt is rbxStack with frames 3 and 4 far bytes further out.
func rbxStackAt(far uint64) (*fake, []frame.Sniffer, []uint64) {
	saves := spRow(24)
	saves.Others = &trad.OtherRules{Default: trad.Same, Regs: []trad.RegRule{{Reg: amd64.RBX, Rule: trad.Rule{Kind: trad.Saved, Off: -24}}}}
	leaves := spRow(8)
	leaves.Others = &trad.OtherRules{Default: trad.Same}
	uses := spRow(16)
	uses.CFA.Reg = amd64.RBX
	uses.Others = leaves.Others
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

// The Walker also unwinds a frame that needs a register which is not in its Context, and the frames
// further out.
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

	// If no row tells the register, the stack ends there.
	unknown := spRow(16)
	unknown.CFA.Reg = amd64.R13
	last.at[0x12ff] = unknown
	check(t, f, sniffers, want[:4], frame.Unavailable)
}

// A frame's row has a simple CFA and RA, but finds FP in another way.
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

// once is a sniffer whose rows hold for one frame, or for all frames at a PC.
type once struct {
	row   trad.Row
	asked int
}

func (*once) Name() string { return "once" }
func (s *once) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	s.asked++
	if pc := q.This.Register(amd64.RIP); pc.Bits != q.PC || !pc.Known() {
		return trad.Row{}, "the frame has another PC"
	}
	row := s.row
	row.Lo, row.Len = q.AddressInBlock, 1
	return row, frame.Claimed
}

// The table keeps a row, unless it has trad.Once: then the sniffer is asked each time.
func TestWalkerOnce(t *testing.T) {
	const sp = stackBase
	f := newFake(0x1010, sp, sp, sp+16, 0x1100, sp+32, 0x1200, sp+48, 0x1300, 0, 0)
	var regs arch.Registers
	f.Registers(&regs)
	alone := fp
	alone.Flags = trad.Once
	for _, tt := range []struct {
		row   trad.Row
		end   frame.StopReason
		asked int // in two walks
	}{{fp, frame.NoSavedPC, 4}, {alone, frame.Outermost, 8}} {
		s := &once{row: tt.row}
		check(t, f, []frame.Sniffer{s}, []uint64{0x1010, 0x1100, 0x1200, 0x1300}, tt.end)
		s.asked = 0
		w := frame.NewWalker(f.mods, frame.NewTable(amd64.Arch, s))
		for range 2 {
			if n, stop := w.Walk(&regs, f, make([]uint64, 9)); n != 4 || stop != tt.end {
				t.Errorf("%d frames, %v", n, stop)
			}
		}
		if s.asked != tt.asked {
			t.Errorf("row %v: asked %d times, want %d", tt.row.Flags, s.asked, tt.asked)
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
