package coreclr

import (
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/trad"
)

// Hijack is the sniffer for the stub by which the run time stops threads that run managed code. It
// stands before the sniffers of tables: the run time's own table says that the stub is called.
type Hijack struct{}

func (*Hijack) Name() string { return "coreclr-hijack" }

const (
	notRuntime = frame.Answer("PC is not in .NET's run time")
	noTrip     = frame.Answer("PC is not in the stub by which the run time stops threads")
	noReturn   = frame.Answer("the thread's record does not tell where the stub returns to")
)

// registers are DWARF's numbers of the registers that the processor numbers otherwise.
var registers = [16]trad.Reg{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

type inKey struct{}

func (*Hijack) Sniff(q *frame.Query) (trad.Row, frame.Answer) {
	if q.Module == nil || !q.Arch.CoreCLR || !q.Module.Memo(inKey{}, func() any { return coreclr.In(q.Module) }).(bool) {
		return trad.Row{}, notRuntime
	}
	begin, _, ok := q.FunctionAt(q.AddressInBlock)
	if !ok || q.PC-begin > coreclr.TripSize {
		return trad.Row{}, noTrip
	}
	code := q.Read(begin, coreclr.TripSize)
	if !coreclr.IsTrip(code) {
		return trad.Row{}, noTrip
	}
	trip, ok := coreclr.ReadTrip(code, q.PC-begin)
	vm, err := coreclr.Of(q.Modules, q.Memory, q.Arch)
	sp := q.This.Register(q.Arch.SP)
	if !ok || err != nil || !sp.Known() {
		return trad.Row{}, noTrip
	}
	above := trip.Below + 8*int32(len(trip.Pushed))
	row := trad.Row{
		Lo: q.PC, Len: 1, Flags: trad.Once | trad.InPrologue,
		CFA: trad.Rule{Kind: trad.InReg, Reg: q.Arch.SP, Off: above},
		RA:  trad.Rule{Kind: trad.Saved, Off: -8}, FP: trad.Rule{Kind: trad.Same},
	}
	others := &trad.OtherRules{Default: trad.Undefined}
	at := map[trad.Reg]int32{}
	for i, reg := range trip.Pushed {
		if i > 0 && reg > 2 { // the first place is the return address's; rax, rcx and rdx are values that are returned
			at[registers[reg]] = -8 * int32(i+1)
		}
	}
	for _, reg := range []trad.Reg{3, 12, 13, 14, 15} {
		rule := trad.Rule{Kind: trad.Same}
		if off, saved := at[reg]; saved {
			rule = trad.Rule{Kind: trad.Saved, Off: off}
		}
		others.Regs = append(others.Regs, trad.RegRule{Reg: reg, Rule: rule})
	}
	if off, saved := at[q.Arch.FP]; saved {
		row.FP = trad.Rule{Kind: trad.Saved, Off: off}
	}
	row.Others = others
	to := vm.Hijacked(q.Modules.MemoryOr(q.Memory), sp.Bits+uint64(above)-8)
	switch {
	case to != 0:
		row.RA, others.Exprs = trad.Rule{Kind: trad.ValExpr}, []trad.Expression{trad.Constant(to)}
	case len(trip.Pushed) == 0:
		return trad.Row{}, noReturn
	}
	return row, frame.Claimed
}
