package sniffer_test

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	hexadecimal "encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/arm64"
	"github.com/sfwalk/sfwalk/arch/s390x"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// guestCPU describes a processor that qemu emulates.
type guestCPU struct {
	arch     *arch.Arch
	qemu, cc string
	settings []string   // of the build
	regs     []trad.Reg // in the order in which the stub sends them
	alone    []alone    // registers that the stub sends one at a time
	g        trad.Reg   // the register with the address of Go's struct g
	svc      string     // the code of a system call
	number   trad.Reg   // the register with its number
	op       trad.Reg   // the register with a futex's operation
	futex    uint64     // the number of the system call futex
	kind     func(code []byte) (kind deedKind, size uint64)
}

// alone is a register that is not in the stub's packet of all.
type alone struct {
	reg  trad.Reg
	stub int // the stub's number
}

var guestARM64 = &guestCPU{
	arch: arm64.Arch, qemu: "qemu-aarch64", cc: "aarch64-linux-gnu-gcc", g: 28,
	settings: []string{"GOARCH=arm64", "CGO_ENABLED=1", "CC=aarch64-linux-gnu-gcc", "CGO_CFLAGS=-O2 -fomit-frame-pointer",
		"-ldflags=-linkmode=external -extldflags=-static"},
	regs: registersFrom(arm64.X0, 33), // the stub's numbers are DWARF's
	svc:  "\x01\x00\x00\xd4", number: arm64.X0 + 8, op: arm64.X0 + 1, futex: 98,
	kind: func(code []byte) (deedKind, uint64) {
		switch x := binary.LittleEndian.Uint32(code); {
		case x&0xfc000000 == 0x94000000, x&0xfffffc1f == 0xd63f0000: // BL, BLR
			return called, 4
		case x&0xfffffc1f == 0xd65f0000: // RET
			return returned, 4
		}
		return other, 4
	},
}

var guestS390X = &guestCPU{
	arch: s390x.Arch, qemu: "qemu-s390x", cc: "s390x-linux-gnu-gcc", g: s390x.R13,
	settings: []string{"GOARCH=s390x", "CGO_ENABLED=1", "CC=s390x-linux-gnu-gcc", "CGO_CFLAGS=-O2",
		"-ldflags=-linkmode=external -extldflags=-static"},
	regs: append([]trad.Reg{s390x.PSWM, s390x.PSWA}, registersFrom(s390x.R0, 16)...),
	// gcc saves r11 there. DWARF's order of the registers is f0, f2, f4, f6, f1, f3, f5, f7.
	alone: []alone{{16, 35}, {17, 37}, {18, 39}, {19, 41}, {20, 36}, {21, 38}, {22, 40}, {23, 42}},
	svc:   "\x0a\x00", number: s390x.R0 + 1, op: s390x.R0 + 3, futex: 238,
	kind: func(code []byte) (deedKind, uint64) {
		switch {
		case code[0] == 0xc0 && code[1] == 0xe5: // BRASL
			return called, 6
		case code[0] == 0x0d && code[1]>>4 == 14: // BASR
			return called, 2
		case code[0] == 0x07 && code[1] == 0xfe: // BR
			return returned, 2
		}
		return other, 0
	},
}

func registersFrom(first trad.Reg, n int) (list []trad.Reg) {
	for i := range n {
		list = append(list, first+trad.Reg(i))
	}
	return list
}

// TestGoStepsGuests is like TestGoSteps, but with programs for other processors, under qemu. It
// leaves out faults, because a handler's first instruction cannot be seen there. The stub takes a
// millisecond for a step. So the test runs only the beginnings of some scenarios, unless
// SFWALK_GOSTEPS_ARM64 or _S390X names the program.
func TestGoStepsGuests(t *testing.T) {
	for _, tt := range []struct {
		*guestCPU
		variable string
		limits   map[string]int
	}{
		{guestARM64, "SFWALK_GOSTEPS_ARM64", map[string]int{"cgo": 1500, "runtime": 600, "grows": 800}},
		{guestS390X, "SFWALK_GOSTEPS_S390X", map[string]int{"cgo": 1500, "runtime": 600, "frames": 300, "grows": 800}},
	} {
		program := os.Getenv(tt.variable)
		all := program != ""
		if !all {
			program = tt.build(t)
		}
		for i, x := range goScenarios {
			limit := tt.limits[x.name]
			if all && x.name != "panics" {
				limit = 50_000
			}
			if limit == 0 {
				continue
			}
			t.Run(tt.arch.Name+"/"+x.name, func(t *testing.T) {
				gdbtest.Share(t, i)
				function, in := "main."+x.name, x.in
				switch {
				case x.name == "runtime":
					function = "main.works"
				case !all && x.name == "frames":
					in = in[:2]
				}
				missed := "?"
				for try := 0; try < 3 && missed != "" && !t.Failed(); try++ { // the guest's other threads run, too
					missed = stepThrough(t, tt.emulate(t, program, x.name, function), in, limit)
				}
				if missed != "" {
					t.Errorf("not one instruction of %s", missed)
				}
			})
		}
	}
}

