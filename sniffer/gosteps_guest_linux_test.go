package sniffer_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	hexadecimal "encoding/hex"
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
	"github.com/sfwalk/sfwalk/frame"
	"github.com/sfwalk/sfwalk/internal/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/trad"
)

// TestGoStepsARM64 does what TestGoSteps does with programs for arm64, under qemu. A
// signal's first instruction cannot be seen there: faults are left out. The stub takes a
// millisecond for a step: of some scenarios that is the beginning, but of the program that
// SFWALK_GOSTEPS_ARM64 names.
func TestGoStepsARM64(t *testing.T) {
	program := os.Getenv("SFWALK_GOSTEPS_ARM64")
	limits := map[string]int{"cgo": 20_000, "runtime": 20_000, "frames": 50_000, "grows": 50_000}
	if program == "" {
		limits = map[string]int{"cgo": 3000, "runtime": 600, "grows": 800}
		program = gostepsARM64(t)
	}
	for _, tt := range goScenarios {
		if limits[tt.name] == 0 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			function := "main." + tt.name
			if tt.name == "runtime" {
				function = "main.works"
			}
			missed := "?"
			for try := 0; try < 3 && missed != "" && !t.Failed(); try++ { // the guest's other threads run, too
				missed = stepThrough(t, emulate(t, program, tt.name, function), tt.in, limits[tt.name])
			}
			if missed != "" {
				t.Errorf("not one instruction of %s", missed)
			}
		})
	}
}

// emulated is a thread of a program that qemu runs, by qemu's debugging stub.
type emulated struct {
	conn    net.Conn
	r       *bufio.Reader
	file    *elf.File
	thread  string // in the stub's words
	regs    [33]uint64
	modules *target.Modules
	pages   map[uint64][]byte // of memory, as they are between two steps
}

func (s *emulated) Arch() *arch.Arch                  { return arm64.Arch }
func (s *emulated) Memory() target.Memory             { return s }
func (s *emulated) Threads() ([]target.Thread, error) { return []target.Thread{s}, nil }
func (s *emulated) Modules() *target.Modules          { return s.modules }
func (s *emulated) Close() error                      { return nil }
func (s *emulated) ID() int                           { return 1 }
func (s *emulated) Name() string                      { return "emulated" }

func (s *emulated) Registers(r *arch.Registers) error {
	for i, v := range s.regs { // the stub's numbers are DWARF's
		r.Set(trad.Reg(i), v)
	}
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
	s.conn.SetDeadline(time.Now().Add(6 * time.Second))
	if _, err := fmt.Fprintf(s.conn, "$%s#%02x", packet, sum); err != nil {
		return "", err
	}
	if _, err := s.r.ReadString('$'); err != nil {
		return "", err
	}
	body, err := s.r.ReadString('#')
	if err != nil {
		return "", err
	}
	s.r.Discard(2)
	s.conn.Write([]byte("+"))
	return strings.TrimSuffix(body, "#"), nil
}

// fetch reads the registers, after a stop that may have been another thread's.
func (s *emulated) fetch() bool {
	if _, err := s.ask("Hg" + s.thread); err != nil {
		return false
	}
	clear(s.pages)
	answer, err := s.ask("g")
	data, bad := hexadecimal.DecodeString(answer[:min(len(answer), 16*len(s.regs))])
	if err != nil || bad != nil || binary.Read(bytes.NewReader(data), binary.LittleEndian, &s.regs) != nil {
		return false
	}
	return true
}

// emulate runs a scenario as far as some functions. qemu's stub sometimes loses its way
// where signals come to several threads: then it is tried again.
func emulate(t *testing.T, program, scenario string, functions ...string) (s *emulated) {
	t.Helper()
	var err error
	for range 4 {
		if s, err = start(t, program, scenario); err != nil {
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

func start(t *testing.T, program, scenario string) (*emulated, error) {
	qemu := gdbtest.Tool(t, "qemu-aarch64")
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
	s := &emulated{pages: map[uint64][]byte{}}
	for deadline := time.Now().Add(10 * time.Second); s.conn == nil; time.Sleep(time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			s.conn = conn
		} else if time.Now().After(deadline) {
			return nil, err
		}
	}
	t.Cleanup(func() { s.conn.Close() })
	s.r = bufio.NewReader(s.conn)
	if s.file, err = elf.Open(program); err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.file.Close() })
	return s, nil
}

