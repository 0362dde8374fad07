// Package coreclr is the sniffer for code that .NET's run time (CoreCLR) has compiled, or that
// assemblies bring along.
//
// On each system the run time describes such code by Windows' unwind codes, which its own stack
// walks read.
package coreclr

import (
	"errors"

	"github.com/sfwalk/sfwalk/format/pdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state.
type Sniffer struct{}

func (*Sniffer) Name() string { return "coreclr" }

const (
	inFile    = frame.Answer("PC is in a file's code")
	malformed = frame.Answer("the unwind codes cannot be read, or do not tell the frame at PC")
)

// known has the answers for errors.
var known = map[error]frame.Answer{}

func init() {
	for _, err := range []error{coreclr.ErrNone, coreclr.ErrProcessor, coreclr.ErrRelease, coreclr.ErrNoCode, coreclr.ErrStub, coreclr.ErrUnread} {
		known[err] = frame.Answer(err.Error())
	}
}

func answer(err error) frame.Answer {
	for is, a := range known {
		if errors.Is(err, is) {
			return a
		}
	}
	return known[coreclr.ErrUnread]
}

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	c, err := find(q)
	if err != "" {
		return trad.Row{}, err
	}
	t := pdata.OfUnix(coreclr.Image{Memory: q.Modules.MemoryOr(q.Memory), Base: c.Base})
	row, wrong := t.Row(c.Function, uint32(q.AddressInBlock-c.Base), q.Innermost())
	if wrong != nil {
		return trad.Row{}, malformed
	}
	row.Lo += c.Base
	return returns(q, row), frame.Claimed
}

// returns returns the row of a frame whose return address the run time may have taken away, as it
// does to stop a thread: then the row has the address that was there.
func returns(q *frame.Query, row trad.Row) trad.Row {
	to, ok := q.Apply(&row)
	vm, err := coreclr.Of(q.Modules, q.Memory, q.Arch)
	if !ok || err != nil || to.PC.Bits < vm.Module.Lo() || to.PC.Bits >= vm.Module.Hi() || !coreclr.IsTrip(q.Read(to.PC.Bits, coreclr.TripSize)) {
		return row
	}
	if ra := vm.Hijacked(q.Modules.MemoryOr(q.Memory), to.CFA-8); ra != 0 {
		more := trad.OtherRules{Default: row.Others.Default, Regs: row.Others.Regs, Exprs: []trad.Expression{trad.Constant(ra)}}
		row.RA, row.Others = trad.Rule{Kind: trad.ValExpr}, &more
		row.Flags |= trad.Once
	}
	return row
}

// find returns the code that q is about.
func find(q *frame.Query) (c coreclr.Code, why frame.Answer) {
	if q.Module != nil {
		if _, _, err := q.Module.Image(); err == nil {
			return c, inFile
		}
	}
	vm, err := coreclr.Of(q.Modules, q.Memory, q.Arch)
	if err != nil {
		return c, answer(err)
	}
	if c, err = vm.Find(q.Modules.MemoryOr(q.Memory), q.AddressInBlock); err != nil {
		return c, answer(err)
	}
	return c, frame.Claimed
}

// FunctionStart returns where the function begins that q.AddressInBlock is in.
func (s *Sniffer) FunctionStart(q *frame.Query) (addr uint64, ok bool) {
	lo, _, ok := s.FunctionBounds(q)
	return lo, ok
}

// FunctionBounds returns the code of the function that q.AddressInBlock is in: of a method's body,
// or of a handler.
func (*Sniffer) FunctionBounds(q *frame.Query) (lo, hi uint64, ok bool) {
	c, why := find(q)
	return c.Base + uint64(c.Function.Begin), c.Base + uint64(c.Function.End), why == frame.Claimed
}
