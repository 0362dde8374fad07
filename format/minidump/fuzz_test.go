package minidump

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzRead reads dumps, and all that is asked of them.
func FuzzRead(f *testing.F) {
	for _, order := range []interface {
		binary.ByteOrder
		binary.AppendByteOrder
	}{binary.LittleEndian, binary.BigEndian} {
		whole := testDump(order)
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	f.Add(lldbDump(11, "signal SIGSEGV: address not mapped to object (fault address=0x45)"))
	f.Add(lldbDump(2, "breakpoint 1.1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// Each part is read once for each entry that refers to it.
		bounds.Hold(t, 1<<20+maxRead, func() {
			d, err := Read(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				return
			}
			for _, r := range d.Ranges() {
				if r.Offset+r.Size > uint64(len(data)) || r.Lo+r.Size < r.Lo && r.Lo+r.Size != 0 {
					t.Errorf("range %+v", r)
				}
			}
			for i := range d.Threads[:min(len(d.Threads), 10)] {
				d.Registers(d.ContextOf(&d.Threads[i]))
			}
			for i := range d.Exceptions {
				_, _ = d.ReasonOf(&d.Exceptions[i]), d.AddressOf(&d.Exceptions[i])
			}
			if d.Died() && d.Exception == nil {
				t.Error("died of no exception")
			}
			for i := range d.Modules {
				m := &d.Modules[i]
				_, _, _ = m.DebugFile(), m.DebugID(d), m.CodeID(d)
			}
			d.Reason()
			d.CrashAddress()
			d.Requesting()
			d.PID()
			d.System.Describe()
		})
	})
}
