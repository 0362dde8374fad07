package dummy

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Frame is one call that a debugger has a thread make.
type Frame struct {
	Thread int    // its ID
	PC     uint64 // the address to which the function will return, in code or on the stack
	SP     uint64 // SP when it has returned
	// Saved has the registers that the thread had before the call. Wide has the registers that are
	// wider than 64 bits (arch.Arch.WideRegs), as they would lie in memory. Save fills in both.
	Saved arch.Registers
	Wide  map[trad.Reg][]byte
}

// Save notes the registers that a thread has now. Wide registers are noted if it is a
// [target.WideThread], as many of them as it has.
func (d *Frame) Save(t target.Thread, a *arch.Arch) error {
	if err := t.Registers(&d.Saved); err != nil {
		return err
	}
	wide, ok := t.(target.WideThread)
	if !ok {
		return nil
	}
	d.Wide = make(map[trad.Reg][]byte, len(a.WideRegs()))
	for i := range a.WideRegs() {
		w := &a.WideRegs()[i]
		if b, err := target.ReadWide(wide, w); err == nil {
			d.Wide[w.Num] = b
		}
	}
	return nil
}

// Frames are the calls that are under way in a process. It is safe for concurrent use.
type Frames struct {
	mu    sync.Mutex
	list  []*Frame
	n     atomic.Int32  // length of list
	added atomic.Uint64 // how many calls were ever entered
}

// Add enters a call. It must not be changed as long as it is there.
func (f *Frames) Add(d *Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, d)
	f.n.Add(1)
	f.added.Add(1)
}

// Remove takes a call out.
func (f *Frames) Remove(d *Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.list, d); i >= 0 {
		f.list = slices.Delete(f.list, i, i+1)
		f.n.Add(-1)
	}
}

// find returns the call to whose dummy frame a PC and an SP belong, nil if there is none. A
// [frame.Walker] has no thread: 0 stands for any.
func (f *Frames) find(thread int, pc, sp uint64) *Frame {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.list {
		if d.PC == pc && d.SP == sp && (thread == 0 || thread == d.Thread) {
			return d
		}
	}
	return nil
}

// Sniffer claims the frames of calls.
type Sniffer struct{ frames *Frames }

var (
	_ frame.PlacedUnwinder = (*Sniffer)(nil)
	_ frame.WideUnwinder   = (*Sniffer)(nil)
)

// New returns the sniffer of the calls in frames.
func New(frames *Frames) *Sniffer { return &Sniffer{frames} }

// Name implements [frame.Sniffer].
func (*Sniffer) Name() string { return "dummy" }

const (
	notOurs = frame.Answer("no call that the debugger makes returns to PC")
	noSP    = frame.Answer("the stack pointer is not known")
)

// Sniff implements [frame.Sniffer].
func (s *Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.This == nil {
		return trad.Row{}, noSP
	}
	sp := q.This.Register(q.Arch.SP)
	if !sp.Known() {
		return trad.Row{}, noSP
	}
	d := s.frames.find(q.This.Stack().Thread, q.PC, sp.Bits)
	if d == nil {
		return trad.Row{}, notOurs
	}
	*q.This.Slot() = d
	return trad.Row{Lo: q.PC, Len: 1, CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP}, Flags: trad.Once}, frame.Claimed
}

// HasPlace implements [frame.PlacedUnwinder].
func (s *Sniffer) HasPlace(pc uint64) bool {
	f := s.frames
	if f.n.Load() == 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(d *Frame) bool { return d.PC == pc })
}

// PlacesGeneration implements [frame.PlacedUnwinder].
func (s *Sniffer) PlacesGeneration() uint64 { return s.frames.added.Load() }

// Type implements [frame.Unwinder].
func (*Sniffer) Type() frame.Type { return frame.Dummy }

// ThisID implements [frame.Unwinder]: it is GDB's dummy_id, SP and PC at the return.
func (*Sniffer) ThisID(this *frame.Frame) (frame.ID, error) {
	sp, _ := this.CFA()
	return frame.ID{Stack: sp, Code: this.PC(), Has: frame.HasStack | frame.HasCode}, nil
}

// PrevRegister implements [frame.Unwinder].
func (s *Sniffer) PrevRegister(this *frame.Frame, r trad.Reg) frame.Value {
	if d := s.of(this); d != nil {
		if bits, ok := d.Saved.Get(r); ok {
			return frame.Value{Bits: bits, Lval: frame.Computed}
		}
	}
	// The call's return address is no place of the program's: no other sniffer's row tells more.
	return frame.Value{Err: errNotSaved}
}

// PrevWide implements [frame.WideUnwinder].
func (s *Sniffer) PrevWide(this *frame.Frame, r trad.Reg) ([]byte, bool) {
	if d := s.of(this); d != nil {
		b, ok := d.Wide[r]
		return b, ok
	}
	return nil, false
}

// of returns the call whose dummy frame THIS is. It is the one that was there when the sniffer has
// claimed THIS, though it may be over.
func (s *Sniffer) of(this *frame.Frame) *Frame {
	d, _ := (*this.Slot()).(*Frame)
	return d
}

var errNotSaved = errors.New("the thread's register was not known before the call")
