package sniffer_test

import (
	"bytes"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/goruntime"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// In runtime.clone the system call (its number and form are in Linux's ABI) returns twice: with 0
// in the new thread, whose stack is empty, and with the thread's number to runtime.newosproc.
func TestGoNewborn(t *testing.T) {
	for _, tt := range []struct {
		arch *arch.Arch
		code string // the system call
	}{{amd64.Arch, "\x0f\x05"}, {arm64.Arch, "\x01\x00\x00\xd4"}, {s390x.Arch, "\x0a\x78"}} {
		t.Run(tt.arch.Name, func(t *testing.T) {
			im := walktest.Open(t, gdbtest.Build(t, "gotarget", "CGO_ENABLED=0", "GOARCH="+tt.arch.Name))
			m := walktest.Map("gotarget", im, libcBias)
			table, bias, err := goruntime.Table(m)
			if err != nil {
				t.Fatal(err)
			}
			text := func(name string) (lo uint64, code []byte) {
				for _, s := range append(im.Lookup(name+".abi0", 1), im.Lookup(name, 1)...) {
					f, _ := table.Find(s.Addr)
					code = make([]byte, f.Hi-f.Lo)
					return f.Lo + bias, code[:im.ReadLoaded(f.Lo, code)]
				}
				t.Fatal(name)
				return 0, nil
			}
			lo, code := text("runtime.clone")
			at := bytes.Index(code, []byte(tt.code))
			if at < 0 {
				t.Fatal("no system call")
			}
			pc := lo + uint64(at+len(tt.code))
			from, calls := text("runtime.newosproc")
			ra := uint64(0)
			for i := arch.MaxCall; i <= len(calls); i++ {
				if to, ok := tt.arch.CallTarget(calls[i-arch.MaxCall:i], from+uint64(i)); ok && to == lo {
					ra = from + uint64(i)
				}
			}
			for i := 64; ra == 0 && i < len(calls); i += 2 { // newosproc makes the call by another function
				if tt.arch.AfterCall(calls[i-arch.MaxCall : i]) {
					ra = from + uint64(i)
				}
			}
			l := &libc{arch: tt.arch, image: im, modules: target.NewModules([]*target.Module{m}, nil)}
			for _, child := range []bool{true, false} {
				l.regs = map[trad.Reg]uint64{tt.arch.PC: pc, tt.arch.SP: libcStack + uint64(len(l.stack)), tt.arch.SystemResult: 0}
				if !child {
					l.regs[tt.arch.SP], l.regs[tt.arch.SystemResult] = libcStack+1024, 4242
					tt.arch.Order.PutUint64(l.stack[1024:], ra)
					l.regs[tt.arch.RA] = ra
					l.regs[tt.arch.PC] = pc // RA, where a call pushes it
				}
				stack, err := frame.New(l, l, sniffer.Table(tt.arch))
				if err != nil {
					t.Fatal(err)
				}
				f, err := stack.Frame(0)
				if err != nil {
					t.Fatal(err)
				}
				prev, err := f.Prev()
				switch {
				case child && (prev != nil || f.StopReason() != frame.Outermost):
					t.Errorf("the new thread was called: %v, %v, by %s", prev, err, f.Sniffer())
				case !child && (prev == nil || prev.PC() != ra):
					t.Errorf("the thread that goes on was called by %v, %v; want %#x", prev, err, ra)
				}
				if err := walktest.New(l.modules, sniffer.Table(tt.arch)).Check(l, l); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
