package jit

import (
	"errors"
	"fmt"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/erts"
	"github.com/sfwalk/sfwalk/target"
)

// Bounds on what a broken process can make of its lists.
const (
	maxAttempts    = 4
	maxDescriptors = 64
	maxEntries     = 100_000
)

// Register makes modules find the objects that the process has registered. mem is the target's
// memory as it is when it is read: if a running process changes its lists meanwhile, they are read
// again. mem must not look up addresses by Modules.Find. warn gets what the user should know, a
// sentence each; it may be nil. dumps are the jitdumps that the process has mapped.
func Register(modules *target.Modules, mem target.Memory, a *arch.Arch, warn func(format string, args ...any), dumps ...*Dump) {
	if modules == nil {
		return // without modules, nobody looks an object up
	}
	if mem == nil {
		mem = target.NoMemory
	}
	if warn == nil {
		warn = func(string, ...any) {}
	}
	modules.Register(func() target.Registered {
		places := descriptors(modules)
		for attempt := 1; ; attempt++ {
			var warnings []string
			r := newReader(mem, a, func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) })
			objects := r.objects(places)
			if r.torn && attempt < maxAttempts {
				continue
			}
			for _, w := range warnings {
				warn("%s", w)
			}
			found := target.Registered{Objects: objects, Copies: r.copies.list}
			if len(dumps) > 0 {
				for _, d := range dumps {
					if _, err := d.ReadAll(); err != nil {
						warn("%v", err)
					}
				}
				found.At = func(addr uint64) *target.Module { return At(dumps, addr, Latest) }
			}
			return found
		}
	})
}

// descriptorSymbol is the name of the descriptor in each module that makes code.
var descriptorSymbol = elf.Seldom("__jit_debug_descriptor")

// version is the version of the structures; there is only one.
const version = 1

// reader reads the lists of one process.
type reader struct {
	copies copies
	arch   *arch.Arch
	warn   func(format string, args ...any)
	// same returns the module of an object that was read before; it may be nil.
	same func(d *described, made *target.Module) *target.Module

	headersLeft uint64 // how much more may be read of objects' headers, bytes
	bytesLeft   uint64 // how much more may be read of whole objects, bytes; under copies.mu

	torn  bool  // the lists may have been changed while they were read
	bad   int   // objects that cannot be used
	first error // what is wrong with the first of them
}

func newReader(mem target.Memory, a *arch.Arch, warn func(format string, args ...any)) *reader {
	return &reader{copies: copies{mem: mem}, arch: a, warn: warn, headersLeft: maxHeaders, bytesLeft: maxBytes}
}

// objects reads all lists.
func (r *reader) objects(places []descriptor) (list []*target.Module) {
	seen := make(map[uint64]bool) // entries
	for _, at := range places {
		before := len(seen)
		list = r.follow(at.addr, seen, list)
		if len(seen) > before {
			at.module.Image() // the symbol of the list must count as used, for without it nobody finds the list
		}
	}
	r.summarize(len(list))
	return list
}

// summarize warns of the objects that cannot be used. good is the number of the others.
func (r *reader) summarize(good int) {
	if r.bad > 0 {
		r.warn("%d of %d objects of code that the process has registered cannot be used: %v", r.bad, r.bad+good, r.first)
	}
}

// descriptor is the struct jit_descriptor of a module.
type descriptor struct {
	addr   uint64
	module *target.Module
}

// descriptors looks into the symbol tables of all modules, because each can have a descriptor of
// its own.
func descriptors(modules *target.Modules) (list []descriptor) {
	for _, m := range modules.All() {
		list = append(list, descriptorsOf(m)...)
	}
	return list[:min(len(list), maxDescriptors)]
}

func descriptorsOf(m *target.Module) (list []descriptor) {
	im, bias, err := m.PeekImage()
	if err != nil || !im.MayHaveSymbol(descriptorSymbol) || erts.In(m) { // Erlang's objects are no ELF images
		return nil
	}
	for _, s := range im.Lookup(descriptorSymbol, 2) {
		list = append(list, descriptor{s.Addr + bias, m})
	}
	return list
}

// follow reads the list that a struct jit_descriptor begins:
//
//	uint32_t version, action_flag;
//	struct jit_code_entry *relevant_entry, *first_entry;
//
// If several modules define the symbol, the ones that the program does not use are empty.
func (r *reader) follow(at uint64, seen map[uint64]bool, list []*target.Module) []*target.Module {
	word := uint64(r.arch.PtrSize)
	d, err := r.copies.read(at, 8+2*word)
	if err != nil {
		return list // the module is not initialized yet, or the core lacks that part
	}
	entry := r.arch.Word(d[8+word:])
	if entry == 0 {
		return list
	}
	if v := r.arch.Order.Uint32(d); v != version {
		r.warn("the code that the process has registered at %#x is not known: version %d of the list, want %d", at, v, version)
		return list
	}
	for entry != 0 {
		if seen[entry] {
			r.torn = true
			r.warn("the list of registered code at %#x leads in a circle, at %#x", at, entry)
			break
		}
		if len(seen) == maxEntries {
			r.warn("the list of registered code at %#x has more than %d entries: the others are left out", at, maxEntries)
			break
		}
		seen[entry] = true
		next, m, err := r.entry(entry)
		if errors.Is(err, errList) {
			r.torn = true
			r.warn("the list of registered code at %#x ends at %#x: %v", at, entry, err)
			break
		}
		switch {
		case err != nil:
			r.torn = r.torn || !errors.Is(err, errTooLarge)
			if r.bad++; r.first == nil {
				r.first = err
			}
		case m != nil:
			list = append(list, m)
		}
		entry = next
	}
	return list
}

// errList says that an entry, and so all that follow it, cannot be read.
var errList = errors.New("memory cannot be read")

// entry reads a struct jit_code_entry, and describes its object:
//
//	struct jit_code_entry *next_entry, *prev_entry;
//	const char *symfile_addr;
//	uint64_t symfile_size;
//
// 32-bit x86 aligns uint64_t in a structure at 4 bytes, all others at 8.
func (r *reader) entry(at uint64) (next uint64, m *target.Module, err error) {
	word := uint64(r.arch.PtrSize)
	align := uint64(8)
	if most := r.arch.MaxAlign; most > 0 {
		align = min(align, most)
	}
	sizeAt := (3*word + align - 1) / align * align
	e, err := r.copies.read(at, sizeAt+8)
	if err != nil {
		return 0, nil, errList
	}
	addr, size := r.arch.Word(e[2*word:]), r.arch.Order.Uint64(e[sizeAt:])
	m, err = r.object(addr, size)
	if err != nil {
		err = fmt.Errorf("the one at %#x, %d bytes: %w", addr, size, err)
	}
	return r.arch.Word(e), m, err
}
