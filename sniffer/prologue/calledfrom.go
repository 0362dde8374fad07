package prologue

import (
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Bounds of the search for the call of a function.
const (
	maxCallers = 1 << 12  // calls that are tried by tables
	maxText    = 64 << 20 // bytes of code that are looked through
	textBlock  = 64 << 10
)

var (
	errNoCall    = errors.New("a probe of the kernel (uretprobe) has replaced the return address, and no call is found that fits the stack")
	errManyCalls = errors.New("a probe of the kernel (uretprobe) has replaced the return address, and several calls fit the stack")
)

// calledFrom finds the call of the function of NEXT whose return address is lost. THIS has the
// registers that the caller has when the call comes back: so the caller's tables, behind the right
// call, lead to a return address. It is the surer if the call there is one of the caller. Direct
// calls of the function come first, then calls of unknown functions. If several calls fit,
// calledFrom gives none.
func (s *Sniffer) calledFrom(q *frame.Query, next *frame.Frame) (ra uint64, err error) {
	m := next.Module()
	if m == nil || !q.MaySearch() {
		return 0, errNoCall
	}
	called := beginning(q, next)
	direct, others := callers{s: s, q: q, called: called}, callers{s: s, q: q, called: called}
	eachCall(q, m, func(at uint64, code []byte) {
		switch to, ok := q.Arch.CallTarget(code, at); {
		case ok && to == called:
			direct.list = append(direct.list, at)
		case !ok && len(others.list) < maxCallers:
			others.list = append(others.list, at)
		}
	})
	if ra, err = direct.one(); err == nil || errors.Is(err, errManyCalls) {
		return ra, err
	}
	return others.one()
}

// beginning returns where the function of a frame begins, or, if that is not known, where the frame
// is.
func beginning(q *frame.Query, f *frame.Frame) uint64 {
	at := f.AddressInBlock()
	if m := f.Module(); m != nil {
		if entry, ok := m.FunctionEntry(at); ok {
			return entry
		}
	}
	if lo, _, ok := q.FunctionAt(at); ok {
		return lo
	}
	return at
}

// eachCall yields the return addresses of all calls in a module, each with the code before it.
func eachCall(q *frame.Query, m *target.Module, yield func(at uint64, code []byte)) {
	if q.Arch.AfterCall == nil || q.Arch.CallTarget == nil {
		return
	}
	left := maxText
	buffer := make([]byte, textBlock)
	for _, p := range m.Mappings {
		if !p.Exec {
			continue
		}
		for lo := p.Lo; lo < p.Hi && left > 0; {
			n, _ := q.Memory.ReadMemory(lo, buffer[:min(textBlock, p.Hi-lo)])
			if n <= arch.MaxCall {
				break
			}
			for i := arch.MaxCall; i <= n; i++ {
				if code := buffer[i-arch.MaxCall : i]; q.Arch.AfterCall(code) {
					yield(lo+uint64(i), code)
				}
			}
			q.CountSearched(n / readTogether)
			left -= n
			lo += uint64(n - arch.MaxCall)
		}
	}
}

// callers are possible return addresses of THIS.
type callers struct {
	s      *Sniffer
	q      *frame.Query
	called uint64
	list   []uint64
}

// one returns the one that fits the stack. Several of them may be in one function, with one frame:
// then it is the first of them.
func (c *callers) one() (ra uint64, err error) {
	var best fitting
	err = errNoCall
	for i, at := range c.list {
		if i == maxCallers || !c.q.CountSearched(lookUp) {
			break
		}
		switch fit, ok := c.fits(at); {
		case !ok || best.sure && !fit.sure:
		case err != nil && best == fitting{} || fit.sure && !best.sure:
			ra, best, err = at, fit, nil
		case fit != best:
			err = errManyCalls
		}
	}
	return ra, err
}

// fitting is what the tables of a possible caller give.
type fitting struct {
	start, cfa, ra uint64 // where its function begins, and what its row leads to
	sure           bool   // the call before ra is one of the function
}

// fits reports whether the code at a return address leads to a caller of its own.
func (c *callers) fits(at uint64) (fit fitting, ok bool) {
	there := callerAt(c.q, at)
	fit.start, _, _ = there.FunctionAt(at - 1)
	for _, table := range c.s.Tables {
		row, answer := table.Sniff(&there)
		if answer != frame.Claimed {
			continue
		}
		if row.Flags&trad.Outermost != 0 {
			return fit, true
		}
		to, ok := there.Apply(&row)
		sp := there.This.Register(there.Arch.SP)
		if !ok || !sp.Known() || to.CFA-sp.Bits > maxFrame {
			return fit, false
		}
		if there.Arch.InnerThan(to.CFA+uint64(there.Arch.SPFromCFA), sp.Bits) {
			return fit, false
		}
		fit.cfa, fit.ra = to.CFA, to.PC.Bits
		if there.Modules.KernelName(fit.ra) != "" {
			fit.sure = fit.start == c.called // which is known to have a probe
			return fit, true
		}
		if !followsCall(&there, fit.ra) {
			return fit, false
		}
		var may bool
		fit.sure, may = mayCall(&there, fit.ra, fit.start, there.Module)
		return fit, may
	}
	return fit, false
}

// callerAt returns the query for a caller of THIS that goes on at ra, by tables alone: q.This stays
// THIS.
func callerAt(q *frame.Query, ra uint64) frame.Query {
	caller := *q
	caller.PC, caller.AddressInBlock, caller.Module = ra, ra-1, q.Modules.Find(ra-1)
	return caller
}

// mayCall reports whether the call before a return address may lead to the function of module m
// that begins at start, and whether it surely does.
func mayCall(q *frame.Query, ra, start uint64, m *target.Module) (surely, may bool) {
	to, direct := q.CallTarget(ra)
	surely = direct && to == start
	return surely, !direct || surely || q.Modules.Find(to) != m || isStub(q, to)
}

// isStub reports whether addr is in a linkage stub.
func isStub(q *frame.Query, addr uint64) bool {
	m := q.Modules.Find(addr)
	if m == nil {
		return false
	}
	_, _, ok := m.StubSection(addr)
	return ok
}