// mapped makes the list of modules: the program. There may be code of qemu's, too.
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
		target.NewModule(program, maps, func() (*target.Image, error) { return target.OpenImage(file, st.Size()) }),
	}, nil)
	s.modules.Probe = func(addr uint64) bool {
		var b [4]byte
		n, _ := s.ReadMemory(addr, b[:])
		return n == len(b)
	}
}

// reach lets the program run as far as a function.
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
	if _, err := s.ask("z" + breakpoint); err != nil || !s.fetch() || s.regs[arm64.PC] != at {
		return fmt.Errorf("the guest is at %#x, %s is at %#x (%q, %w)", s.regs[arm64.PC], function, at, answer, err)
	}
	return nil
}

// TestGoSignalARM64 has a fault in Go come to the run time's handler, and to a deferred
// function: the stacks are known from the source.
func TestGoSignalARM64(t *testing.T) {
	program := gostepsARM64(t)
	for _, tt := range []struct{ function, stack string }{
		{"runtime.(*sigctxt).preparePanic", "runtime.(*sigctxt).preparePanic runtime.sighandler runtime.sigtrampgo runtime.sigtramp <signal> main.faults main.panics main.main.func1 runtime.goexit"},
		{"main.panics.func1", "main.panics.func1 runtime.gopanic runtime.sigpanic main.faults main.panics main.main.func1 runtime.goexit"},
	} {
		s := emulate(t, program, "panics", "main.panics", tt.function)
		g := newGoSteps(t, s)
		stack, err := frame.New(s, s, g.table)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for f, err := range stack.All() {
			if err != nil {
				t.Error(err)
				break
			}
			name := g.function(f.AddressInBlock())
			if f.Type() == frame.SigTramp {
				name = "<signal>"
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != tt.stack {
			t.Errorf("at %s the stack is\n%s; want\n%s", tt.function, got, tt.stack)
		}
		if err := g.walker.Check(s, s); err != nil {
			t.Error(err)
		}
	}
}

func gostepsARM64(t *testing.T) string {
	gdbtest.Tool(t, "aarch64-linux-gnu-gcc")
	return gdbtest.Build(t, "gosteps", "GOARCH=arm64", "CGO_ENABLED=1", "CC=aarch64-linux-gnu-gcc", "CGO_CFLAGS=-O2 -fomit-frame-pointer",
		"-ldflags=-linkmode=external -extldflags=-static")
}

// stay keeps the goroutine from making room for another one: the other threads run on, and
// one of them finds that it has run for long enough. In struct g there are the stack's
// lower bound, and as the one that is looked at, a mark.
func (s *emulated) stay() {
	const stackPreempt, stackGuard = ^uint64(0) - 1313, 928
	var g [24]byte
	if _, err := s.ReadMemory(s.regs[28], g[:]); err == nil && binary.LittleEndian.Uint64(g[16:]) == stackPreempt {
		lo := binary.LittleEndian.Uint64(g[:])
		s.ask(fmt.Sprintf("M%x,8:%x", s.regs[28]+16, binary.LittleEndian.AppendUint64(nil, lo+stackGuard)))
		clear(s.pages)
	}
}

// step implements stepper. Signals are not passed on.
func (s *emulated) step(t *testing.T, _ int) (did deed, pending int, alive bool) {
	before := s.regs
	var code [4]byte
	s.ReadMemory(before[arm64.PC], code[:])
	x := binary.LittleEndian.Uint32(code[:])
	s.stay()
	answer, err := s.ask("vCont;s:" + s.thread)
	if err != nil || !strings.HasPrefix(answer, "T") || !s.fetch() {
		return did, 0, false
	}
	switch {
	case s.regs[arm64.PC] == before[arm64.PC]: // something else has stopped it
	case x&0xfc000000 == 0x94000000, x&0xfffffc1f == 0xd63f0000: // BL, BLR
		did = deed{called, s.regs[arm64.SP], before[arm64.PC] + 4}
	case x&0xfffffc1f == 0xd65f0000: // RET
		did.kind = returned
	}
	return did, 0, true
}
