package gostack

import (
	"github.com/sfwalk/sfwalk/format/gopclntab"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
)

const (
	noModule   = frame.Answer("no module is mapped at PC")
	notGo      = frame.Answer("the module has no Go code")
	noMachine  = frame.Answer("Go's stacks on this architecture are not known")
	noFunction = frame.Answer("no function of the module's Go function table is at PC")
)

// program is the Go part of a module.
type program struct {
	*goruntime.Program
	m   *machine
	why frame.Answer // Claimed, or why the module has no Go part
}

type programKey struct{}

// programOf returns the Go part of the module that a frame is in. why is Claimed, or says why the
// module has none.
func programOf(q *frame.Query) (p *program, why frame.Answer) {
	if q.Module == nil {
		return nil, noModule
	}
	p = q.Module.Memo(programKey{}, func() any {
		p := &program{m: machineOf(q.Arch)}
		if p.m == nil {
			p.why = noMachine
		} else if opened, err := goruntime.Open(q.Module, q.Arch); err != nil {
			p.why = notGo
		} else {
			p.Program = opened
		}
		return p
	}).(*program)
	return p, p.why
}

// function returns the function that a frame is in.
func (p *program) function(q *frame.Query) (f gopclntab.Func, ok bool) {
	return p.Table.Find(q.AddressInBlock - p.Bias)
}

// previous returns what the code of a function of assembly tells about PREVIOUS. Its Row holds for
// PC alone.
func (p *program) previous(f gopclntab.Func, q *frame.Query) (goruntime.Previous, bool) {
	a, ok := p.Previous(f, q.PC-p.Bias, !q.Innermost())
	a.Row.Lo, a.Row.Len = q.AddressInBlock, 1
	return a, ok
}
