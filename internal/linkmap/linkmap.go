package linkmap

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Object is one loaded ELF file.
type Object struct {
	// Path is the name that the dynamic linker has for the file, as the target
	// sees it; "[vdso]" for the kernel's. The program's is AT_EXECFN's, and ""
	// where memory does not tell.
	Path string
	// Bias is what must be added to an address of the file to have the target's.
	Bias uint64
	// Header is where the file's ELF header is in memory; 0 where that is not known.
	Header  uint64
	Program bool // the program itself
}

// ErrNoProgram says that the auxiliary vector does not lead to the program's
// headers. Errors of [Read] wrap it.
var ErrNoProgram = errors.New("the program's headers are not known")

// Bounds on what a broken target can make of its lists.
const (
	maxObjects    = 1 << 14
	maxNamespaces = 64
	maxName       = 4096
	maxDynamic    = 1 << 10
	maxHeaders    = 1 << 10
)

// Read lists what is loaded, the program first. exe is the program's file, for
// where memory lacks its headers (a core file that has no text); nil if there is
// none at hand. A partial list comes with an error that says what is missing.
func Read(mem target.Memory, a *arch.Arch, auxv Auxv, exe *elfimage.Image) ([]Object, error) {
	r := reader{mem: mem, arch: a, size: uint64(a.PtrSize)}
	var list []Object
	if at := auxv[ATSysinfoEhdr]; at != 0 {
		list = append(list, Object{Path: "[vdso]", Bias: at, Header: at})
	}
	progs, bias, err := r.program(auxv, exe)
	if err != nil {
		return list, err
	}
	program := Object{Program: true, Bias: bias, Path: Name(r.mem, auxv[ATExecfn])}
	if at := progsHeader(progs); at != noHeader {
		program.Header = bias + at
	}
	list = append([]Object{program}, list...)
	linker := auxv[ATBase]
	libraries, err := r.libraries(progs, bias)
	for _, o := range libraries {
		switch {
		case o.Bias == bias || strings.HasPrefix(o.Path, "linux-vdso") || o.Path == "":
			continue // the program once more; the vDSO, which the kernel tells of
		case linker != 0 && o.Bias == linker:
			o.Header, linker = linker, 0
		}
		list = append(list, o)
	}
	if linker != 0 {
		// The dynamic linker has not come to describe itself.
		list = append(list, Object{Path: r.interpreter(progs, bias, exe), Bias: linker, Header: linker})
	}
	return list, err
}

// reader reads words and strings of the target.
type reader struct {
	mem  target.Memory
	arch *arch.Arch
	size uint64 // of a word, bytes
}

// program finds the program's headers and its load bias.
func (r *reader) program(auxv Auxv, exe *elfimage.Image) (progs []elf.ProgHeader, bias uint64, err error) {
	at, n := auxv[ATPhdr], auxv[ATPhnum]
	size := uint64(headerSize(r.arch))
	if at == 0 || n == 0 || n > maxHeaders || auxv[ATPhent] != size {
		if exe != nil && auxv[ATEntry] != 0 {
			return exe.Progs, r.arch.Wrap(auxv[ATEntry] - exe.Entry), nil
		}
		return nil, 0, fmt.Errorf("auxiliary vector: AT_PHDR %#x, AT_PHNUM %d: %w", at, n, ErrNoProgram)
	}
	data := make([]byte, n*size)
	if got, _ := r.mem.ReadMemory(at, data); got == len(data) {
		progs = parseHeaders(data, r.arch)
	} else if exe != nil {
		progs = exe.Progs
	} else {
		return nil, 0, fmt.Errorf("program headers at %#x cannot be read: %w", at, ErrNoProgram)
	}
	for _, p := range progs {
		if p.Type == elf.PT_PHDR {
			return progs, r.arch.Wrap(at - p.Vaddr), nil
		}
	}
	// Static programs have no PT_PHDR: the headers lie in the segment that begins
	// with the ELF header, behind it.
	for _, p := range progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return progs, r.arch.Wrap(at-p.Vaddr) &^ 0xfff, nil
		}
	}
	if exe != nil && auxv[ATEntry] != 0 {
		return progs, r.arch.Wrap(auxv[ATEntry] - exe.Entry), nil
	}
	return progs, 0, nil
}

// headerSize returns the size of a program header, bytes.
func headerSize(a *arch.Arch) int {
	if a.Class() == elf.ELFCLASS32 {
		return 32
	}
	return 56
}

