package sniffer_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/internal/test/walktest"
	"github.com/sfwalk/sfwalk/sniffer"
	"github.com/sfwalk/sfwalk/sniffer/dwarf"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// libc is an invented thread in a C library, with a page of stack.
type libc struct {
	arch    *arch.Arch
	modules *target.Modules
	image   *elf.Image
	regs    map[trad.Reg]uint64
	stack   [4096]byte
}

const libcStack = 0x7ffd_0000_0000

func (l *libc) Arch() *arch.Arch                  { return l.arch }
func (l *libc) Memory() target.Memory             { return l }
func (l *libc) Threads() ([]target.Thread, error) { return []target.Thread{l}, nil }
func (l *libc) Modules() *target.Modules          { return l.modules }
func (l *libc) Close() error                      { return nil }
func (l *libc) ID() int                           { return 1 }
func (l *libc) Name() string                      { return "libc" }

func (l *libc) Registers(r *arch.Registers) error {
	for n, v := range l.regs {
		r.Set(n, v)
	}
	return nil
}

func (l *libc) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if addr-libcStack < uint64(len(l.stack)) {
		n = copy(p, l.stack[addr-libcStack:])
	} else {
		n = l.image.ReadLoaded(addr-libcBias, p)
	}
	if n < len(p) {
		err = target.ErrUnmapped
	}
	return n, err
}

const libcBias = 0x7f00_0000_0000

// The tables of the C library end before the system call that makes a thread, "because in
// the child the unwind info will be wrong", as glibc's source says: no call has made the new
// thread's frame, but one has made the old thread's.
func TestNewborn(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		arch       *arch.Arch
		code       string // up to the system call's end
		caller     func(l *libc, ra uint64)
	}{
		{"clone3, amd64", "/lib/x86_64-linux-gnu/libc.so.6", amd64.Arch, "\xb8\xb3\x01\x00\x00\x0f\x05", func(l *libc, ra uint64) {
			binary.LittleEndian.PutUint64(l.stack[1024:], ra)
		}},
		{"clone, amd64", "/lib/x86_64-linux-gnu/libc.so.6", amd64.Arch, "\xb8\x38\x00\x00\x00\x0f\x05", func(l *libc, ra uint64) {
			binary.LittleEndian.PutUint64(l.stack[1024:], ra)
		}},
		{"clone, s390x", "/usr/s390x-linux-gnu/lib/libc.so.6", s390x.Arch, "\x0a\x78", func(l *libc, ra uint64) {
			l.regs[s390x.R14] = ra
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im := walktest.Open(t, gdbtest.File(t, tt.path))
			text, addr, err := im.Section(".text")
			if err != nil {
				t.Fatal(err)
			}
			m := walktest.Map(tt.path, im, libcBias)
			l := &libc{arch: tt.arch, image: im, modules: target.NewModules([]*target.Module{m}, nil)}
			pc := uint64(0)
			for at := 0; pc == 0; {
				i := bytes.Index(text[at:], []byte(tt.code))
				if i < 0 {
					gdbtest.Cannot(t, "this C library's tables cover the system call")
				}
				at += i + len(tt.code)
				block := libcBias + addr + uint64(at)
				if _, ok := dwarf.Before(&frame.Query{AddressInBlock: block, Module: m, Arch: tt.arch}); ok {
					pc = block // no FDE covers it
				}
			}
			l.regs = map[trad.Reg]uint64{tt.arch.PC: pc, tt.arch.SP: libcStack + 1024, tt.arch.SystemResult: 0}
			for _, child := range []bool{true, false} {
				ra := uint64(libcBias) + caller(text, addr, tt.arch)
				if tt.caller(l, ra); !child {
					l.regs[tt.arch.SystemResult] = 4242
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
				case child && (prev != nil || err != nil):
					t.Errorf("the new thread was called: %v, %v, by %s", prev, err, f.Sniffer())
				case !child && (prev == nil || prev.PC() != ra || f.Row().Flags&trad.Guess != 0):
					t.Errorf("the thread that goes on was called by %v, %v; want %#x", prev, err, ra)
				}
				if err := walktest.New(l.modules, sniffer.Table(tt.arch)).Check(l, l); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// caller returns an address behind a call.
func caller(text []byte, addr uint64, a *arch.Arch) uint64 {
	for i := 4096; ; i += 2 {
		if a.AfterCall(text[i-arch.MaxCall : i]) {
			return addr + uint64(i)
		}
	}
}
