//go:build linux && (amd64 || arm64)

package delve

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/inferior"
	"github.com/sfwalk/sfwalk/trad"
)

// heldThread is a thread whose registers are read and written through Delve. It implements
// [inferior.Thread]. Of arm64's SVE registers, Delve keeps the 128 bits that they share with the
// others.
type heldThread struct {
	thread
	process *heldProcess
	saved   []savedThread
}

// savedThread is what [heldThread.Save] keeps. mask is nil if it is not known which signals the
// thread blocks.
type savedThread struct {
	proc.Registers
	mask *sigmask
}

var _ inferior.Returner = (*heldThread)(nil)

var errNoSet = errors.New("these registers are out of Delve's reach")

// registers returns a copy of all the thread's registers.
func (t *heldThread) registers() (proc.Registers, error) {
	regs, err := t.proc.Registers()
	if err == nil {
		regs, err = regs.Copy()
	}
	if err != nil {
		return nil, fmt.Errorf("registers of thread %d: %w", t.ID(), err)
	}
	return regs, nil
}

// setOf returns one of the kernel's register sets of regs. Who changes it calls putSet.
func setOf(regs proc.Registers, note uint32) ([]byte, error) {
	switch r := regs.(type) {
	case *linutil.AMD64Registers:
		switch {
		case note == arch.NTPRStatus:
			return binary.Append(nil, binary.LittleEndian, r.Regs)
		case r.Fpregset == nil || len(r.Fpregset.Xsave) <= xsaveInUse:
		case note == arch.NTFPRegs:
			return r.Fpregset.Xsave[:xsaveInUse], nil
		case note == ntXState:
			return r.Fpregset.Xsave, nil
		}
	case *linutil.ARM64Registers:
		switch {
		case note == arch.NTPRStatus:
			return binary.Append(nil, binary.LittleEndian, r.Regs)
		case note == arch.NTFPRegs && r.Fpregset != nil:
			return r.Fpregset, nil
		}
	}
	return nil, errNoSet
}

// ntXState is NT_X86_XSTATE: XSAVE's area. It begins with the set NT_PRFPREG. At xsaveInUse, it
// says by bits which registers are not as the processor has them at first (Intel SDM, volume 1,
// 13.4).
const (
	ntXState   = 0x202
	xsaveInUse = 512
	x87AndSSE  = 3
)

// putSet makes set, which setOf has returned, a register set of regs.
func putSet(regs proc.Registers, note uint32, set []byte) (err error) {
	switch r := regs.(type) {
	case *linutil.AMD64Registers:
		if note == arch.NTPRStatus {
			_, err = binary.Decode(set, binary.LittleEndian, r.Regs)
		} else if note == arch.NTFPRegs {
			r.Fpregset.Xsave[xsaveInUse] |= x87AndSSE
		}
	case *linutil.ARM64Registers:
		if note == arch.NTPRStatus {
			_, err = binary.Decode(set, binary.LittleEndian, r.Regs)
		}
	}
	return err
}

// places returns where a register is in the kernel's sets, its first bytes first.
func (t *heldThread) places(r trad.Reg) []arch.WidePart {
	if w := t.arch.Wide(r); w != nil {
		return w.Parts
	}
	for i := range t.arch.KernelRegs {
		for _, k := range t.arch.KernelRegs[i].Regs {
			if k.Reg == r {
				return []arch.WidePart{{Note: t.arch.KernelRegs[i].Note, Off: k.Off, Size: k.Size}}
			}
		}
	}
	return nil
}

// each calls do for each part of the n bytes of register r from offset on: with the set, the place
// of the part in it, and that among the n bytes.
func (t *heldThread) each(regs proc.Registers, r trad.Reg, offset, n int, do func(p *arch.WidePart, set []byte, lo, hi, at int) error) error {
	done, begin := 0, 0
	parts := t.places(r)
	for i := range parts {
		p := &parts[i]
		lo, hi, at := max(offset, begin), min(offset+n, begin+p.Size), begin
		begin += p.Size
		if lo >= hi {
			continue
		}
		set, err := setOf(regs, p.Note)
		from, ok := p.At(set, control.HostLayout())
		if err != nil || !ok {
			break
		}
		if err := do(p, set, from+lo-at, from+hi-at, lo-offset); err != nil {
			return err
		}
		done += hi - lo
	}
	if done < n {
		return fmt.Errorf("thread %d: register %s: bytes %d to %d: %w", t.ID(), t.arch.RegName(r), offset, offset+n-1, errNoSet)
	}
	return nil
}

