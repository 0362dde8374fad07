package minidump

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/format/minidump"
	"github.com/sfwalk/sfwalk/internal/symbolstore"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
	"github.com/sfwalk/sfwalk/target/snapshot"
)

// Writable returns an error that wraps [minidump.ErrProcessor] if no minidump can have the
// registers of a.
func Writable(a *arch.Arch) error {
	_, err := written(a)
	return err
}

func written(a *arch.Arch) (minidump.Processor, error) {
	if a != nil && len(a.Minidumps) > 0 {
		return minidump.Processor(a.Minidumps[0]), nil
	}
	name := "unknown"
	if a != nil {
		name = a.Name
	}
	return 0, fmt.Errorf("%w: %s", minidump.ErrProcessor, name)
}

// vdsoName is Breakpad's name of the kernel's vDSO, under which stores have its symbols.
const vdsoName = "linux-gate.so"

// Contents returns what a minidump of the snapshot has. modules, if it is not nil, gives the images
// of modules that have no build ID; their code identifies them. The caller adds what else is known
// of the machine and of the process. The error wraps [minidump.ErrProcessor].
func Contents(s *snapshot.Snapshot, modules *target.Modules) (*minidump.Contents, error) {
	p, err := written(s.Arch)
	if err != nil {
		return nil, err
	}
	c := &minidump.Contents{Time: s.Taken, PID: s.PID, System: minidump.System{Known: true, Processor: p, OS: minidump.LinuxOS}}
	for i := range s.Threads {
		t := &s.Threads[i]
		one := minidump.ThreadContents{ID: uint32(t.TID), Name: t.Comm}
		for _, r := range s.Arch.Regs {
			if v, ok := t.Regs.Get(r.Num); ok {
				one.Registers = append(one.Registers, minidump.Register{Name: r.Name, Value: v, Bits: r.Bits})
			}
		}
		if errors.Is(t.Err, target.ErrNoUserContext) { // as a core file has it
			for _, r := range s.Arch.Regs {
				if r.Num == s.Arch.PC || r.Num == s.Arch.SP {
					one.Registers = append(one.Registers, minidump.Register{Name: r.Name, Bits: r.Bits})
				}
			}
		}
		c.Threads = append(c.Threads, one)
	}
	c.Languages = LanguagesOf(s)
	c.Memory = joined(s.Memory)
	c.Modules = modulesOf(s, modules)
	c.Linux = minidump.Linux{Auxv: s.Auxv, Maps: procmaps.Text(s.Maps)}
	return c, nil
}

// joined joins blocks that touch: a stack has one block.
func joined(list []snapshot.Block) (blocks []minidump.Block) {
	for _, b := range list {
		if len(b.Data) == 0 {
			continue
		}
		if n := len(blocks); n > 0 && blocks[n-1].Addr+uint64(len(blocks[n-1].Data)) == b.Addr {
			blocks[n-1].Data = append(slices.Clip(blocks[n-1].Data), b.Data...)
			continue
		}
		blocks = append(blocks, minidump.Block{Addr: b.Addr, Data: b.Data})
	}
	return blocks
}

// modulesOf returns the mapped files that have code, the program first.
func modulesOf(s *snapshot.Snapshot, modules *target.Modules) (list []minidump.Module) {
	known := map[uint64]string{} // build IDs
	for _, m := range s.Modules {
		known[m.Lo] = m.BuildID
	}
	for _, f := range procmaps.Files(s.Maps) {
		if !f.Code {
			continue
		}
		last := f.Mappings[len(f.Mappings)-1]
		m := minidump.Module{Name: f.Path, Base: f.Lo, Size: last.Hi - f.Lo}
		m.CodeView.BuildID, _ = hex.DecodeString(known[f.Lo])
		if len(m.CodeView.BuildID) == 0 && modules != nil {
			m.CodeView.BuildID = codeSum(modules.FindFile(codeAt(f)))
		}
		list = append(list, m)
	}
	for i := range s.Maps {
		if m := &s.Maps[i]; m.IsVDSO() {
			one := minidump.Module{Name: vdsoName, Base: m.Lo, Size: m.Hi - m.Lo}
			if im, err := elf.OpenMapped(blockMemory(s.Memory), m.Lo, m.Hi-m.Lo); err == nil {
				one.CodeView.BuildID, _ = hex.DecodeString(im.BuildID)
			}
			list = append(list, one)
		}
	}
	for i := range list {
		if len(list[i].CodeView.BuildID) > 0 {
			list[i].CodeView.Kind = minidump.ELF
		}
	}
	slices.SortStableFunc(list, func(a, b minidump.Module) int { return order(s, &a) - order(s, &b) })
	return list
}

// order sorts the program's own module to the front, and leaves the others as they are.
func order(s *snapshot.Snapshot, m *minidump.Module) int {
	if m.Name == s.Exe || path.Clean(m.Name) == s.Exe {
		return 0
	}
	return 1
}

func codeAt(f *procmaps.File) uint64 {
	for _, m := range f.Mappings {
		if m.Exec {
			return m.Lo
		}
	}
	return f.Lo
}

// codeSum returns what Breakpad's client notes in place of a build ID; nil if it is not known.
func codeSum(m *target.Module) []byte {
	if m == nil || !m.ImageUsed() {
		return nil
	}
	im, _, err := m.Image()
	if err != nil {
		return nil
	}
	id, err := symbolstore.Identifier(im)
	if err != nil {
		return nil
	}
	b, err := hex.DecodeString(strings.TrimSuffix(id, "0"))
	if err != nil || len(b) != 16 {
		return nil
	}
	for _, swap := range [][]byte{b[0:4], b[4:6], b[6:8]} { // the identifier has numbers, the sum their bytes
		slices.Reverse(swap)
	}
	return b
}

// blockMemory reads copies of memory.
type blockMemory []snapshot.Block

// ReadMemory reads what one block has.
func (m blockMemory) ReadMemory(addr uint64, b []byte) (n int, err error) {
	for i := range m {
		if block := &m[i]; addr >= block.Addr && addr < block.End() {
			n = copy(b, block.Data[addr-block.Addr:])
			if n == len(b) {
				return n, nil
			}
			more, err := m.ReadMemory(addr+uint64(n), b[n:])
			return n + more, err
		}
	}
	return 0, target.ErrUnmapped
}
