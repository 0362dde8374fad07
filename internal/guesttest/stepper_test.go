//go:build linux

package guesttest

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// A stepper is a static guest of one thread that is run instruction by
// instruction through qemu's stub: a target that is new at each of them.
type stepper struct {
	t       *testing.T
	conn    net.Conn
	r       *bufio.Reader
	arch    *arch.Arch
	modules *target.Modules
	regs    arch.Registers
}

// newStepper starts the guest. exe is its file, or a copy without tables.
func newStepper(t *testing.T, g *Guest, exe string) *stepper {
	t.Helper()
	conn, err := net.Dial("unix", g.Serve(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	s := &stepper{t: t, conn: conn, r: bufio.NewReader(conn), arch: arch.ByName(g.GOARCH)}
	s.modules = target.NewModules([]*target.Module{s.module(exe)}, nil)
	// qemu answers for single registers once its description was asked for.
	s.ask("qSupported:multiprocess-")
	s.ask("qXfer:features:read:target.xml:0,100")
	s.read()
	return s
}

func (s *stepper) module(exe string) *target.Module {
	f, err := elf.Open(exe)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	const page = 0xfff
	var mappings []target.Mapping
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Filesz > 0 {
			mappings = append(mappings, target.Mapping{
				Lo: p.Vaddr &^ page, Hi: (p.Vaddr + p.Memsz + page) &^ page, Offset: p.Off &^ page, Exec: p.Flags&elf.PF_X != 0,
			})
		}
	}
	im, file, err := target.OpenFile(exe)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { file.Close() })
	return target.NewModule(exe, mappings, func() (*target.Image, error) { return im, nil })
}

// ask sends one packet and returns the stub's answer.
func (s *stepper) ask(packet string) string {
	s.t.Helper()
	var sum byte
	for i := range len(packet) {
		sum += packet[i]
	}
	fmt.Fprintf(s.conn, "$%s#%02x", packet, sum)
	for {
		p, err := readPacket(s.r)
		if err != nil {
			s.t.Fatalf("the stub's answer to %q: %v", packet, err)
		}
		if len(p) > 1 {
			s.conn.Write([]byte("+"))
			return string(payload(p))
		}
	}
}

// step runs one instruction; false where it was the last one.
func (s *stepper) step() bool {
	answer := s.ask("s")
	if strings.HasPrefix(answer, "W00") {
		return false
	}
	if !strings.HasPrefix(answer, "T05") {
		s.t.Fatalf("the stub's answer to a step is %q", answer)
	}
	s.read()
	return true
}

// fprs are the floating-point registers of s390x in the order of their DWARF
// numbers, from 16 on.
var fprs = []int{0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15}

func (s *stepper) read() {
	g, err := hex.DecodeString(s.ask("g"))
	if err != nil || len(g) < 18*8 {
		s.t.Fatalf("the stub's registers: %d bytes, %v", len(g), err)
	}
	s.regs = arch.Registers{}
	word := func(i int) uint64 { return s.arch.Order.Uint64(g[8*i:]) }
	if s.arch.Name == "arm64" {
		for i := range 33 { // x0 to x30, sp, pc
			s.regs.Set(trad.Reg(i), word(i))
		}
		return
	}
	s.regs.Set(64, word(0))
	s.regs.Set(65, word(1))
	for i := range 16 {
		s.regs.Set(trad.Reg(i), word(2+i))
	}
	for i, n := range fprs {
		f, err := hex.DecodeString(s.ask(fmt.Sprintf("p%x", 35+n)))
		if err != nil || len(f) != 8 {
			s.t.Fatalf("the stub's f%d: %d bytes, %v", n, len(f), err)
		}
		s.regs.Set(trad.Reg(16+i), s.arch.Order.Uint64(f))
	}
}

func (s *stepper) Arch() *arch.Arch                  { return s.arch }
func (s *stepper) Memory() target.Memory             { return s }
func (s *stepper) Threads() ([]target.Thread, error) { return []target.Thread{s}, nil }
func (s *stepper) Modules() *target.Modules          { return s.modules }
func (s *stepper) Close() error                      { return nil }
func (s *stepper) ID() int                           { return 1 }
func (s *stepper) Name() string                      { return "" }

func (s *stepper) Registers(f *arch.Registers) error {
	*f = s.regs
	return nil
}

func (s *stepper) ReadMemory(addr uint64, p []byte) (n int, err error) {
	for n < len(p) {
		data, err := hex.DecodeString(s.ask(fmt.Sprintf("m%x,%x", addr+uint64(n), min(len(p)-n, 1024))))
		if err != nil || len(data) == 0 {
			return n, target.ErrUnmapped
		}
		n += copy(p[n:], data)
	}
	return n, nil
}
