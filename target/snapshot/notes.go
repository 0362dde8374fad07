package snapshot

import (
	"slices"
	"strings"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/target/core"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// notes makes the contents of the segment of notes. Those about the whole process come first, so
// that a file that was cut off still says what it is.
func (s *Snapshot) notes(maps []procmaps.Mapping) ([]byte, error) {
	own, err := s.note()
	if err != nil {
		return nil, err
	}
	var notes []byte
	add := func(owner string, typ uint32, desc []byte) {
		notes = elfnote.Append(notes, s.Arch.Order, owner, typ, desc)
	}
	add(elfnote.Core, elfnote.PRPSInfo, s.prpsinfo())
	add(NoteOwner, NoteType, own)
	if len(s.Auxv) > 0 {
		add(elfnote.Core, elfnote.Auxv, s.Auxv)
	}
	add(elfnote.Core, elfnote.File, s.ntFile(maps))
	if i := slices.IndexFunc(s.Threads, func(t Thread) bool { return t.Sets.Of(control.NTXLayout) != nil }); i >= 0 {
		add(elfnote.Linux, control.NTXLayout, s.Threads[i].Sets.Of(control.NTXLayout))
	}
	for i := range s.Threads {
		t := &s.Threads[i]
		for j := range s.Arch.KernelRegs {
			k := &s.Arch.KernelRegs[j]
			if j == 0 {
				add(k.Owner(), k.Note, s.prstatus(t))
				continue
			}
			if set := make([]byte, k.Size); k.Put(s.Arch, &t.Regs, set) {
				add(k.Owner(), k.Note, set)
			}
		}
		for _, set := range t.Sets {
			k := arch.KernelRegs{Note: set.Note}
			if k.Note != control.NTXLayout && !slices.ContainsFunc(s.Arch.KernelRegs, func(x arch.KernelRegs) bool { return x.Note == k.Note }) {
				add(k.Owner(), k.Note, set.Data)
			}
		}
		if mask := s.pacMask(); mask != 0 {
			add(elfnote.Linux, elfnote.PACMask, s.longs(mask, mask))
		}
	}
	return notes, nil
}

// carriedSize is the size of the note of a carried file, bytes.
const carriedSize = elfnote.HeaderSize + (len(core.FileNoteOwner)+1+3)&^3 + 24

// carriedNotes makes the notes of the carried files. These lie one behind the other at the end of
// the core file, from offset at on.
func (s *Snapshot) carriedNotes(at uint64) (notes []byte) {
	for _, f := range s.Files {
		notes = elfnote.Append(notes, s.Arch.Order, core.FileNoteOwner, core.FileNote, s.longs(f.Lo, at, uint64(f.Content.Size())))
		at += uint64(f.Content.Size())
	}
	return notes
}

// longs returns values of 8 bytes each, words of an address' size.
func (s *Snapshot) longs(list ...uint64) []byte {
	b := make([]byte, 8*len(list))
	for i, v := range list {
		s.Arch.Order.PutUint64(b[8*i:], v)
	}
	return b
}

func (s *Snapshot) words(list ...uint64) (b []byte) {
	for _, v := range list {
		b = s.Arch.AppendWord(b, v)
	}
	return b
}

// prpsinfo makes struct elf_prpsinfo. Unknown fields stay zero.
func (s *Snapshot) prpsinfo() []byte {
	l := s.Arch.PRPSInfo()
	b := make([]byte, l.Size)
	s.Arch.Order.PutUint32(b[l.PID:], uint32(s.PID))
	for i := range s.Threads {
		if t := &s.Threads[i]; t.TID == s.PID {
			copy(b[l.Name:l.Command-1], t.Comm)
		}
	}
	copy(b[l.Command:l.Size-1], s.Command)
	return b
}

// prstatus makes struct elf_prstatus: pr_sighold, a word, behind one at 16, pr_pid behind both,
// pr_reg behind the header, pr_fpvalid and padding behind that.
func (s *Snapshot) prstatus(t *Thread) []byte {
	k := &s.Arch.KernelRegs[0]
	b := make([]byte, s.Arch.PRStatusHeader()+k.Size+s.Arch.PtrSize)
	copy(b[16+s.Arch.PtrSize:], s.Arch.AppendWord(nil, t.Blocked))
	s.Arch.Order.PutUint32(b[16+2*s.Arch.PtrSize:], uint32(t.TID))
	k.Put(s.Arch, &t.Regs, b[s.Arch.PRStatusHeader():][:k.Size])
	return b
}

// ntFile makes NT_FILE: the count, the unit of offsets, then start, end and offset
// of each mapping of a file, then the names.
func (s *Snapshot) ntFile(maps []procmaps.Mapping) []byte {
	var entries []uint64
	var names strings.Builder
	for i := range maps {
		m := &maps[i]
		if !m.IsFile() {
			continue
		}
		entries = append(entries, m.Lo, m.Hi, m.Offset/page)
		names.WriteString(m.Path)
		if m.Deleted {
			names.WriteString(" (deleted)")
		}
		names.WriteByte(0)
	}
	b := s.words(uint64(len(entries)/3), page)
	return append(append(b, s.words(entries...)...), names.String()...)
}

// pacMask is the mask in NT_ARM_PAC_MASK: the bits of an address that may be a pointer
// authentication code. It is 0 if the architecture has none.
func (s *Snapshot) pacMask() uint64 {
	if !s.Arch.PAuth {
		return 0
	}
	return ^s.Arch.AddressMask & (1<<55 - 1)
}
