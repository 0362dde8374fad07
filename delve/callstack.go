//go:build linux && (amd64 || arm64)

package delve

import (
	"errors"
	"fmt"
	"go/constant"

	"github.com/go-delve/delve/pkg/proc"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/inferior"
)

// roomForC is how many bytes of a thread's own stack must be left for C, where Go is on it or has
// left it.
const roomForC = 64 << 10

// bounds are a range of addresses: lo < SP <= hi.
type bounds struct{ lo, hi uint64 }

func (b bounds) has(sp uint64) bool { return b.lo < sp && sp <= b.hi }

// goStacks are the stacks of a thread of Go's (struct m).
type goStacks struct {
	system, user bounds // of g0 and of the goroutine; user is empty if the thread runs none
	left         uint64 // SP where the goroutine has left the system stack
}

// scanning is added to a goroutine's status while the garbage collector reads its stack (the
// runtime's _Gscan).
const scanning = 0x1000

// caller returns what has a thread call C functions. They run where the thread is, or, if it runs
// Go code, on the thread's own stack: a goroutine's is small, and moves. Go's runtime does so, too,
// when it calls C (runtime.asmcgocall). The error says why the thread cannot call functions.
func (p *heldProcess) caller(tid int) (*inferior.Caller, error) {
	th, ok := p.Proc.FindThread(tid)
	if !ok {
		return nil, fmt.Errorf("thread %d: the process has no such thread", tid)
	}
	p.tid = tid
	t := p.hold(th)
	var regs arch.Registers
	if err := t.Registers(&regs); err != nil {
		return nil, err
	}
	pc, _ := regs.Get(p.arch.PC)
	sp, _ := regs.Get(p.arch.SP)
	g, _ := proc.GetG(th) // an error says that the thread runs no goroutine
	if g != nil && g.Status&^scanning != proc.Gsyscall || p.IsGo(pc) {
		// Only a goroutine that has called C can be called back.
		list, _ := p.Proc.BinInfo().FindFunction("runtime.cgocallback") // none in a program without cgo
		for _, f := range list {
			if err := p.bar(f.Entry, errNoGo); err != nil {
				return nil, err
			}
		}
	}
	if !p.IsGo(pc) {
		return inferior.NewCaller(p, t)
	}
	stacks, err := p.goStacks(th, g)
	if err != nil {
		return nil, fmt.Errorf("thread %d runs Go code, and its own stack is not known: %w", tid, err)
	}
	switch {
	case stacks.system.has(sp):
		sp -= uint64(p.arch.RedZone)
	case stacks.user.has(sp) && stacks.system.has(stacks.left):
		sp = stacks.left
	default:
		return nil, fmt.Errorf("thread %d runs Go code, but not on its goroutine's stack, nor on the thread's own: it handles a signal, or has just begun", tid)
	}
	if sp-stacks.system.lo < roomForC {
		return nil, fmt.Errorf("thread %d: less than %d bytes of its own stack are left at %#x", tid, roomForC, sp)
	}
	return inferior.NewCallerOn(p, t, sp)
}

// maxMs bounds the threads that Go's runtime has.
const maxMs = 1 << 16

var errNoM = errors.New("the runtime has no struct m for the thread, or the program has no DWARF")

// goStacks reads the stacks of a thread from the runtime's variables.
func (p *heldProcess) goStacks(th proc.Thread, g *proc.G) (s goStacks, err error) {
	scope := proc.FrameToScope(p.Proc, p.Proc.Memory(), g, th.ThreadID(), proc.Stackframe{})
	defer func() {
		if r := recover(); r != nil { // of Delve, by a broken struct
			err = fmt.Errorf("%v", r)
		}
	}()
	value := func(expr string) (v uint64) {
		if err != nil {
			return 0
		}
		var x *proc.Variable
		if x, err = scope.EvalExpression(expr, proc.LoadConfig{}); err != nil {
			return 0
		}
		if x.Unreadable != nil {
			err = x.Unreadable
		} else if len(x.Children) == 1 { // a pointer
			v = x.Children[0].Addr
		} else if x.Value == nil {
			err = fmt.Errorf("%s has no value", expr)
		} else {
			v, _ = constant.Uint64Val(x.Value)
		}
		return v
	}
	m := ""
	if g != nil {
		m = "runtime.curg.m"
		s.user = bounds{value("runtime.curg.stack.lo"), value("runtime.curg.stack.hi")}
	} else {
		at := value("runtime.allm")
		for range maxMs {
			if m = fmt.Sprintf(`(*"runtime.m")(%#x)`, at); err != nil || at == 0 || value(m+".procid") == uint64(th.ThreadID()) {
				break
			}
			at = value(m + ".alllink")
		}
		if at == 0 {
			return s, errors.Join(errNoM, err)
		}
	}
	s.system = bounds{value(m + ".g0.stack.lo"), value(m + ".g0.stack.hi")}
	s.left = value(m + ".g0.sched.sp")
	return s, err
}
