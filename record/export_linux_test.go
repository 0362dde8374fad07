package record

import (
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/perfdata"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/target"
)

// Check has each sample's walk checked.
func (r *Recorder) Check(check func(pid int, a *arch.Arch, modules *target.Modules, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason)) {
	r.engine.check = func(s *space, regs *arch.Registers, mem target.Memory, pcs []uint64, stop frame.StopReason) {
		check(s.pid, s.arch, s.modules, regs, mem, pcs, stop)
	}
}

// NoMapFiles leaves out the way to files that needs privileges.
func (r *Recorder) NoMapFiles() { r.machine.noMapFiles = true }

// ReadFileChecked is ReadFile, but has each sample's walk checked: the addresses in block, and
// where they are mapped.
func ReadFileChecked(data *perfdata.Reader, opts FileOptions, check func(tid int32, time uint64, modules *target.Modules, addrs []uint64, stop frame.StopReason)) (*File, error) {
	f := newFile(data, opts)
	f.engine.check = func(s *space, _ *arch.Registers, _ target.Memory, pcs []uint64, stop frame.StopReason) {
		addrs := slices.Clone(pcs)
		s.walker.AddressesInBlock(addrs)
		check(f.engine.sample.TID, f.engine.sample.Time, s.modules, addrs, stop)
	}
	return f, f.read()
}
