package remote

import (
	"errors"
	"slices"
)

// errMisplaced says that the stub has registers in another place than the processor.
var errMisplaced = errors.New(
	"gdbserver before release 15 does not know where this processor has the upper vector registers")

// maxCPUInfo is how much is read of /proc/cpuinfo, bytes: some KiB for each processor.
const maxCPUInfo = 16 << 20

// findMisplaced finds out whether the stub is an old gdbserver that has registers elsewhere than
// the processor, of which /proc/cpuinfo tells.
func (t *Target) findMisplaced() {
	is := t.arch.GDB().Misplaced
	if is == nil || !t.s.features["augmented-libraries-svr4-read"] || t.s.features["QThreadOptions"] {
		return
	}
	may := is(nil)
	if may == nil || !slices.ContainsFunc(t.layout.all, func(d described) bool { return may(d.name) }) {
		return
	}
	info, _ := t.s.readWhole("/proc/cpuinfo", maxCPUInfo)
	t.layout.misplaced = is(info)
}

// isMisplaced reports whether the stub has another register by a name than the processor.
func (l *layout) isMisplaced(name string) bool { return l.misplaced != nil && l.misplaced(name) }

// Misplaced says why some registers of the processor are out of the stub's reach: a function that
// changes them leaves them changed. It is nil if no such registers are known.
func (t *Target) Misplaced() error {
	if t.layout.misplaced != nil {
		return errMisplaced
	}
	return nil
}
