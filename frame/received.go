package frame

import (
	"math/bits"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Signal returns the signal that has interrupted PREVIOUS, if THIS is a signal frame of Linux: what
// its handler, which NEXT runs, was called for. It reads what the kernel has left on the stack:
// code, address and sender are known if they are there. ok is false if THIS is another frame, or it
// is not certain which signal came: for a handler without SA_SIGINFO, kernels of most processors
// leave next to nothing.
//
// Call it while [Frame.Next] is there: inner frames, and a [target.MaskedThread], tell which
// signals are blocked since, and so whether what is on the stack is an earlier signal's.
func (f *Frame) Signal() (s siginfo.Info, ok bool) {
	if f.typ != SigTramp || f.ra.Lval != InMemory || f.outdated() {
		return siginfo.Info{}, false
	}
	r := received{frame: f, arch: f.stack.arch}
	form := r.form()
	if form == nil {
		return siginfo.Info{}, false
	}
	before := f.stack.window.late
	defer func() { f.stack.window.late = before }()
	f.stack.window.late = false
	s, ok = r.read(form)
	return s, ok && !f.stack.window.late
}

// received reads one signal frame.
type received struct {
	frame  *Frame
	arch   *arch.Arch
	base   uint64 // SP at the first instruction of the trampoline
	failed bool   // some word could not be read
}

// form returns the form of the frame, and sets base; nil if there is none.
func (r *received) form() *arch.SignalFrame {
	for i := range r.arch.SignalFrames {
		form := &r.arch.SignalFrames[i]
		r.base, r.failed = r.frame.ra.Addr-uint64(form.PC), false
		if form.OnStack(r.base, r.word) && !r.failed {
			return form
		}
	}
	return nil
}

// word reads the word at a distance from base.
func (r *received) word(off int) uint64 {
	v, err := r.frame.stack.readWord(r.base + uint64(off))
	if err != nil {
		r.failed = true
		return 0
	}
	return v
}

// bytes reads what is at a distance from base, by words.
func (r *received) bytes(off, size int) []byte {
	b := make([]byte, 0, size)
	for ; size > 0; size -= r.arch.PtrSize {
		b = r.arch.AppendWord(b, r.word(off))
		off += r.arch.PtrSize
	}
	return b
}

// read reads the signal.
func (r *received) read(form *arch.SignalFrame) (s siginfo.Info, ok bool) {
	if form.HasInfo {
		data := r.bytes(form.Info, siginfo.Size)
		if s, ok = siginfo.Read(data, r.arch); ok && !r.failed &&
			(!form.InfoOptional || siginfo.Plausible(data, r.arch) && !r.contradicts(form, &s)) {
			return s, true
		}
		if !form.InfoOptional {
			return s, false
		}
	}
	r.failed = false
	if form.HasNumber {
		n := r.bytes(form.Number, max(4, r.arch.PtrSize))
		if s, ok = siginfo.Number(int(int32(r.arch.Order.Uint32(n)))); !ok {
			return s, false
		}
	} else {
		// A thread is in the handler of the only signal that it has blocked since.
		since, _ := r.blockedSince(form)
		n := bits.TrailingZeros64(since) + 1
		if bits.OnesCount64(since) != 1 {
			n = r.brought(form, since)
		}
		if s, ok = siginfo.Number(n); !ok {
			return s, false
		}
	}
	r.addFault(form, &s)
	return s, !r.failed
}

// firstMapped is the lowest address at which a process may map a page, unless the system is set up
// otherwise (vm.mmap_min_addr).
const firstMapped = 1 << 16

// brought returns the number of the signal that the interrupted instruction has certainly brought,
// and that may be the one of the frame: since are the signals that are blocked since, 0 if none is.
// It returns 0 if there is none.
func (r *received) brought(form *arch.SignalFrame, since uint64) int {
	const segv, bus = uint64(1) << (siginfo.SIGSEGV - 1), uint64(1) << (siginfo.SIGBUS - 1)
	fault := r.fault(form)
	switch {
	case since != 0 && since&segv == 0, r.brings(form, fault) != arch.Yes:
		return 0
	case fault.Kind == arch.AddressFault, fault.Protected, fault.Addr < firstMapped, since != 0 && since&bus == 0:
		return siginfo.SIGSEGV
	}
	return 0
}

// brings says whether the interrupted instruction has brought a fault.
func (r *received) brings(form *arch.SignalFrame, fault arch.Fault) arch.Verdict {
	if form.Brings == nil {
		return arch.Unknown
	}
	const most = 16 // bytes of an instruction
	pc := r.arch.CodeAddress(r.frame.ra.Bits)
	code := make([]byte, most)
	n, _ := r.frame.stack.window.ReadMemory(pc, code)
	return form.Brings(code[:n], pc, func(reg trad.Reg) (uint64, bool) {
		v := r.frame.PrevRegister(reg)
		return v.Bits, v.Known()
	}, fault)
}

// fault returns the last fault of the thread before the signal frame was made.
func (r *received) fault(form *arch.SignalFrame) arch.Fault {
	if form.Fault == nil {
		return arch.Fault{}
	}
	return form.Fault(r.word)
}

// contradicts reports whether what is in the place of struct siginfo belongs to an earlier signal:
// the frame's last fault, or the interrupted instruction, is another one, or other signals are
// blocked since. A handler may have unblocked its own signal, as HotSpot's does: what is blocked
// counts only if the instruction does not tell.
func (r *received) contradicts(form *arch.SignalFrame, s *siginfo.Info) bool {
	switch s.CodeName {
	case "SEGV_MAPERR", "SEGV_ACCERR", "SEGV_PKUERR", "BUS_ADRERR":
		fault := r.fault(form)
		if fault.Kind != arch.UnknownFault && (fault.Kind != arch.PageFault || r.withoutTag(fault.Addr) != r.withoutTag(s.Addr)) {
			return true
		}
		switch r.brings(form, fault) {
		case arch.Yes:
			return false
		case arch.No:
			return true
		}
		if r.behindCall() {
			return true
		}
	default:
		if (s.Number == siginfo.SIGFPE || s.Number == siginfo.SIGILL) && s.HasAddr {
			return s.Addr != r.arch.CodeAddress(r.frame.ra.Bits)
		}
		if s.Number == siginfo.SIGSEGV && s.Code == siginfo.Kernel && r.brings(form, r.fault(form)) == arch.Yes {
			return false
		}
	}
	since, unknown := r.blockedSince(form)
	one := uint64(1) << (s.Number - 1)
	return since != 0 && since&one == 0 && unknown&one == 0
}

// withoutTag returns an address without the bits in which arm64's may have a tag.
func (r *received) withoutTag(addr uint64) uint64 { return addr &^ (0xff << 56) }

// behindCall reports whether PREVIOUS was interrupted in a system call: then a process has sent the
// signal, and the last fault is an earlier one.
func (r *received) behindCall() bool {
	code := make([]byte, arch.MaxSystemCall)
	pc := r.arch.CodeAddress(r.frame.ra.Bits)
	n, _ := r.frame.stack.window.ReadMemory(pc-uint64(len(code)), code)
	return n == len(code) && r.arch.BehindSystemCall(code)
}

// addFault adds to a signal without struct siginfo what the last fault tells, if that has caused
// the signal.
func (r *received) addFault(form *arch.SignalFrame, s *siginfo.Info) {
	if s.Number != siginfo.SIGSEGV && s.Number != siginfo.SIGBUS {
		return
	}
	fault := r.fault(form)
	if r.behindCall() || r.brings(form, fault) == arch.No {
		return
	}
	switch fault.Kind {
	case arch.PageFault:
		s.Addr, s.HasAddr = fault.Addr, true
	case arch.AddressFault:
		s.Code, s.CodeName = siginfo.Kernel, "SI_KERNEL"
	}
}

// blockedSince returns the signals that the thread has blocked since the signal came: that signal,
// unless the handler has SA_NODEFER, its sa_mask's, and what it has blocked itself. unknown are
// signals of which it is not known whether they are blocked now.
func (r *received) blockedSince(form *arch.SignalFrame) (since, unknown uint64) {
	now, unknown := r.frame.blockedWithin()
	return now &^ r.mask(form) &^ unknown, unknown
}

// mask returns the signals that the thread has blocked before the signal came.
func (r *received) mask(form *arch.SignalFrame) uint64 {
	low := r.word(form.Mask)
	if r.arch.PtrSize == 4 {
		low |= r.word(form.Mask+4) << 32
	}
	return low
}

// blockedWithin returns the signals that are blocked in the frames that THIS has called. The next
// signal frame further in has saved them; if there is none, the thread has them blocked.
func (f *Frame) blockedWithin() (now, unknown uint64) {
	for next := f.next; next != nil && !next.dropped; next = next.next {
		switch {
		case next.Level < 0:
			if th, ok := f.stack.thread.(target.MaskedThread); ok {
				return th.SignalMask()
			}
			return 0, ^uint64(0)
		case next.typ == SigTramp:
			r := received{frame: next, arch: f.stack.arch}
			form := r.form()
			if form == nil || next.ra.Lval != InMemory {
				return 0, ^uint64(0)
			}
			if now = r.mask(form); r.failed {
				return 0, ^uint64(0)
			}
			return now, 0
		}
	}
	return 0, ^uint64(0)
}
