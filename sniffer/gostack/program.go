package gostack

import (
	"strings"
	"sync"

	"github.com/sfwalk/sfwalk/elfimage"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/gopclntab"
	"github.com/sfwalk/sfwalk/internal/gomodule"
)

const (
	noModule   = frame.Answer("no module is mapped at PC")
	notGo      = frame.Answer("the module has no Go code")
	noMachine  = frame.Answer("Go's stacks on this architecture are not known")
	noFunction = frame.Answer("no function of the module's Go function table is at PC")
)

// program is the Go part of a module.
type program struct {
	table *gopclntab.Table
	bias  uint64
	im    *elfimage.Image
	m     *machine
	why   frame.Answer // there is none

	mu      sync.Mutex
	answers map[uint64]map[place]answer // of functions of assembly, by their address
	effort  int                         // that the answers have cost
	layout  layout
	laidOut bool
}

// maxEffort is how many instructions are followed in all functions of a program. Those of
// which it takes it are short, and few.
const maxEffort = 200_000

// place is an instruction, or where a call returns to.
type place struct {
	addr   uint64
	caller bool
}

type programKey struct{}

// programOf returns the Go part of the module that a frame is in; why says that there is none.
func programOf(q *frame.Query) (p *program, why frame.Answer) {
	if q.Module == nil {
		return nil, noModule
	}
	p = q.Module.Memo(programKey{}, func() any { return newProgram(q) }).(*program)
	return p, p.why
}

func newProgram(q *frame.Query) *program {
	p := &program{m: machines[q.Arch.Name]}
	if p.m == nil {
		p.why = noMachine
		return p
	}
	var err error
	if p.table, p.bias, err = gomodule.Table(q.Module); err != nil {
		p.why = notGo
		return p
	}
	if p.im, _, err = q.Module.Image(); err != nil {
		p.why = notGo
	}
	return p
}

// function returns the function that a frame is in.
func (p *program) function(q *frame.Query) (f gopclntab.Func, ok bool) {
	return p.table.Find(q.AddressInBlock - p.bias)
}

// name returns the name of the function at an address of the file.
func (p *program) name(addr uint64) string {
	f, _ := p.table.Find(addr)
	return f.Name()
}

// code returns a function's code; what is beyond maxFunction is left out.
func (p *program) code(f gopclntab.Func) []byte {
	code := make([]byte, min(f.Hi-f.Lo, maxFunction))
	return code[:p.im.ReadLoaded(f.Lo, code)]
}

// answer returns what the code of a function of assembly tells of a frame.
func (p *program) answer(f gopclntab.Func, q *frame.Query) (answer, bool) {
	at := place{q.PC - p.bias, !q.Innermost()}
	p.mu.Lock()
	defer p.mu.Unlock()
	list, ok := p.answers[f.Lo]
	if !ok && p.effort < maxEffort {
		flow := p.follow(f)
		p.effort += flow.visits
		fromC := callsC[base(f.Name())]
		list = make(map[place]answer, len(flow.at)+len(flow.behind))
		for addr, s := range flow.at {
			list[place{addr, false}] = solve(p.m, s, fromC)
		}
		for addr, s := range flow.behind {
			list[place{addr, true}] = solve(p.m, s, fromC)
		}
		if p.answers == nil {
			p.answers = map[uint64]map[place]answer{}
		}
		p.answers[f.Lo] = list
	}
	a, ok := list[at]
	return a, ok && a.known
}

// follow reads a function's code.
func (p *program) follow(f gopclntab.Func) *flow {
	return follow(p.m, p.code(f), f.Lo, p.name, func(pc uint64) (int32, bool) {
		if f.Flags&gopclntab.SPWrite != 0 {
			return 0, false
		}
		delta, _, _, ok := f.SPDelta(pc)
		return delta, ok
	})
}

// base returns a function's name as the source has it: linkers add the ABI.
func base(name string) string { return strings.TrimSuffix(name, ".abi0") }
