package live

import (
	"bytes"
	"errors"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/target"
)

// errOtherClass says that a thread executes code of another width than its program has: the kernel
// then gives the register set of that other architecture.
var errOtherClass = errors.New("its registers belong to code of another width")

// maxRegisterSet is the size of the largest set that is read, bytes: arm64's scalable vectors.
const maxRegisterSet = 544

// readRegisters reads a stopped thread's registers: each of the kernel's register sets, which core
// files have in the same layout. room has maxRegisterSet bytes. values says that values in frames
// are asked for.
func readRegisters(a *arch.Arch, tid int, r *arch.Registers, room []byte, values bool) error {
	for i := range a.KernelRegs {
		k := &a.KernelRegs[i]
		if k.ForValues && !values {
			continue
		}
		size := k.Size
		if i == 0 {
			size = len(room) // the size of the whole set tells whose it is
		}
		n, err := registerSet(tid, k.Note, room[:size])
		switch {
		case err != nil && i == 0:
			return err
		case err != nil:
			continue // this processor, or emulator, has no such registers
		case i == 0 && n != k.Size:
			return errOtherClass
		}
		k.Get(a, room[:n], r)
	}
	return nil
}

// readWideSets reads the register sets of a stopped thread that have its wide registers. room has
// target.MaxRegisterSet bytes. last are the sets of a thread that was read before: threads that
// wait at the same place often have equal sets, which they share.
func readWideSets(a *arch.Arch, tid int, room []byte, last target.RegisterSets) (sets target.RegisterSets) {
	for i, note := range target.WideSets(a) {
		n, err := registerSet(tid, note, room)
		if err != nil || n == len(room) { // this processor has none, or a larger one
			continue
		}
		if i < len(last) && last[i].Note == note && bytes.Equal(last[i].Data, room[:n]) {
			sets = append(sets, last[i])
			continue
		}
		sets = append(sets, target.RegisterSet{Note: note, Data: bytes.Clone(room[:n])})
	}
	if layout := control.HostLayout(); layout != nil {
		sets = append(sets, target.RegisterSet{Note: control.NTXLayout, Data: layout})
	}
	return sets
}

// readPACMask reads which bits of a code address may be a pointer authentication code; 0 if the
// kernel does not tell.
func readPACMask(tid int, room []byte) uint64 {
	if !hostArch.PAuth {
		return 0
	}
	p := room[:16]
	if n, err := registerSet(tid, elfnote.PACMask, p); err != nil || n < len(p) {
		return 0
	}
	return hostArch.Order.Uint64(p[8:])
}
