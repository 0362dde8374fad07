package fibers

import (
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// stopped is a fiber that does not run, as a thread.
type stopped struct {
	id     int
	regs   arch.Registers
	memory target.Memory
}

func (s *stopped) ID() int      { return s.id }
func (s *stopped) Name() string { return "" }

// Registers implements [target.Thread].
func (s *stopped) Registers(regs *arch.Registers) error {
	*regs = s.regs
	return nil
}

// StackMemory has the walk read memory of the fibers' moment; see [target.MemoryOf].
func (s *stopped) StackMemory() target.Memory { return s.memory }

// first are the offsets of the first register that jump_fcontext saves, behind what else it does:
// Boost up to 1.87; with room for the guard of the stack; with the pointer to a shadow stack.
var first = [...]uint64{8, 16, 24}

// order is the order of the registers.
var order = [...]trad.Reg{amd64.R12, amd64.R13, amd64.R14, amd64.R15, amd64.RBX, amd64.RBP, amd64.RIP}

// savedIn returns a fiber with the registers that jump_fcontext has put at an address. The last of
// them is where the fiber goes on, behind a call.
func (t *tasks) savedIn(at uint64, thread int) (*stopped, error) {
	defer t.Err()
	for _, off := range first {
		s := &stopped{id: thread, memory: t.Reader.Memory()}
		pc := t.Pointer(at + off + 8*uint64(len(order)-1))
		var code [arch.MaxCall]byte
		if m := t.modules.Find(pc); m == nil || !t.Bytes(pc-arch.MaxCall, code[:]) || !t.arch.AfterCall(code[:]) {
			t.Err()
			continue
		}
		for i, reg := range order {
			s.regs.Set(reg, t.Pointer(at+off+8*uint64(i)))
		}
		s.regs.Set(amd64.RSP, at+off+8*uint64(len(order)))
		return s, t.Err()
	}
	return nil, fmt.Errorf("its registers are not where jump_fcontext saves them (%#x)", at)
}
