package goruntime

import (
	"fmt"
	"sync"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/target"
)

// Program is the Go part of a module. It is safe for concurrent use.
type Program struct {
	Table *gopclntab.Table
	Bias  uint64 // of the module: addresses in Table and Image are lower by it
	Image *elf.Image

	m        *Machine
	mu       sync.Mutex
	previous map[uint64]map[place]Previous // by the address of a function of assembly
	effort   int                           // number of instructions followed for previous
	layout   Layout
	laidOut  bool
	locked   int64 // see Locked
	lockRead bool
}

// maxEffort bounds the instructions that are followed in all functions of a program. Only a few
// short functions must be followed.
const maxEffort = 200_000

// place is the address of an instruction. If caller is true, it is the return address of a call.
type place struct {
	addr   uint64
	caller bool
}

// Open returns the Go part of a module. The error says that it has none, or that the
// processor is not known here.
func Open(module *target.Module, a *arch.Arch) (*Program, error) {
	p := &Program{m: MachineOf(a)}
	if p.m == nil {
		return nil, fmt.Errorf("the runtime of Go on %s is not known", a.Name)
	}
	var err error
	if p.Table, p.Bias, err = Table(module); err != nil {
		return nil, err
	}
	p.Image, _, err = module.Image()
	return p, err
}

// Name returns the name of the function at an address of the file.
func (p *Program) Name(addr uint64) string {
	f, _ := p.Table.Find(addr)
	return f.Name()
}

// Code returns a function's code, or the first maxFunction bytes of it.
func (p *Program) Code(f gopclntab.Func) []byte {
	code := make([]byte, min(f.Hi-f.Lo, maxFunction))
	return code[:p.Image.ReadLoaded(f.Lo, code)]
}

// Previous returns where PREVIOUS's registers are by the code of f, a function of assembly, if THIS
// is at addr, an address of the file. caller says that addr is the return address of a call. ok is
// false if the code does not tell.
func (p *Program) Previous(f gopclntab.Func, addr uint64, caller bool) (x Previous, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, ok := p.previous[f.Lo]
	if !ok && p.effort < maxEffort {
		flow := p.follow(f)
		p.effort += flow.visits
		fromC := CalledByC[Base(f.Name())]
		list = make(map[place]Previous, len(flow.at)+len(flow.behind))
		for addr, s := range flow.at {
			list[place{addr, false}] = solve(p.m, s, fromC)
		}
		for addr, s := range flow.behind {
			list[place{addr, true}] = solve(p.m, s, fromC)
		}
		if p.previous == nil {
			p.previous = map[uint64]map[place]Previous{}
		}
		p.previous[f.Lo] = list
	}
	x, ok = list[place{addr, caller}]
	return x, ok && x.known
}

// follow reads a function's code.
func (p *Program) follow(f gopclntab.Func) *flow {
	return follow(p.m, p.Code(f), f.Lo, p.Name, func(pc uint64) (int32, bool) {
		if f.Flags&gopclntab.SPWrite != 0 {
			return 0, false
		}
		delta, _, _, ok := f.SPDelta(pc)
		return delta, ok
	})
}
