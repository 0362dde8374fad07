//go:build linux

package guesttest

import (
	"bytes"
	"context"
	"debug/elf"
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	format "github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/test/dumptest"
	"github.com/sfwalk/sfwalk/internal/test/gdbtest"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/minidump"
	"github.com/sfwalk/sfwalk/target/remote"
)

// fromMinidump makes a minidump of a stop, with the registers and the memory that the stub has
// where gdb's frames are, and opens it.
var fromMinidump = opener{"minidump", func(stop *Stop, exe, _ string) (target.Target, error) {
	tg, err := remote.Dial(context.Background(), "unix:"+stop.Stub, remote.Options{Exe: exe})
	if err != nil {
		return nil, err
	}
	defer tg.Close()
	threads, err := tg.Threads()
	if err != nil {
		return nil, err
	}
	var regs arch.Registers
	if err := threads[0].Registers(&regs); err != nil {
		return nil, err
	}
	d := dumptest.New()
	d.System(5, 0x8201, "Linux 6.1") // PROCESSOR_ARCHITECTURE_ARM
	d.Stream(3, d.U32(1), d.Thread(uint32(stop.Threads[0].TID), regs.Value[tg.Arch().SP], nil, armContext(d, &regs)))
	d.Stream(5, memoryOf(d, tg, stop.Threads[0].Frames))
	module, err := moduleOf(d, exe)
	if err != nil {
		return nil, err
	}
	d.Stream(4, d.U32(1), module)
	data := d.Bytes(1)
	dump, err := format.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return minidump.New(dump, minidump.Options{Exe: exe})
}}

// armContext returns an MDRawContextARM (Breakpad, minidump_cpu_arm.h).
func armContext(d *dumptest.Dump, regs *arch.Registers) []byte {
	b := d.U32(0x40000006)
	for r := range 16 {
		b = append(b, d.U32(uint32(regs.Value[r]))...)
	}
	return append(b, make([]byte, 368-len(b))...)
}

// memoryOf returns a MINIDUMP_MEMORY_LIST of the pages that frames are on.
func memoryOf(d *dumptest.Dump, tg target.Target, frames []gdbtest.Frame) []byte {
	const page = 0x1000
	pages := map[uint64]bool{}
	inner := uint64(0)
	for _, f := range frames {
		lo := f.CFA - page
		if f.CFA > inner && inner > 0 && f.CFA-inner < 2<<20 {
			lo = inner - page
		}
		for at := lo &^ (page - 1); at <= f.CFA+page; at += page {
			pages[at] = true
		}
		inner = f.CFA
	}
	var list []byte
	n := uint32(0)
	for at := range pages {
		data := make([]byte, page)
		if got, _ := tg.Memory().ReadMemory(at, data); got == page {
			list = append(list, append(d.U64(at), d.At(data)...)...)
			n++
		}
	}
	return append(d.U32(n), list...)
}

// moduleOf returns a MINIDUMP_MODULE of a static program, with its build ID.
func moduleOf(d *dumptest.Dump, exe string) ([]byte, error) {
	f, err := elf.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lo, hi := ^uint64(0), uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			lo, hi = min(lo, p.Vaddr&^0xfff), max(hi, p.Vaddr+p.Memsz)
		}
	}
	note, err := f.Section(".note.gnu.build-id").Data()
	if err != nil {
		return nil, err
	}
	return d.Module(exe, lo, uint32(hi-lo), append(d.U32(0x4270454c), note[16:]...)), nil
}

// TestMinidumps compares stacks of minidumps of arm with gdb's.
func TestMinidumps(t *testing.T) {
	for _, s := range subjects {
		if !slices.Contains([]string{"arm/A32 O2", "arm/Thumb, exception tables O2", "arm/static"}, s.name) {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			s.run(t, func(c *checker) {
				c.Each(t, false, func(stop *Stop) { c.check(stop, fromMinidump) })
			})
		})
	}
}
