package record

import (
	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// Check has each sample's walk checked.
func (r *Recorder) Check(check func(pid int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)) {
	r.engine.check = func(s *space, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason) {
		check(s.pid, s.arch, s.modules, regs, mem, pcs, stop)
	}
}
