package hotspot

import (
	"cmp"
	"math"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/vmstructs"
	"github.com/sfwalk/sfwalk/trad"
)

// Sniffer is the sniffer; it keeps no state of its own.
type Sniffer struct{}

func (*Sniffer) Name() string { return "hotspot" }

const (
	inFile      = frame.Answer("PC is in a file's code")
	otherFrames = frame.Answer("the Java virtual machine's frames on this architecture are not known")
	unread      = frame.Answer("the Java virtual machine's tables cannot be read")
	noEffort    = frame.Answer("too much code without tables was looked at already")
	notSetUp    = frame.Answer("the code at PC does not tell whether the frame is set up")
)

func (*Sniffer) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module != nil {
		if _, _, err := q.Module.Image(); err == nil {
			return trad.Row{}, inFile
		}
	}
	vm := machineOf(q)
	if vm.why != frame.Claimed {
		return trad.Row{}, vm.why
	}
	r := vmstructs.Reader{Memory: q.Modules.MemoryOr(q.Memory), Order: q.Arch.Order}
	if lo, n, ok := vm.code.Code(&r); ok && q.AddressInBlock-lo < n {
		return vm.interpreted(q, &r, lo, n)
	}
	if at, ok := r.Word(vm.callStub.Offset); ok && at == q.PC && !q.Innermost() {
		return callStub(q)
	}
	b, err := vm.blobs.Find(&r, q.AddressInBlock, q)
	if err != nil && !q.Innermost() && vm.virtual.IsReturnBarrier(&r, &b, q.PC) {
		return vm.returnBarrier(q, &r)
	}
	if err == vmstructs.ErrNoFrame && !q.Innermost() && vm.virtual.Moves(&r, &b, q.PC) {
		return vm.moves(q, &r, &b)
	}
	if err == vmstructs.ErrNoFrame && vm.adapters.Has(&r, &b) {
		return vm.adapter(q, &r, &b)
	}
	if err != nil {
		return trad.Row{}, frame.Answer(err.Error())
	}
	return vm.compiled(q, &b)
}

// compiled returns the row of a blob's frame. Its size does not change while the frame is set up.
// The return address lies just inward of the CFA, and the caller's frame pointer inward of that.
func (vm *machine) compiled(q *frame.Query, b *vmstructs.Blob) (trad.Row, frame.Answer) {
	word := int32(q.Arch.PtrSize)
	row := trad.Row{
		Lo: b.Lo, Len: uint32(min(b.Hi-b.Lo, math.MaxUint32)),
		CFA:    trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: b.Frame * word},
		RA:     trad.Rule{Kind: trad.Saved, Off: -word},
		FP:     trad.Rule{Kind: trad.Saved, Off: -2 * word},
		Others: vm.compiledOthers,
	}
	switch {
	case !q.Innermost():
		return row, frame.Claimed
	case b.Complete < 0:
		return trad.Row{}, notSetUp
	case q.PC-b.Lo < uint64(b.Complete):
		return beginning(q, b)
	}
	return body(q, b, row)
}

// others returns rules of other registers than the frame pointer. Java's code preserves none but
// the one that has the thread's record; known are rules of more.
func others(a *arch.Arch, known ...trad.RegRule) *trad.OtherRules {
	if j := a.JavaInterpreter; j != nil {
		known = append(known, trad.RegRule{Reg: j.Thread, Rule: trad.Rule{Kind: trad.Same}})
	}
	slices.SortFunc(known, func(a, b trad.RegRule) int { return cmp.Compare(a.Reg, b.Reg) })
	return &trad.OtherRules{Regs: known, Default: trad.Undefined}
}
