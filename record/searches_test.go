package record

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// Samples whose stacks lead to thousands of places without tables are not searched without a bound.
// A larger file has more searched.
func TestManySearches(t *testing.T) {
	searched := func(size int64, samples int) (n int64, warned string) {
		e := fileEngine(t)
		var said []string
		e.opts.Warn = func(format string, _ ...any) { said = append(said, format) }
		e.file.size = size
		const bp, sp, ip = 6, 7, 8 // PERF_REG_X86_BP, SP, IP
		e.format.SampleType |= perfevent.SampleStackUser
		e.format.UserRegs = 1<<bp | 1<<sp | 1<<ip
		const code, stack, frames = 0x400000, 0x7000000, 3750
		e.mapped(&perfevent.Mmap{PID: 7, Addr: code, Size: 1 << 24, Path: "/no/such"})
		var copied []byte
		for i := range uint64(frames) {
			copied = binary.LittleEndian.AppendUint64(copied, stack+16*(i+1))
			copied = binary.LittleEndian.AppendUint64(copied, code+0x10+i)
		}
		for range samples {
			e.take(&perfevent.Sample{
				IP: code + 0x10, Misc: perfevent.MiscUser, ID: perfevent.ID{PID: 7, TID: 7},
				ABI: perfevent.Regs64, Regs: []uint64{stack, stack, code + 0x10}, Stack: copied,
			})
		}
		return e.searched, strings.Join(said, "\n")
	}
	var small int64
	var warned string
	bounds.Hold(t, 512<<20, func() { small, warned = searched(20<<10, 80) })
	if strings.Count(warned, "code without tables was searched") != 1 {
		t.Errorf("it is said: %s", warned)
	}
	if large, _ := searched(1<<20, 50); large <= small {
		t.Errorf("%d instructions are searched for a large file, %d for a small one", large, small)
	}
	if _, warned := searched(1<<20, 2); strings.Contains(warned, "searched") {
		t.Errorf("of two samples, it is said: %s", warned)
	}
}
