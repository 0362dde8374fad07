package perfevent_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/perfevent"
)

var usual = uint64(perfevent.SampleIdentifier | perfevent.SampleIP | perfevent.SampleTID | perfevent.SampleTime | perfevent.SampleCPU | perfevent.SamplePeriod |
	perfevent.SampleCallchain | perfevent.SampleRegsUser | perfevent.SampleStackUser)

// The fields of a sample, in both byte orders, as perf_event_open(2) lays them out.
func TestSample(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		f := perfevent.Format{SampleType: usual, UserRegs: 1<<7 | 1<<8, IDAll: true, Order: order}
		whole := sample(order, 2)
		r, rest, err := f.Next(whole)
		if err != nil || len(rest) != 0 || r.Type != perfevent.RecordSample || r.Misc != perfevent.MiscUser {
			t.Fatalf("%+v, %d bytes more, %v", r, len(rest), err)
		}
		var s perfevent.Sample
		if err := f.Sample(r, &s); err != nil {
			t.Fatal(err)
		}
		if s.ID != (perfevent.ID{PID: 42, TID: 43, Time: 1000, ID: 77}) || s.IP != 0x401000 || s.Period != 5 || s.ABI != perfevent.Regs64 {
			t.Errorf("%+v", s)
		}
		if !slices.Equal(s.Regs, []uint64{0x100, 0x101}) || !slices.Equal(s.Chain, []uint64{perfevent.ContextUser, 0x401000, 0x402000}) {
			t.Errorf("registers %#x, call chain %#x", s.Regs, s.Chain)
		}
		if len(s.Stack) != 8 || order.Uint64(s.Stack) != 0x1111 || s.Full {
			t.Errorf("stack %x, full %v", s.Stack, s.Full)
		}
		for n := 8; n < len(whole)-8; n += 8 { // each shorter record lacks a field
			r.Body = whole[8:n]
			if err := f.Sample(r, &s); !errors.Is(err, perfevent.ErrShort) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	}
}

// A broken size is an error, and not a record.
func TestNext(t *testing.T) {
	f := perfevent.Format{Order: binary.LittleEndian}
	for _, size := range []uint16{0, 7, 100} {
		b := record(binary.LittleEndian, perfevent.RecordLost, 0, make([]byte, 16))
		binary.LittleEndian.PutUint16(b[6:], size)
		if _, _, err := f.Next(b); !errors.Is(err, perfevent.ErrShort) {
			t.Errorf("size %d: %v", size, err)
		}
	}
}
