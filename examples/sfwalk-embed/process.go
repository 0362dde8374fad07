//go:build linux

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/sfwalk/sfwalk/arch"
	_ "github.com/sfwalk/sfwalk/arch/amd64"
	_ "github.com/sfwalk/sfwalk/arch/arm64"
	_ "github.com/sfwalk/sfwalk/arch/s390x"
	"github.com/sfwalk/sfwalk/target"
)

// process is what the debugger controls, and its thread: a target.Target, Memory and Thread.
type process struct {
	pid     int
	mem     *os.File // /proc/PID/mem
	modules *target.Modules
}

func (p *process) Arch() *arch.Arch                  { return arch.ByName(runtime.GOARCH) }
func (p *process) Memory() target.Memory             { return p }
func (p *process) Modules() *target.Modules          { return p.modules }
func (p *process) Threads() ([]target.Thread, error) { return []target.Thread{p}, nil }
func (p *process) Close() error                      { return p.mem.Close() }

func (p *process) ReadMemory(addr uint64, b []byte) (int, error) {
	n, err := p.mem.ReadAt(b, int64(addr))
	if err != nil {
		err = fmt.Errorf("read %d bytes at %#x: %w: %w", len(b), addr, target.ErrUnmapped, err)
	}
	return n, err
}

func (p *process) ID() int      { return p.pid }
func (p *process) Name() string { return "" }

func (p *process) Registers(to *arch.Registers) error {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(p.pid, &regs); err != nil {
		return fmt.Errorf("read registers of %d: %w", p.pid, err)
	}
	set, err := binary.Append(nil, binary.NativeEndian, &regs) // in the kernel's layout
	p.Arch().KernelRegs[0].Get(p.Arch(), set, to)
	return err
}
