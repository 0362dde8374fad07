package goruntime

import (
	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/format/gopclntab"
)

// Callback says what cgocallback has left on the thread's own stack when it went on to the
// goroutine's. All offsets but G0 are from the CFA, which is on the thread's own stack.
type Callback struct {
	SP    int64 // the stack pointer that it has left there, and put into g0.sched.sp
	Saved int64 // where it has put what g0.sched.sp was before
	G0    int64 // in a struct m: the struct g of the thread's own stack
	// Copied are its arguments, which it has copied to the goroutine's stack.
	Copied []Copied
}

// Copied is a word that is on both stacks.
type Copied struct {
	Own int64 // from the CFA
	Now int64 // from the stack pointer on the goroutine's stack
}

// callback returns what the function has left on the stack that it began on, if it has put its
// stack pointer into a word of memory, and what that word was before on that stack.
func (s *state) callback(m *Machine) *Callback {
	for _, w := range s.words {
		if !w.value.from(m.sp) || w.at.kind != deref {
			continue
		}
		was := over(deref, w.at, value{})
		for _, x := range s.words {
			if x.at.from(m.sp) && equal(x.value, was) {
				c := &Callback{SP: w.value.off - m.pushed, Saved: x.at.off - m.pushed, G0: w.at.of.off}
				c.copied(m, s)
				return c
			}
		}
	}
	return nil
}

// copied finds the words of its caller's stack that the function has copied to the stack that it is
// on.
func (c *Callback) copied(m *Machine, s *state) {
	sp := s.get(m.sp)
	for _, w := range near(s, sp) {
		if v := w.value; v.kind == deref && v.off == 0 && v.of.from(m.sp) && v.of.off > 0 {
			c.Copied = append(c.Copied, Copied{Own: v.of.off - m.pushed, Now: w.at.off - sp.off})
		}
	}
}

// unlock is the function of the runtime that lets a goroutine go on on any thread.
const unlock = "runtime.unlockOSThread"

// Locked returns the offset, in a struct g, of the struct m of the only thread that may run the
// goroutine. ok is false if the code that sets it to zero does not tell.
func (p *Program) Locked() (offset int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.lockRead {
		p.lockRead = true
		for i := range p.Table.Len() {
			if f, ok := p.Table.Func(i); ok && Base(f.Name()) == unlock {
				p.locked = p.clears(f)
				break
			}
		}
	}
	return p.locked, p.locked != 0
}

// clears returns the offset of the one word in the running goroutine's struct g to which a function
// that the compiler made gives a constant; 0 if there is none, or there are several.
func (p *Program) clears(f gopclntab.Func) (offset int64) {
	g := value{kind: entry, reg: p.m.InGo}
	forget := func(s *state) { // but for the struct g, which its register always has there
		for r := range s.regs {
			s.regs[r] = value{}
		}
		s.put(p.m.InGo, g)
	}
	s := &step{state: &state{regs: make([]value, p.m.regs)}, m: p.m, code: p.Code(f), lo: f.Lo}
	forget(s.state)
	var in dataflow.Inst
	var ops []dataflow.Op
	for at := 0; at < len(s.code); at += int(in.Len) {
		s.addr, s.words = f.Lo+uint64(at), s.words[:0]
		in, ops = p.m.Decode(s.code, at, ops[:0])
		if in.Len == 0 {
			break
		}
		for _, o := range ops {
			if o.Kind != dataflow.Store || o.Width != 8 || o.Src != dataflow.None || o.Index != dataflow.None {
				continue
			}
			if at := s.Reg(o.Base).plus(int64(o.Imm)); at.from(p.m.InGo) {
				if offset != 0 && offset != at.off {
					return 0
				}
				offset = at.off
			}
		}
		s.execute(&in, ops)
		if in.Flow == dataflow.Call {
			forget(s.state)
		}
		s.put(p.m.InGo, g)
	}
	return offset
}