func (c *guestCPU) build(t *testing.T) string {
	gdbtest.Tool(t, c.cc)
	return gdbtest.Build(t, "gosteps", c.settings...)
}

// emulated is a thread of a program that qemu runs, by qemu's debugging stub.
type emulated struct {
	conn    net.Conn
	r       *bufio.Reader
	file    *elf.File
	cpu     *guestCPU
	thread  string // the stub's name for the thread
	regs    arch.Registers
	modules *target.Modules
	pages   map[uint64][]byte // of memory, read since the last step
}

func (s *emulated) Arch() *arch.Arch                  { return s.cpu.arch }
func (s *emulated) Memory() target.Memory             { return s }
func (s *emulated) Threads() ([]target.Thread, error) { return []target.Thread{s}, nil }
func (s *emulated) Modules() *target.Modules          { return s.modules }
func (s *emulated) Close() error                      { return nil }
func (s *emulated) ID() int                           { return 1 }
func (s *emulated) Name() string                      { return "emulated" }

func (s *emulated) Registers(r *arch.Registers) error {
	*r = s.regs
	return nil
}

func (s *emulated) ReadMemory(addr uint64, p []byte) (int, error) {
	const size = 1024
	done := 0
	for done < len(p) {
		at := addr + uint64(done)
		page := at &^ (size - 1)
		if s.pages[page] == nil {
			answer, err := s.ask(fmt.Sprintf("m%x,%x", page, size))
			data, bad := hexadecimal.DecodeString(answer)
			if err != nil || bad != nil || len(data) < size {
				return done, target.ErrUnmapped
			}
			s.pages[page] = data
		}
		done += copy(p[done:], s.pages[page][at-page:])
	}
	return done, nil
}

// ask sends a packet of the remote serial protocol and returns the answer.
func (s *emulated) ask(packet string) (string, error) {
	sum := byte(0)
	for _, c := range []byte(packet) {
		sum += c
	}
	if _, err := fmt.Fprintf(s.conn, "$%s#%02x", packet, sum); err != nil {
		return "", err
	}
	if _, err := s.readTo('$'); err != nil {
		return "", err
	}
	body, err := s.readTo('#')
	if err != nil {
		return "", err
	}
	s.r.Discard(2)
	s.conn.Write([]byte("+"))
	return strings.TrimSuffix(body, "#"), nil
}

// readTo reads up to the character delim. If two of the guest's threads stop at once, both read
// from us in qemu, and one may take the acknowledgement that the other waits for. So readTo sends
// another one after some silence. If one thread has taken a packet for the other, no
// acknowledgement helps: after a longer silence, readTo closes the connection, and the test begins
// anew with another qemu.
func (s *emulated) readTo(delim byte) (text string, err error) {
	const silence = 10 * time.Second
	for range 6 {
		s.conn.SetReadDeadline(time.Now().Add(silence))
		var part string
		part, err = s.r.ReadString(delim)
		text += part
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return text, err
		}
		s.conn.Write([]byte("+"))
	}
	s.conn.Close()
	return text, err
}

// fetch reads the registers after a stop, which may have been another thread's.
func (s *emulated) fetch() bool {
	if _, err := s.ask("Hg" + s.thread); err != nil {
		return false
	}
	clear(s.pages)
	answer, err := s.ask("g")
	data, bad := hexadecimal.DecodeString(answer[:min(len(answer), 16*len(s.cpu.regs))])
	if err != nil || bad != nil || len(data) < 8*len(s.cpu.regs) {
		return false
	}
	clear(s.pages)
	for i, r := range s.cpu.regs {
		s.regs.Set(r, s.cpu.arch.Order.Uint64(data[8*i:]))
	}
	for _, x := range s.cpu.alone {
		answer, err := s.ask(fmt.Sprintf("p%x", x.stub))
		data, bad := hexadecimal.DecodeString(answer)
		if err != nil || bad != nil || len(data) != 8 {
			return false
		}
		s.regs.Set(x.reg, s.cpu.arch.Order.Uint64(data))
	}
	return true
}

// emulate runs a scenario until it has reached functions, one after the other. qemu's stub
// sometimes fails when signals come to several threads. Then emulate tries again.
func (c *guestCPU) emulate(t *testing.T, program, scenario string, functions ...string) (s *emulated) {
	t.Helper()
	var err error
	for range 4 {
		if s, err = c.start(t, program, scenario); err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			if err == nil {
				err = s.reach(f)
			}
		}
		if err == nil {
			s.mapped(t, program)
			return s
		}
		t.Log(err)
	}
	t.Fatal("the guest does not come there")
	return nil
}