func parseHeaders(data []byte, a *arch.Arch) []elf.ProgHeader {
	var progs []elf.ProgHeader
	for size := headerSize(a); len(data) >= size; data = data[size:] {
		u := func(at int) uint64 { return a.Word(data[at:]) }
		if a.Class() == elf.ELFCLASS32 {
			progs = append(progs, elf.ProgHeader{
				Type: elf.ProgType(u(0)), Off: u(4), Vaddr: u(8), Paddr: u(12), Filesz: u(16), Memsz: u(20),
				Flags: elf.ProgFlag(u(24)), Align: u(28),
			})
			continue
		}
		progs = append(progs, elf.ProgHeader{
			Type: elf.ProgType(a.Order.Uint32(data)), Flags: elf.ProgFlag(a.Order.Uint32(data[4:])),
			Off: u(8), Vaddr: u(16), Paddr: u(24), Filesz: u(32), Memsz: u(40), Align: u(48),
		})
	}
	return progs
}

const noHeader = ^uint64(0)

// progsHeader returns the link-time address of the ELF header.
func progsHeader(progs []elf.ProgHeader) uint64 {
	for _, p := range progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return p.Vaddr
		}
	}
	return noHeader
}

// interpreter returns the dynamic linker's path, from PT_INTERP.
func (r *reader) interpreter(progs []elf.ProgHeader, bias uint64, exe *elfimage.Image) string {
	for _, p := range progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if s := Name(r.mem, p.Vaddr+bias); s != "" {
			return s
		}
		if exe != nil {
			s, _, _ := bytes.Cut(exe.Loaded(p.Vaddr, maxName), []byte{0})
			return string(s)
		}
	}
	return ""
}

// libraries follows DT_DEBUG of the program to r_debug and its link maps (link.h):
// r_version, r_map, r_brk, r_state, r_ldbase, r_next (version 2); l_addr, l_name,
// l_ld, l_next, l_prev.
func (r *reader) libraries(progs []elf.ProgHeader, bias uint64) (list []Object, err error) {
	seen := map[uint64]bool{} // link maps
	debug, err := r.debug(progs, bias)
	for n := 0; debug != 0 && err == nil && n < maxNamespaces; n++ {
		var m uint64
		if m, err = r.word(debug + r.size); err != nil {
			break
		}
		for m != 0 && err == nil {
			if seen[m] {
				return list, fmt.Errorf("link map at %#x: the list comes back to it: it is broken", m)
			}
			seen[m] = true
			if len(list) == maxObjects {
				return list, fmt.Errorf("link map at %#x: more than %d objects: it is broken", m, maxObjects)
			}
			entry := make([]byte, 4*r.size)
			if got, _ := r.mem.ReadMemory(m, entry); got < len(entry) {
				err = fmt.Errorf("link map at %#x: %w", m, target.ErrUnmapped)
				break
			}
			u := func(i int) uint64 { return r.arch.Word(entry[i*r.arch.PtrSize:]) }
			list = append(list, Object{Path: Name(r.mem, u(1)), Bias: u(0)})
			m = u(3)
		}
		var version [4]byte
		if got, _ := r.mem.ReadMemory(debug, version[:]); err != nil || got < 4 || r.arch.Order.Uint32(version[:]) < 2 {
			break
		}
		debug, err = r.word(debug + 5*r.size)
	}
	return list, err
}

// debug returns the address in DT_DEBUG of the program: 0 where the program has
// no dynamic linker, or that has not run yet.
func (r *reader) debug(progs []elf.ProgHeader, bias uint64) (uint64, error) {
	for _, p := range progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		for i := uint64(0); i < min(p.Memsz/(2*r.size), maxDynamic); i++ {
			entry := p.Vaddr + bias + 2*r.size*i
			tag, err := r.word(entry)
			if err != nil {
				return 0, fmt.Errorf("dynamic section: %w", err)
			}
			switch elf.DynTag(tag) {
			case elf.DT_NULL:
				return 0, nil
			case elf.DT_DEBUG:
				return r.word(entry + r.size)
			}
		}
	}
	return 0, nil
}

func (r *reader) word(addr uint64) (uint64, error) {
	var room [8]byte
	p := room[:r.size]
	if n, _ := r.mem.ReadMemory(r.arch.Wrap(addr), p); n < len(p) {
		return 0, fmt.Errorf("word at %#x: %w", addr, target.ErrUnmapped)
	}
	return r.arch.Word(p), nil
}

// Name reads a string that ends with a zero byte, such as AT_EXECFN's; "" where
// there is none, or none that could be a path.
func Name(mem target.Memory, addr uint64) string {
	if addr == 0 {
		return ""
	}
	var buf [maxName]byte
	for n := 0; n < len(buf); {
		// Piece by piece: what follows the string may not be mapped.
		piece := buf[n:min(len(buf), n+256)]
		got, _ := mem.ReadMemory(addr+uint64(n), piece)
		if end := bytes.IndexByte(piece[:got], 0); end >= 0 {
			return string(buf[:n+end])
		}
		if n += got; got < len(piece) {
			break
		}
	}
	return ""
}
