package dotnet

import (
	"errors"
	"sync"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
)

// look is what was read of the process at one moment.
type look struct {
	*runtime
	mem   *pages.Pages
	found map[uint64]*place // by address
}

// place is what is at an address of code.
type place struct {
	code   coreclr.Code
	err    error
	stub   bool // it is in no code of a method
	method *method
	frame  language.Frame
	filter bool
}

// at returns what is at an address.
func (l *look) at(pc uint64) *place {
	if p := l.found[pc]; p != nil {
		return p
	}
	p := &place{}
	l.found[pc] = p
	if p.code, p.err = l.vm.Find(l.mem, pc); p.err != nil {
		p.stub = errors.Is(p.err, coreclr.ErrStub)
		return p
	}
	p.method = l.method(l.mem, &p.code)
	p.frame = language.Frame{Function: p.method.function, Place: p.code.Start}
	if p.code.Brought {
		p.frame.Kind = "ReadyToRun"
	}
	l.line(l.mem, &p.code, p.method, pc, &p.frame)
	p.frame.Guess = p.frame.Guess || p.method.of != nil && p.method.of.guess
	if p.code.IsHandler() {
		p.frame.Kind = "handler"
		if p.filter = l.vm.IsFilter(l.mem, &p.code); p.filter {
			p.frame.Kind = "filter"
		}
	}
	return p
}

// looks keeps the look of one [language.Stack.Moment].
type looks struct {
	mu     sync.Mutex
	number uint64
	look   *look // nil while a stack is decorated with it
}

// take returns a look to decorate a stack with. It reads names, lines and tables, and nothing of
// the stack itself.
func (x *runtime) take(s *language.Stack) *look {
	memory := s.Memory
	if s.Moment != 0 {
		memory = x.memory
		x.looks.mu.Lock()
		defer x.looks.mu.Unlock()
		if l := x.looks.look; l != nil && x.looks.number == s.Moment {
			x.looks.look = nil
			return l
		}
	}
	return &look{x, x.pages.Of(memory), map[uint64]*place{}}
}

// give says that a stack was decorated.
func (x *runtime) give(s *language.Stack, l *look) {
	if s.Moment != 0 {
		x.looks.mu.Lock()
		defer x.looks.mu.Unlock()
		if s.Moment >= x.looks.number {
			l, x.looks.look, x.looks.number = x.looks.look, l, s.Moment
		}
	}
	if l != nil {
		x.pages.Free(l.mem)
	}
}
