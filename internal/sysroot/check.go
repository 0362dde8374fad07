package sysroot

import (
	"debug/elf"
	"fmt"

	elfimage "github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/target"
)

// Check compares a file with the memory in which the target has mapped it. Bytes that memory lacks
// are not compared: core files leave much out. The error wraps [ErrMismatch].
func (f *Files) Check(im *elfimage.Image, mappings []target.Mapping) error {
	_, err := f.check(im, mappings)
	return err
}

// check is Check; told says that memory bears the file out.
func (f *Files) check(im *elfimage.Image, mappings []target.Mapping) (told bool, err error) {
	if a := f.opts.Arch; im.Machine != a.Machine || im.Order != a.Order {
		return false, fmt.Errorf("it is for %v, the target is %s: %w", im.Machine, a.Name, ErrMismatch)
	}
	bias, err := target.LoadBias(im, mappings)
	if err != nil {
		return false, fmt.Errorf("%w: %w", err, ErrMismatch)
	}
	if codeAlone(im, mappings, bias) {
		same, known := f.sameCode(im, mappings, bias)
		if known && !same {
			err = fmt.Errorf("its code differs from what is mapped at %#x: %w", mappings[0].Lo, ErrMismatch)
		}
		return same, err
	}
	if id, ok := f.mappedID(im, mappings, bias); ok {
		if id != im.BuildID {
			return false, fmt.Errorf("build ID %s, mapped %s: %w", known(im.BuildID), known(id), ErrMismatch)
		}
		return true, nil
	}
	if told, err = f.checkDynamic(im, bias); err == nil {
		err = f.checkPointers(im, bias)
	}
	return told && err == nil, err
}

func known(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}

// codeAlone reports whether the mappings have none of the parts of a file that tell it from others:
// its headers, notes and dynamic section. Programs map some of their code once more, elsewhere.
// Other memory is where these parts would be.
func codeAlone(im *elfimage.Image, mappings []target.Mapping, bias uint64) bool {
	parts := loadedNotes(im)
	for _, p := range im.Progs {
		if p.Type == elf.PT_DYNAMIC {
			parts = append(parts, p)
		}
	}
	for _, m := range mappings {
		if m.Offset == 0 {
			return false
		}
		for _, p := range parts {
			if at := p.Vaddr + bias; at >= m.Lo && at < m.Hi {
				return false
			}
		}
	}
	return true
}

// sameCode compares the code that the mappings have with the file's. known is false if memory has
// none of it.
func (f *Files) sameCode(im *elfimage.Image, mappings []target.Mapping, bias uint64) (same, known bool) {
	for _, m := range mappings {
		if m.Exec {
			if same, known = target.SameCode(im, bias, f.mem, m.Lo, m.Hi); known {
				return same, known
			}
		}
	}
	return false, false
}

// mappedID reads the build ID from memory: by the headers there, or else where
// the file has its own. ok is false where memory does not tell.
func (f *Files) mappedID(im *elfimage.Image, mappings []target.Mapping, bias uint64) (id string, ok bool) {
	if inMemory, err := f.mapped(mappings); err == nil && inMemory.BuildID != "" {
		return inMemory.BuildID, true
	}
	list := loadedNotes(im)
	ok = im.BuildID != "" && len(list) > 0
	for _, p := range list {
		notes := make([]byte, p.Filesz)
		if n, _ := f.mem.ReadMemory(p.Vaddr+bias, notes); n < len(notes) {
			ok = false
			continue
		}
		if id := elfimage.BuildID(notes, im.Order, p.Align); id != "" {
			return id, true
		}
	}
	return "", ok // where all was read, something else stands in the ID's place
}

// loadedNotes returns where the file's notes are in memory: its segments of notes
// and, as Go's linker leaves the build ID out of these, the build ID's section.
func loadedNotes(im *elfimage.Image) (list []elf.ProgHeader) {
	for _, p := range im.Progs {
		if p.Type == elf.PT_NOTE && p.Filesz <= 1<<16 {
			list = append(list, p)
		}
	}
	if s := im.ELF().Section(".note.gnu.build-id"); s != nil && s.Flags&elf.SHF_ALLOC != 0 && s.FileSize <= 1<<16 {
		list = append(list, elf.ProgHeader{Vaddr: s.Addr, Filesz: s.FileSize, Align: s.Addralign})
	}
	return list
}

// checkDynamic compares the dynamic section in memory with the file's: its tags,
// and the values that are sizes, which no dynamic linker changes.
func (f *Files) checkDynamic(im *elfimage.Image, bias uint64) (told bool, err error) {
	want, addr, err := im.Segment(elf.PT_DYNAMIC)
	if err != nil || len(want) > 1<<16 {
		return false, nil
	}
	got := make([]byte, len(want))
	if n, _ := f.mem.ReadMemory(addr+bias, got); n < len(got) {
		return false, nil
	}
	word := int(im.WordSize())
	for at := 0; at+2*word <= len(want); at += 2 * word {
		tag := elf.DynTag(im.Word(want[at:]))
		if found := elf.DynTag(im.Word(got[at:])); found != tag {
			return false, fmt.Errorf("its dynamic section has %v where memory has %v: %w", tag, found, ErrMismatch)
		}
		switch tag {
		case elf.DT_NULL:
			return true, nil
		case elf.DT_STRSZ, elf.DT_RELASZ, elf.DT_RELSZ, elf.DT_PLTRELSZ, elf.DT_INIT_ARRAYSZ, elf.DT_FINI_ARRAYSZ, elf.DT_NEEDED:
			if a, b := im.Word(want[at+word:]), im.Word(got[at+word:]); a != b {
				return false, fmt.Errorf("its dynamic section has %v %#x where memory has %#x: %w", tag, a, b, ErrMismatch)
			}
		}
	}
	return false, nil
}
