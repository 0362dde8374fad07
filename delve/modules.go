//go:build linux && (amd64 || arm64)

package delve

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/internal/procdir"
	"github.com/sfwalk/sfwalk/internal/sysroot"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// refreshLive takes the modules from the kernel's list of mappings. Delve's own list lacks the
// names of files on overlay file systems, such as files in containers.
func (t *Target) refreshLive() error {
	pid := t.Proc.Pid()
	f, err := os.Open(procdir.File(pid, "maps"))
	if err != nil {
		return fmt.Errorf("what process %d has mapped: %w", pid, err)
	}
	defer f.Close()
	maps, err := procmaps.Read(f, nil)
	if err != nil {
		return fmt.Errorf("what process %d has mapped: %w", pid, err)
	}
	t.memory.forget()
	maps = slices.DeleteFunc(maps, func(m procmaps.Mapping) bool { return !m.IsFile() && !m.Exec })
	if t.modules != nil && slices.Equal(maps, t.maps) {
		return nil
	}
	if t.files == nil {
		t.seen = t.memory
		t.files = sysroot.New(t.liveFiles(pid), t.memory)
	}
	known := make(map[string]*target.Module)
	t.modules = procmaps.Modules(maps, func(f *procmaps.File) *target.Module {
		key := fmt.Sprint(f.Path, f.Major, f.Minor, f.Inode, joined(f.Mappings))
		m := t.known[key]
		if m == nil {
			m = t.files.Module(f.Path, f.Mappings)
		}
		known[key] = m
		return m
	})
	t.modules.DebugFile, t.modules.Present = t.symbols.DebugFile, t.memory
	t.maps, t.known = maps, known
	return nil
}

// joined joins mappings that differ only in the permission to write. The dynamic linker removes
// that permission from a part of a file that it has relocated.
func joined(list []target.Mapping) (out []target.Mapping) {
	for _, m := range list {
		if n := len(out); n > 0 && out[n-1].Hi == m.Lo && out[n-1].Offset+(m.Lo-out[n-1].Lo) == m.Offset && out[n-1].Exec == m.Exec {
			out[n-1].Hi = m.Hi
			continue
		}
		out = append(out, m)
	}
	return out
}

// liveFiles returns the options to find a process's files below its own root.
func (t *Target) liveFiles(pid int) sysroot.Options {
	t.root = procdir.File(pid, "root")
	if _, err := os.Stat(t.root + "/."); err != nil {
		t.root = "" // this user may not enter it
	}
	o := sysroot.Options{Arch: t.arch, Root: t.root}
	exe := procdir.File(pid, "exe")
	if path, err := os.Readlink(exe); err == nil {
		o.Exe, o.ExePath = exe, path
	}
	return o
}

// refreshRecorded takes the modules from the dynamic linker's list in memory. Delve gives access
// neither to a core's list of files nor to its auxiliary vector.
func (t *Target) refreshRecorded() error {
	t.memory.forget()
	if t.modules != nil {
		return nil // a recording does not load libraries
	}
	images := t.Proc.BinInfo().Images
	if len(images) == 0 {
		return fmt.Errorf("the program's file: Delve has none")
	}
	path := images[0].Path
	t.files = sysroot.New(sysroot.Options{Arch: t.arch, Exe: path, ExePath: path}, t.memory)
	exe, _, err := t.files.Open(path)
	if err != nil {
		return fmt.Errorf("the program's file %s: %w", path, err)
	}
	entry, err := t.Proc.EntryPoint()
	if err != nil || entry == 0 || exe.Type == elf.ET_EXEC {
		entry = exe.Entry + images[0].StaticBase
	}
	vdso, unread := t.vdso(exe, entry-exe.Entry)
	auxv := linkmap.Auxv{linkmap.ATEntry: entry, linkmap.ATSysinfoEhdr: vdso}
	objects, err := linkmap.Read(t.memory, t.arch, auxv, exe)
	if err != nil {
		t.files.Warn("what was loaded is not all known: %v", err)
	}
	var list []*target.Module
	for _, o := range objects {
		if o.Program {
			o.Path, o.Header = path, 0
		}
		if m, err := t.files.Object(o); err == nil {
			list = append(list, m)
		}
	}
	t.modules = target.NewModules(list, nil)
	t.modules.DebugFile = t.symbols.DebugFile
	// The list lacks the kernel's trampolines, and code that a JIT has made. An address that
	// cannot be read is not code, but for the page of a vDSO that a core leaves out, as qemu's do.
	t.modules.ProbeCode = func(addr uint64) bool {
		var p [2]byte
		n, _ := t.memory.ReadMemory(addr, p[:])
		return n == len(p) || unread != 0 && addr&^(pageSize-1) == unread
	}
	t.seen = &recording{t.memory, t.modules}
	return nil
}

// vdso returns the address of the vDSO, found by the functions that the runtime has looked up in
// it; 0 if it is not known. unread is then the page with such a function, if that page cannot be
// read.
func (t *Target) vdso(exe *elfimage.Image, bias uint64) (at, unread uint64) {
	const largest = 16 // pages
	for _, s := range exe.Lookup("runtime.vdsoClockgettimeSym", 1) {
		var word [8]byte
		if _, err := t.memory.ReadMemory(s.Addr+bias, word[:]); err != nil {
			continue
		}
		at := t.arch.Order.Uint64(word[:]) &^ (pageSize - 1)
		if _, err := t.memory.ReadMemory(at, word[:4]); err != nil {
			unread = at
		}
		for range largest {
			var magic [4]byte
			if _, err := t.memory.ReadMemory(at, magic[:]); err == nil && string(magic[:]) == elf.ELFMAG {
				return at, 0
			}
			at -= pageSize
		}
	}
	return 0, unread
}

// recording is a core's memory with the code of the files that were mapped. Cores leave code
// out, and Delve shows the program's own bytes in place of every other file's.
type recording struct {
	*memory
	modules *target.Modules
}

func (r *recording) ReadMemory(addr uint64, p []byte) (n int, err error) {
	if n = r.code(addr, p); n == len(p) {
		return n, nil
	}
	return r.memory.ReadMemory(addr, p)
}

// code reads from the segments of files that a process cannot write.
func (r *recording) code(addr uint64, p []byte) int {
	m := r.modules.FindFile(addr)
	if m == nil {
		return 0
	}
	im, bias, err := m.Image()
	if err != nil {
		return 0
	}
	for _, s := range im.Progs {
		if at := addr - bias - s.Vaddr; s.Type == elf.PT_LOAD && s.Flags&elf.PF_W == 0 && at < s.Filesz {
			return im.ReadLoaded(addr-bias, p[:min(uint64(len(p)), s.Filesz-at)])
		}
	}
	return 0
}

// Window lends no memory of mapped files: their code is seldom read, and only in blocks.
func (r *recording) Window(addr uint64) (lo uint64, data []byte) {
	if m := r.modules.FindFile(addr); m != nil {
		return 0, nil
	}
	return r.memory.Window(addr)
}
