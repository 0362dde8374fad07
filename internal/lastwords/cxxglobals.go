package lastwords

import (
	"bytes"
	"debug/elf"
	"path"
	"strings"

	"github.com/sfwalk/sfwalk/arch/dataflow"
	"github.com/sfwalk/sfwalk/target"
)

// terminated returns the words of a thread that is in std::terminate of libstdc++, by the list of
// the exceptions that the thread handles. What __cxa_get_globals returns points to the list; none
// if that is not known.
func (f *finder) terminated() []Words {
	var m *target.Module
	for i := range f.Frames {
		for _, function := range f.Frames[i].Functions {
			switch name := plainName(function); {
			case name == "std::terminate":
				m = f.Target.Modules().Find(f.Frames[i].PC)
			case m == nil && name != "abort" && name != "__GI_abort" && Dying(function):
				return nil // the handler of std::terminate has its own reason
			}
		}
		if m != nil {
			break
		}
	}
	if m == nil {
		return nil
	}
	im, bias, err := m.PeekImage()
	if err != nil || len(im.Lookup("_ZN9__gnu_cxx27__verbose_terminate_handlerEv", 1)) == 0 {
		return nil // libc++abi's globals have another form
	}
	const versions = 2
	for _, s := range im.Lookup("__cxa_get_globals", versions) {
		globals, ok := f.returned(s.Addr+bias, 0)
		if !ok {
			continue
		}
		caught, ok := f.word(globals)
		uncaught, also := f.half(globals + uint64(f.arch.PtrSize))
		const most = 1 << 16
		if !ok || !also || uncaught > most {
			return nil
		}
		if caught == 0 {
			return []Words{{Text: "terminate called without an active exception", From: "the list of libstdc++'s __cxa_get_globals"}}
		}
		layout := &exceptions64
		if f.arch.PtrSize == 4 {
			layout = &exceptions32
		}
		if x, ok := f.exceptionAt(caught+layout.typ, layout); ok {
			return f.exceptionWords(&x)
		}
		return nil
	}
	return nil
}

// storageFunction is glibc's function that returns the address of a thread's variable.
const storageFunction = "__tls_get_addr"

// isGlibcLinker reports whether a module is glibc's dynamic linker, by its path.
func isGlibcLinker(m *target.Module) bool {
	name := path.Base(m.Path)
	return strings.HasPrefix(name, "ld-") && !strings.HasPrefix(name, "ld-musl")
}

// isStorageFunction reports whether code is glibc's __tls_get_addr.
func (f *finder) isStorageFunction(pc uint64) bool {
	m := f.Target.Modules().Find(pc)
	if m == nil || !isGlibcLinker(m) {
		return false
	}
	im, bias, err := m.PeekImage()
	return err == nil && im.Symbols().Begins(pc-bias, storageFunction)
}

// bound returns where the linkage stub at an address leads if its slot holds the address to. The
// slot leads back into the stub's file until the first call: then a relocation has the name of the
// function. Of the functions that are not bound yet, only __tls_get_addr is known.
func (f *finder) bound(stub, slot, to uint64) uint64 {
	m := f.Target.Modules().Find(stub)
	if m == nil || f.Target.Modules().Find(to) != m {
		return to
	}
	im, bias, err := m.PeekImage()
	if err != nil {
		return to
	}
	relocations, _, err1 := im.Section(".rela.plt")
	symbols, _, err2 := im.Section(".dynsym")
	names, _, err3 := im.Section(".dynstr")
	if err1 != nil || err2 != nil || err3 != nil {
		return to
	}
	for r := range im.Relocations(relocations, true) {
		if r.Type != f.arch.Relocations.JumpSlot || r.Addr != slot-bias || uint64(r.Symbol) >= uint64(len(symbols)/elf.Sym64Size) {
			continue
		}
		name := uint64(f.arch.Order.Uint32(symbols[int(r.Symbol)*elf.Sym64Size:]))
		if name >= uint64(len(names)) || !bytes.HasPrefix(names[name:], []byte(storageFunction+"\x00")) {
			return to
		}
		for _, linker := range f.Target.Modules().All() {
			if !isGlibcLinker(linker) {
				continue
			}
			if im, bias, err := linker.PeekImage(); err == nil {
				for _, s := range im.Lookup(storageFunction, 1) {
					return s.Addr + bias
				}
			}
		}
	}
	return to
}

// storage returns what glibc's __tls_get_addr returns on amd64, for a struct tls_index at an
// address: the number of a module, and an offset. The word behind the thread pointer's leads to an
// array with two words for each module, of which the first one is the address of the thread's
// storage (sysdeps/generic/dl-dtv.h). Two words before the array's begin is the number of modules.
func (s *follower) storage(index dataflow.Constant) dataflow.Constant {
	word := func(at uint64) uint64 {
		return s.read(dataflow.Constant{Known: index.Known && s.thread.Known, Value: at}).Value
	}
	const entry, most = 16, 1 << 16
	module, offset, array := word(index.Value), word(index.Value+8), word(s.thread.Value+8)
	if module == 0 || module > most || array == 0 || module > word(array-entry) {
		return dataflow.Constant{}
	}
	const notAllocated = ^uint64(0)
	storage := word(array + entry*module)
	return dataflow.Constant{Known: storage != 0 && storage != notAllocated, Value: storage + offset}
}
