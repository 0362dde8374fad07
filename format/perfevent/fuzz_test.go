package perfevent_test

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/format/perfevent"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
)

// FuzzRecords reads any bytes as records of any format.
func FuzzRecords(f *testing.F) {
	all := uint64(perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleCPU | perfevent.SamplePeriod |
		perfevent.SampleCallchain | perfevent.SampleRegsUser | perfevent.SampleStackUser)
	f.Add(sample(binary.LittleEndian, 2), all, uint64(0), uint64(3), false)
	f.Add(sample(binary.BigEndian, 2), all, uint64(0), uint64(3), true)
	f.Add(sample(binary.LittleEndian, 2), all|perfevent.SampleRead|perfevent.SampleBranch|perfevent.SampleRaw, uint64(31), uint64(3), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordMmap2, perfevent.MiscMmapBuildID, append(make([]byte, 64), "/lib/x\x00\x00"...)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordComm, perfevent.MiscExec, append(make([]byte, 8), "name\x00\x00\x00\x00"...)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordFork, 0, make([]byte, 24+40)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordSwitchCPUWide, perfevent.MiscSwitchOut, make([]byte, 8+40)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordCallchainDeferred, perfevent.MiscUser, append([]byte{9, 0, 0, 0, 0, 0, 0, 0, 1}, make([]byte, 15+40)...)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordLost, 0, make([]byte, 16+40)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.LittleEndian, perfevent.RecordSwitch, 0, make([]byte, 40)), all, uint64(0), uint64(0), false)
	f.Add(record(binary.BigEndian, perfevent.RecordMmap, 0, append(make([]byte, 32), "/lib/x\x00\x00"...)), all, uint64(0), uint64(0), true)
	f.Add(record(binary.LittleEndian, perfevent.RecordKsymbol, 0, append(make([]byte, 16), "bpf_prog\x00\x00\x00\x00\x00\x00\x00\x00"...)), all, uint64(0), uint64(0), false)
	f.Fuzz(func(t *testing.T, data []byte, fields, read, regs uint64, big bool) {
		bounds.Hold(t, 64<<10+32*len(data), func() {
			format := perfevent.Format{SampleType: fields, ReadFormat: read, UserRegs: regs, BranchType: read, IDAll: true, Order: binary.LittleEndian}
			if big {
				format.Order = binary.BigEndian
			}
			var s perfevent.Sample
			for len(data) > 0 {
				r, rest, err := format.Next(data)
				if err != nil {
					break
				}
				data = rest
				switch r.Type {
				case perfevent.RecordSample:
					if err := format.Sample(r, &s); err == nil && len(s.Stack)+8*len(s.Chain) > len(r.Body) {
						t.Errorf("a sample of %d bytes has a stack of %d and a chain of %d", len(r.Body), len(s.Stack), len(s.Chain))
					}
				case perfevent.RecordComm:
					format.Comm(r)
				case perfevent.RecordFork, perfevent.RecordExit:
					format.Fork(r)
				case perfevent.RecordCallchainDeferred:
					if d, err := format.Deferred(r); err == nil && 8*len(d.Chain) > len(r.Body) {
						t.Errorf("a record of %d bytes has a chain of %d", len(r.Body), len(d.Chain))
					}
				case perfevent.RecordLost:
					format.Lost(r)
				case perfevent.RecordSwitch, perfevent.RecordSwitchCPUWide:
					format.Switch(r)
				case perfevent.RecordKsymbol:
					format.Ksymbol(r)
				default:
					format.Mmap(r)
				}
			}
		})
	})
}

// record makes a record of its body.
func record(order binary.ByteOrder, kind uint32, misc uint16, body []byte) []byte {
	b := make([]byte, 8, 8+len(body))
	order.PutUint32(b, kind)
	order.PutUint16(b[4:], misc)
	order.PutUint16(b[6:], uint16(8+len(body)))
	return append(b, body...)
}

// sample makes a sample with as many registers as are given, a call chain of three addresses, and a
// stack of 16 bytes, of which 8 were copied.
func sample(order binary.ByteOrder, regs int) []byte {
	var body []byte
	put := func(values ...uint64) {
		for _, v := range values {
			b := make([]byte, 8)
			order.PutUint64(b, v)
			body = append(body, b...)
		}
	}
	put(77, 0x401000) // identifier, IP
	body = append(body, make([]byte, 8)...)
	order.PutUint32(body[16:], 42)
	order.PutUint32(body[20:], 43)
	put(1000)                                         // time
	put(0, 5)                                         // CPU, period
	put(3, perfevent.ContextUser, 0x401000, 0x402000) // call chain
	put(perfevent.Regs64)                             // registers
	for i := range regs {
		put(uint64(0x100 + i))
	}
	put(16, 0x1111, 0x2222, 8) // stack
	return record(order, perfevent.RecordSample, perfevent.MiscUser, body)
}