// Registers implements [target.Thread].
//
// [target.Thread]: https://pkg.go.dev/github.com/sfwalk/sfwalk/target#Thread
func (t *heldThread) Registers(to *arch.Registers) error {
	regs, err := t.registers()
	if err != nil {
		return err
	}
	for i := range t.arch.KernelRegs {
		k := &t.arch.KernelRegs[i]
		set, err := setOf(regs, k.Note)
		if err != nil && i == 0 {
			return fmt.Errorf("registers of thread %d: %w", t.ID(), err)
		}
		if err == nil {
			k.Get(t.arch, set[:min(len(set), k.Size)], to)
		}
	}
	return nil
}

// ReadRegister implements [inferior.Thread].
func (t *heldThread) ReadRegister(r trad.Reg, offset int, b []byte) error {
	regs, err := t.registers()
	if err != nil {
		return err
	}
	return t.each(regs, r, offset, len(b), func(_ *arch.WidePart, set []byte, lo, hi, at int) error {
		copy(b[at:], set[lo:hi])
		return nil
	})
}

// WriteRegister implements [inferior.Thread].
func (t *heldThread) WriteRegister(r trad.Reg, offset int, b []byte) error {
	regs, err := t.registers()
	if err != nil {
		return err
	}
	err = t.each(regs, r, offset, len(b), func(p *arch.WidePart, set []byte, lo, hi, at int) error {
		copy(set[lo:hi], b[at:])
		if p.Bits != 0 && p.InUse < len(set) {
			set[p.InUse] |= p.Bits
		}
		return putSet(regs, p.Note, set)
	})
	if err != nil {
		return err
	}
	return t.write(regs)
}

func (t *heldThread) write(regs proc.Registers) error {
	if err := t.proc.RestoreRegisters(regs); err != nil {
		return fmt.Errorf("thread %d: write registers: %w", t.ID(), err)
	}
	return nil
}

// change has do change the set NT_PRSTATUS of the thread.
func (t *heldThread) change(do func(status []byte)) error {
	regs, err := t.registers()
	if err != nil {
		return err
	}
	status, err := setOf(regs, arch.NTPRStatus)
	if err != nil {
		return err
	}
	do(status)
	if err := putSet(regs, arch.NTPRStatus, status); err != nil {
		return err
	}
	return t.write(regs)
}

// Save implements [inferior.Thread].
func (t *heldThread) Save() error {
	regs, err := t.registers()
	if err == nil {
		t.saved = append(t.saved, savedThread{regs, t.sigmask()})
	}
	return err
}

var errNotSaved = errors.New("no state of the thread was saved")

// Restore implements [inferior.Thread]. A system call that the kernel would go on with by what it
// has noted begins again: the kernel may have noted something else meanwhile.
func (t *heldThread) Restore() error {
	if len(t.saved) == 0 {
		return errNotSaved
	}
	if mask := t.saved[len(t.saved)-1].mask; mask != nil {
		if err := t.setSigmask(mask); err != nil {
			return err
		}
	}
	return t.Returned()
}

// Returned implements [inferior.Returner].
func (t *heldThread) Returned() error {
	if len(t.saved) == 0 {
		return errNotSaved
	}
	regs := t.saved[len(t.saved)-1].Registers
	if again := t.arch.Control.BeginAgain; again != nil {
		if status, err := setOf(regs, arch.NTPRStatus); err == nil && again(status) {
			if err := putSet(regs, arch.NTPRStatus, status); err != nil {
				return err
			}
		}
	}
	if err := t.write(regs); err != nil {
		return err
	}
	return t.Drop()
}

// Drop implements [inferior.Thread].
func (t *heldThread) Drop() error {
	if len(t.saved) == 0 {
		return errNotSaved
	}
	t.saved = t.saved[:len(t.saved)-1]
	return nil
}

// Jump implements [inferior.Thread].
func (t *heldThread) Jump(pc uint64) error {
	var to arch.Registers
	to.Set(t.arch.PC, pc)
	return t.jump(&to)
}

// jump sets some of the general registers, the PC among them. The thread leaves a system call for
// good, and no breakpoint is where it stands.
func (t *heldThread) jump(to *arch.Registers) error {
	t.proc.Breakpoint().Clear()
	return t.change(func(status []byte) {
		k := &t.arch.KernelRegs[0]
		k.Put(t.arch, to, status[:min(len(status), k.Size)])
		if call := t.arch.Control.SystemCall; call.Note == arch.NTPRStatus {
			copy(status[call.Off:call.Off+call.Size], t.arch.Control.NoSystemCall)
		}
	})
}

// CanCall implements [inferior.Thread].
func (t *heldThread) CanCall() error {
	shadow := t.arch.Control.ShadowStack
	if shadow.Field == "" {
		return nil
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", t.process.Proc.Pid(), t.ID()))
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, shadow.Field+":"); ok && slices.Contains(strings.Fields(list), shadow.Word) {
			return fmt.Errorf("thread %d has a shadow stack, on which the processor would not find the call's return address", t.ID())
		}
	}
	return nil
}
