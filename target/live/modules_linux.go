package live

import (
	"cmp"
	"fmt"
	"os"

	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/jit"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// modules makes a module for each file that has code mapped, for the vDSO, and for each object that
// the process has registered, or has written to a jitdump.
func (f *files) modules(maps []procmaps.Mapping) *target.Modules {
	var dumps []*jit.Dump
	modules := procmaps.Modules(maps, func(at *procmaps.File) *target.Module {
		if jit.IsDump(at.Path) && len(dumps) < jit.MaxDumps {
			dumps = append(dumps, jit.NewDump(at.Path, f.proc.arch, func() (jit.File, error) { return f.open(at) }))
		}
		var m *target.Module
		m = target.NewModule(at.Path, at.Mappings, func() (*elf.Image, error) {
			if at.IsVDSO() {
				return elf.OpenMapped(f.memory, at.Lo, at.Hi-at.Lo)
			}
			return f.image(at, m)
		})
		return m
	})
	jit.Register(modules, present{f}, f.proc.arch, func(format string, args ...any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.warn(nil, format, args...)
	}, dumps...)
	return modules
}

// open opens a mapped file, which stays open until Close.
func (f *files) open(m *procmaps.File) (jit.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil, errClosed
	}
	found := f.process().Open(m)
	if found.Other != nil {
		found.Other.Close()
	}
	if found.File == nil {
		return nil, cmp.Or(found.Err, os.ErrNotExist)
	}
	f.opened = append(f.opened, found.File)
	return found.File, nil
}

// present is the process's memory as it is now. It keeps nothing that it has read.
type present struct{ *files }

// ReadMemory implements [target.Memory].
func (m present) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if n, err = m.fetch(addr, p); n == len(p) {
		return n, nil
	}
	if err == nil {
		err = target.ErrUnmapped
	}
	return n, fmt.Errorf("read memory at %#x: %w", addr, err)
}
