//go:build linux && (amd64 || arm64)

package delve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/goroutine"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// Threads returns the threads, in ascending order of their IDs.
func (t *Target) Threads() ([]target.Thread, error) {
	if _, err := t.Proc.Valid(); err != nil {
		return nil, err
	}
	var list []target.Thread
	for _, th := range t.Proc.ThreadList() {
		list = append(list, &thread{th, t.arch})
	}
	slices.SortFunc(list, func(x, y target.Thread) int { return cmp.Compare(x.ID(), y.ID()) })
	return list, nil
}

// thread is a thread with the registers that Delve reads.
type thread struct {
	proc proc.Thread
	arch *arch.Arch
}

func (t *thread) ID() int      { return t.proc.ThreadID() }
func (t *thread) Name() string { return "" }

func (t *thread) Registers(r *arch.Registers) error {
	regs, err := t.proc.Registers()
	if err != nil {
		return fmt.Errorf("registers of thread %d: %w", t.ID(), err)
	}
	// On arm64, callees save some floating-point registers.
	list, err := regs.Slice(t.arch.RA != t.arch.PC)
	if len(list) == 0 {
		return fmt.Errorf("registers of thread %d: Delve knows none: %w", t.ID(), err)
	}
	for _, x := range list {
		if num, ok := registerNumber(t.arch, x.Name); ok && x.Reg != nil {
			x.Reg.FillBytes()
			var bits uint64
			for i, b := range x.Reg.Bytes[:min(8, len(x.Reg.Bytes))] {
				bits |= uint64(b) << (8 * i)
			}
			r.Set(num, bits)
		}
	}
	r.Set(t.arch.PC, regs.PC())
	r.Set(t.arch.SP, regs.SP())
	return nil
}

// registerNumber returns the DWARF number of a register that Delve names.
func registerNumber(a *arch.Arch, name string) (trad.Reg, bool) {
	name = strings.ToLower(name)
	switch {
	case name == "rflags":
		name = "eflags"
	case name == "fp":
		name = "x29"
	case name == "lr":
		name = "x30"
	case a.RA != a.PC && strings.HasPrefix(name, "v"):
		name = "d" + name[1:] // the lower half
	}
	for i := range a.Regs {
		if a.Regs[i].Name == name {
			return a.Regs[i].Num, true
		}
	}
	return 0, false
}

// parked is a goroutine that no thread runs. Its registers have the values that the run time has
// saved.
type parked struct {
	g    goroutine.Goroutine
	arch *arch.Arch
}

func newParked(g *proc.G, a *arch.Arch) *parked {
	return &parked{goroutine.Goroutine{PC: g.PC, SP: g.SP, FP: g.BP, RA: g.LR}, a}
}

func (p *parked) ID() int      { return 0 }
func (p *parked) Name() string { return "" }

func (p *parked) Registers(r *arch.Registers) error {
	p.g.Registers(p.arch, r)
	return nil
}
