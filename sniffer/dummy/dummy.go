package dummy

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/trad"
)

// Frame is one call that a debugger has a thread make.
type Frame struct {
	Thread int    // its ID
	PC     uint64 // the address to which the function will return, in code or on the stack
	SP     uint64 // SP when it has returned
	// Saved has the registers that the thread had before the call.
	Saved arch.Registers
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

// find returns the call to whose dummy frame a PC and an SP belong, nil if there is none. A [frame.Walker]
// has no thread: 0 stands for any.
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

var _ frame.PlacedUnwinder = (*Sniffer)(nil)

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
	if s.frames.find(q.This.Stack().Thread, q.PC, sp.Bits) == nil {
		return trad.Row{}, notOurs
	}
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
	sp, _ := this.CFA()
	if d := s.frames.find(this.Stack().Thread, this.PC(), sp); d != nil {
		if bits, ok := d.Saved.Get(r); ok {
			return frame.Value{Bits: bits, Lval: frame.Computed}
		}
	}
	// The call's return address is no place of the program's: no other sniffer's row tells more.
	return frame.Value{Err: errNotSaved}
}

var errNotSaved = errors.New("the thread's register was not known before the call")