func (c *guestCPU) start(t *testing.T, program, scenario string) (*emulated, error) {
	qemu := gdbtest.Tool(t, c.qemu)
	dir, err := os.MkdirTemp("", "go") // a socket's name must be short
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "stub")
	cmd := exec.Command(qemu, "-g", socket, program, scenario)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	})
	s := &emulated{cpu: c, pages: map[uint64][]byte{}}
	gdbtest.Await(t, "qemu listens", func() bool { s.conn, err = net.Dial("unix", socket); return err == nil })
	t.Cleanup(func() { s.conn.Close() })
	s.r = bufio.NewReader(s.conn)
	if c.alone != nil { // only who knows of target.xml may ask for them
		if _, err := s.ask("qXfer:features:read:target.xml:0,800"); err != nil {
			return nil, err
		}
	}
	if s.file, err = elf.Open(program); err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.file.Close() })
	return s, nil
}

// mapped makes the list of modules: the program, and perhaps code of qemu's.
func (s *emulated) mapped(t *testing.T, program string) {
	file, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	st, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var maps []target.Mapping
	for _, p := range s.file.Progs {
		if p.Type == elf.PT_LOAD {
			maps = append(maps, target.Mapping{Lo: p.Vaddr &^ 0xfff, Hi: (p.Vaddr + p.Memsz + 0xfff) &^ 0xfff, Offset: p.Off &^ 0xfff, Exec: p.Flags&elf.PF_X != 0})
		}
	}
	s.modules = target.NewModules([]*target.Module{
		target.NewModule(program, maps, func() (*elfimage.Image, error) { return elfimage.Open(file, st.Size()) }),
	}, nil)
	s.modules.ProbeCode = func(addr uint64) bool {
		var b [4]byte
		n, _ := s.ReadMemory(addr, b[:])
		return n == len(b)
	}
}

// reach lets the program run up to a function.
func (s *emulated) reach(function string) error {
	symbols, err := s.file.Symbols()
	if err != nil {
		return err
	}
	at := uint64(0)
	for _, x := range symbols {
		if x.Name == function || x.Name == function+".abi0" {
			at = x.Value
		}
	}
	breakpoint := fmt.Sprintf("0,%x,4", at)
	if _, err := s.ask("Z" + breakpoint); err != nil {
		return err
	}
	answer, err := s.ask("vCont;c")
	for err == nil && strings.HasPrefix(answer, "T") && !strings.HasPrefix(answer, "T05") {
		answer, err = s.ask("vCont;C" + answer[1:3]) // a signal
	}
	if err != nil {
		return err
	}
	if _, thread, ok := strings.Cut(answer, "thread:"); ok {
		s.thread, _, _ = strings.Cut(thread, ";")
	}
	if _, err := s.ask("z" + breakpoint); err != nil || !s.fetch() || s.pc() != at {
		return fmt.Errorf("the guest is at %#x, %s is at %#x (%q, %w)", s.pc(), function, at, answer, err)
	}
	return nil
}

// stay keeps the goroutine from yielding to another one. The other threads run on, and one of them
// may ask the goroutine to yield because it has run for long. To ask, the run time replaces the
// stack bound in struct g by a mark. stay puts the bound back.
func (s *emulated) stay() {
	const stackPreempt, stackGuard = ^uint64(0) - 1313, 928
	var g [24]byte
	order, at := s.cpu.arch.Order, s.regs.Value[s.cpu.g]
	if _, err := s.ReadMemory(at, g[:]); err == nil && order.Uint64(g[16:]) == stackPreempt {
		var b [8]byte
		order.PutUint64(b[:], order.Uint64(g[:])+stackGuard)
		s.ask(fmt.Sprintf("M%x,8:%x", at+16, b))
		clear(s.pages)
	}
}

func (s *emulated) pc() uint64 { return s.regs.Value[s.cpu.arch.PC] }

// step implements stepper. Signals are not passed on.
func (s *emulated) step(t *testing.T, _ int) (did deed, pending int, alive bool) {
	before := s.pc()
	var code [8]byte
	s.ReadMemory(before, code[:])
	s.stay()
	const private = 128
	if c := s.cpu; strings.HasPrefix(string(code[:]), c.svc) && s.regs.Value[c.number] == c.futex && s.regs.Value[c.op]&^private == 0 {
		return did, 0, false // it waits for another thread, and the others are halted
	}
	answer, err := s.ask("vCont;s:" + s.thread)
	if err != nil || !strings.HasPrefix(answer, "T") || !s.fetch() {
		return did, 0, false
	}
	if s.pc() == before { // something else has stopped it
		return did, 0, true
	}
	kind, size := s.cpu.kind(code[:])
	if svc := s.cpu.svc; s.pc() != before+uint64(len(svc)) && string(code[:len(svc)]) == svc {
		kind, _ = s.cpu.kind(code[len(svc):]) // a step over a system call in qemu's vDSO is also one over the next instruction
	}
	if did.kind = kind; kind == called {
		did.cfa, did.ra = s.regs.Value[s.cpu.arch.SP], before+size
	}
	return did, 0, true
}
