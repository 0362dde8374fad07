package sniffer_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
)

// hostile is a target whose only module and stack are any bytes.
type hostile struct {
	file, stack []byte
	pc, fp      uint64
	modules     *target.Modules
}

const (
	hostileBias  = 0x10000
	hostileStack = 0x7fff0000
	hostileLimit = 300
)

func newHostile(file, stack []byte, pc, fp uint64) *hostile {
	h := &hostile{file: file, stack: stack, pc: hostileBias + pc%uint64(len(file)+1), fp: hostileStack + fp%uint64(len(stack)+1)}
	m := target.NewModule("hostile", []target.Mapping{{Lo: hostileBias, Hi: hostileBias + uint64(len(file)) + 1, Exec: true}},
		func() (*target.Image, error) { return target.OpenImage(bytes.NewReader(file), int64(len(file))) })
	h.modules = target.NewModules([]*target.Module{m}, nil)
	return h
}

func (h *hostile) Arch() *arch.Arch                  { return amd64.Arch }
func (h *hostile) Memory() target.Memory             { return h }
func (h *hostile) Threads() ([]target.Thread, error) { return []target.Thread{h}, nil }
func (h *hostile) Modules() *target.Modules          { return h.modules }
func (h *hostile) Close() error                      { return nil }
func (h *hostile) ID() int                           { return 1 }
func (h *hostile) Name() string                      { return "hostile" }

func (h *hostile) Registers(r *arch.Registers) error {
	for n := range amd64.R15 {
		r.Set(n, hostileStack+8*uint64(n))
	}
	r.Set(amd64.RIP, h.pc)
	r.Set(amd64.RSP, hostileStack)
	r.Set(amd64.RBP, h.fp)
	return nil
}

func (h *hostile) ReadMemory(addr uint64, p []byte) (int, error) {
	from, base := h.stack, uint64(hostileStack)
	if addr < hostileStack {
		from, base = h.file, hostileBias
	}
	if addr < base || addr-base >= uint64(len(from)) {
		return 0, target.ErrUnmapped
	}
	n := copy(p, from[addr-base:])
	if n < len(p) {
		return n, target.ErrUnmapped
	}
	return n, nil
}

// FuzzUnwind unwinds any stack through any file: it must end, with a reason, and
// between two normal frames only outward.
func FuzzUnwind(f *testing.F) {
	for _, path := range []string{"../testdata/bin/mix-v3", "../testdata/bin/steps-v2", "../testdata/bin/mix-v3-noheaders"} {
		file, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		stack := make([]byte, 512)
		for i := 0; i < len(stack); i += 8 {
			amd64.Arch.Order.PutUint64(stack[i:], hostileBias+0x1200+uint64(i)) // return addresses
		}
		f.Add(file, stack, uint64(0x1200), uint64(64))
		f.Add(file[:len(file)/2], stack, uint64(0x1130), uint64(0))
	}
	f.Fuzz(func(t *testing.T, file, stack []byte, pc, fp uint64) {
		h := newHostile(file, stack, pc, fp)
		s, err := frame.New(h, h, sniffer.Table(amd64.Arch))
		if err != nil {
			t.Fatal(err)
		}
		s.Limit = hostileLimit
		var last *frame.Frame
		for x, err := range s.All() {
			if err != nil {
				break
			}
			if last != nil && last.Level > 0 && last.Type() == frame.Normal && last.Next().Type() == frame.Normal {
				this, _ := last.CFA()
				next, _ := last.Next().CFA()
				if this < next {
					t.Fatalf("%v lies inside %v and has a PREVIOUS", last, last.Next())
				}
			}
			for _, r := range amd64.Arch.Regs {
				x.Register(r.Num)
			}
			last = x
		}
		if last.StopReason() == frame.NoReason {
			t.Fatal("the stack ended without a reason")
		}
		if last.StopReason() == frame.Limit {
			return // it may go on for as long as memory does
		}
		if err := walktest.New(h.Modules(), sniffer.Table(amd64.Arch)).Check(h, h); err != nil {
			t.Fatal(err)
		}
	})
}
