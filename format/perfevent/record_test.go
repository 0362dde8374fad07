package perfevent_test

import (
	"encoding/binary"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/format/perfevent"
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

// A RecordMmap2 has the file's inode or its build ID, and protection and flags; the RecordMmap2 of
// Linux 3.12 to 3.15 has neither of the last two (include/uapi/linux/perf_event.h of each).
func TestMmap2(t *testing.T) {
	for _, order := range []bothOrder{binary.LittleEndian, binary.BigEndian} {
		f := perfevent.Format{SampleType: perfevent.SampleTID | perfevent.SampleTime, IDAll: true, Order: order}
		u32, u64 := order.AppendUint32, order.AppendUint64
		head := u64(u64(u64(u32(u32(nil, 42), 43), 0x400000), 0x1000), 0x2000)
		inode := u64(u64(u32(u32(nil, 8), 1), 77), 3)
		buildID := append([]byte{20, 0, 0, 0}, "abcdefghijklmnopqrst"...)
		tail := u64(u32(u32(nil, 42), 43), 1000)
		access := u32(u32(nil, 5), 2)
		for _, path := range []string{"/usr/lib/libc.so.6", "[vdso]", "//anon", "/a", "/dev/zero (deleted)"} {
			text := make([]byte, (len(path)+8)&^7)
			copy(text, path)
			for name, tt := range map[string]struct {
				misc uint16
				body []byte
				want perfevent.Mmap
			}{
				"inode":                {perfevent.MiscUser, slices.Concat(head, inode, access, text, tail), perfevent.Mmap{Major: 8, Minor: 1, Inode: 77, Generation: 3, Protection: 5, Flags: 2, Full: true}},
				"build ID":             {perfevent.MiscUser | perfevent.MiscMmapBuildID, slices.Concat(head, buildID, access, text, tail), perfevent.Mmap{BuildID: buildID[4:], Protection: 5, Flags: 2, Full: true}},
				"by perf inject --jit": {perfevent.MiscUser, slices.Concat(head, inode, u32(u32(nil, 0o100644), 1), text, tail), perfevent.Mmap{Major: 8, Minor: 1, Inode: 77, Generation: 3, Protection: 0o100644, Flags: 1, Full: true}},
				"old":                  {perfevent.MiscUser, slices.Concat(head, inode, text, tail), perfevent.Mmap{Major: 8, Minor: 1, Inode: 77, Generation: 3}},
			} {
				want := tt.want
				want.PID, want.TID, want.Addr, want.Size, want.Offset, want.Path = 42, 43, 0x400000, 0x1000, 0x2000, path
				want.ID = perfevent.ID{PID: 42, TID: 43, Time: 1000}
				got, err := f.Mmap(perfevent.Record{Type: perfevent.RecordMmap2, Misc: tt.misc, Body: tt.body})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%v, %s of %s: %+v, %v; want %+v", order, name, path, got, err, want)
				}
			}
		}
	}
}

// bothOrder is binary.LittleEndian or binary.BigEndian.
type bothOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
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
