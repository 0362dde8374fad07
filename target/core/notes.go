package core

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"slices"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/control"
	"github.com/sfwalk/sfwalk/format/siginfo"
	"github.com/sfwalk/sfwalk/internal/count"
	"github.com/sfwalk/sfwalk/internal/elffile"
	"github.com/sfwalk/sfwalk/internal/elfnote"
	"github.com/sfwalk/sfwalk/internal/linkmap"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/target/procmaps"
)

// Bounds on notes.
const (
	maxNoteSize = 64 << 20 // bytes read of one note; NT_FILE is the largest
	maxNotes    = 1 << 24
	maxOwner    = 16 // bytes read of an owner's name
	maxWarnings = 1000
)

// A core may have usualThreads, and one for each threadSize bytes on disk: a thread's registers and
// the inner page of its stack pack to more. Copies of one thread pack to nothing.
const usualThreads, threadSize = 1 << 14, 128

// notes is what a core's notes say.
type notes struct {
	pid      int
	name     string // the program's, at most 15 bytes
	command  string
	signal   *Signal
	auxv     linkmap.Auxv
	pacMask  uint64
	files    []procmaps.Mapping
	hasFiles bool // there was an NT_FILE
	allFiles bool // it was whole
	carried  []carried
	threads  []*Thread
	warnings []string
	unsaid   int // further warnings
	leftOut  int // threads
}

func (n *notes) warn(format string, args ...any) {
	if len(n.warnings) == maxWarnings {
		n.unsaid++
		return
	}
	n.warnings = append(n.warnings, fmt.Sprintf(format, args...))
}

// notes reads the note segments.
func (f *file) notes() (*notes, error) {
	n := &notes{}
	f.wideSets = target.WideSets(f.arch)
	cut := f.eachNote(func(r *window, owner string, typ uint32, at, size uint64) bool {
		if typ != FileNote {
			f.note(n, r, typ, at, size)
		} else if c, ok := f.parseCarried(r.bytes(at, size)); ok && owner == FileNoteOwner {
			n.carried = append(n.carried, c)
		}
		return true
	})
	for _, w := range cut {
		n.warn("%s", w)
	}
	if n.unsaid > 0 {
		n.warnings = append(n.warnings, count.Of(n.unsaid, "more note")+" cannot be read")
	}
	if n.leftOut > 0 {
		n.warnings = append(n.warnings, fmt.Sprintf("%s %s left out: a core of its size should not have more than %d", count.Of(n.leftOut, "thread"), count.Verb(n.leftOut, "is", "are"), len(n.threads)))
	}
	if len(n.threads) > 0 {
		if n.signal == nil {
			n.dyingFirst()
		}
		first := n.threads[0]
		if n.signal == nil && first.Signal > 0 && first.Signal <= siginfo.Last {
			s, _ := siginfo.Number(first.Signal)
			n.signal = &s
		}
		first.Died = n.signal != nil && dumps(n.signal)
		if n.pid == 0 {
			n.pid = first.id
		}
	}
	for _, th := range n.threads {
		if th.id == n.pid {
			th.name = n.name
		}
	}
	return n, nil
}

// dyingFirst puts the thread that died before the others, where the kernel has it. qemu 10.0
// writes the threads in the order of their processors, and notes the signal for one alone.
func (n *notes) dyingFirst() {
	if n.threads[0].Signal != 0 {
		return
	}
	i := slices.IndexFunc(n.threads, func(th *Thread) bool {
		s, ok := siginfo.Number(th.Signal)
		return ok && dumps(&s)
	})
	if i > 0 {
		died := n.threads[i]
		n.threads = slices.Insert(slices.Delete(n.threads, i, i+1), 0, died)
	}
}

// Note returns the contents of the first note of an owner and a type. It returns nil if the core
// has no such note, lacks a part of it, or has one of more than limit bytes.
func (t *Target) Note(owner string, typ uint32, limit int) (data []byte) {
	t.file.eachNote(func(r *window, by string, of uint32, at, size uint64) bool {
		if by != owner || of != typ {
			return true
		}
		if size <= uint64(limit) {
			data = bytes.Clone(r.bytes(at, size))
		}
		return false
	})
	return data
}

// visit gets a note: its owner, its type, and where its contents are (at most maxNoteSize bytes).
// It returns false to see no more notes.
type visit func(r *window, owner string, typ uint32, at, size uint64) bool

// eachNote calls do for the notes of all segments, in order. The warnings are for the user.
func (f *file) eachNote(do visit) (warnings []string) {
	behind := uint64(0) // else a file of overlapping segments would be read time and again
	for _, p := range f.progs {
		if p.Type != elf.PT_NOTE || p.Off > uint64(f.size) {
			continue
		}
		p.Filesz = min(p.Filesz, uint64(f.size)-p.Off)
		if p.Off < behind {
			return append(warnings, fmt.Sprintf("segment of notes at byte %#x: it and those after it are left out, for it is not behind those before it", p.Off))
		}
		behind = p.Off + p.Filesz
		more, warning := f.segmentNotes(p, do)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		if !more {
			break
		}
	}
	return warnings
}

// segmentNotes reads the notes of one segment, which lies within the file, up to the first that is
// broken.
func (f *file) segmentNotes(p elf.ProgHeader, do visit) (more bool, warning string) {
	end := p.Off + p.Filesz
	pad := uint64(3)
	if p.Align == 8 {
		pad = 7
	}
	// gdb lets the segment begin at any byte, so offsets within it are aligned.
	align := func(at uint64) uint64 { return p.Off + (at-p.Off+pad)&^pad }
	r := &window{r: elffile.Solid(f.r), end: end}
	for at, count := p.Off, 0; at+12 <= end; count++ {
		if count == maxNotes {
			return true, fmt.Sprintf("notes at byte %#x: those behind the first %d are left out", at, count)
		}
		head := r.bytes(at, 12)
		if head == nil {
			return true, ""
		}
		name, desc, typ := uint64(f.arch.Order.Uint32(head)), uint64(f.arch.Order.Uint32(head[4:])), f.arch.Order.Uint32(head[8:])
		if name == 0 && desc == 0 && typ == 0 {
			return true, "" // the rest is a hole
		}
		descAt := align(at + 12 + name)
		if descAt > end || desc > end-descAt {
			return true, fmt.Sprintf("note of type %#x at byte %#x: %d bytes reach beyond the end of the notes", typ, at, desc)
		}
		owner := text(r.bytes(at+12, min(name, maxOwner)))
		if !do(r, owner, typ, descAt, min(desc, maxNoteSize)) {
			return false, ""
		}
		at = align(descAt + desc)
	}
	return true, ""
}

func (f *file) note(n *notes, r *window, typ uint32, at, size uint64) {
	set := f.registerSet(typ)
	if n.leftOut > 0 && (typ == arch.NTPRStatus || set != nil || slices.Contains(f.wideSets, typ)) {
		if typ == arch.NTPRStatus {
			n.leftOut++
		}
		return
	}
	if typ == control.NTXLayout && size <= target.MaxRegisterSet {
		f.layout = setNote{typ, at, size}
	}
	if slices.Contains(f.wideSets, typ) {
		f.wideSet(n, typ, at, size)
	}
	switch typ {
	case elfnote.PRPSInfo, elfnote.Auxv, elfnote.PACMask, elfnote.File, elfnote.Siginfo:
	default:
		if set == nil {
			return
		}
	}
	data := r.bytes(at, size)
	if data == nil {
		n.warn("note of type %#x at byte %#x cannot be read", typ, at)
		return
	}
	order := f.arch.Order
	switch typ {
	case arch.NTPRStatus:
		f.thread(n, data, at)
	case elfnote.PRPSInfo:
		if l := f.arch.PRPSInfo(); len(data) >= l.Size {
			n.pid = int(int32(order.Uint32(data[l.PID:])))
			n.name, n.command = text(data[l.Name:l.Command]), text(data[l.Command:l.Size])
		}
	case elfnote.Auxv:
		if n.auxv == nil {
			n.auxv = linkmap.ParseAuxv(data, f.arch)
		}
	case elfnote.PACMask:
		if len(data) >= 16 && n.pacMask == 0 {
			n.pacMask = order.Uint64(data[8:])
		}
	case elfnote.Siginfo:
		if n.signal == nil { // the first is of the thread that died
			if s, ok := siginfo.Read(data, f.arch); ok {
				n.signal = &s
			}
		}
	case elfnote.File:
		if !n.hasFiles {
			n.hasFiles = true
			var err error
			if n.files, err = parseFiles(data, f.arch); err != nil {
				n.warn("list of mapped files (NT_FILE): %v", err)
			}
			n.allFiles = err == nil && len(n.files) > 0
		}
	default: // another register set of the thread before
		if len(n.threads) > 0 {
			set.Get(f.arch, data, &n.threads[len(n.threads)-1].regs)
		}
	}
}

// wideSet notes where a register set of the last thread is.
func (f *file) wideSet(n *notes, typ uint32, at, size uint64) {
	if len(n.threads) == 0 || typ == arch.NTPRStatus || size > target.MaxRegisterSet {
		return
	}
	th := n.threads[len(n.threads)-1]
	if !slices.ContainsFunc(th.sets, func(s setNote) bool { return s.note == typ }) {
		th.sets = append(th.sets, setNote{typ, at, size})
	}
}

// thread reads NT_PRSTATUS: struct elf_prstatus, pr_cursig at 12, pr_sighold behind a word at 16,
// pr_pid behind both.
func (f *file) thread(n *notes, data []byte, at uint64) {
	if len(data) < f.arch.PRStatusHeader()+f.arch.KernelRegs[0].Size {
		n.warn("a thread's registers (NT_PRSTATUS) at byte %#x are %d bytes, want %d: left out", at, len(data), f.arch.PRStatusHeader()+f.arch.KernelRegs[0].Size)
		return
	}
	if len(n.threads) == f.maxThreads {
		n.leftOut++
		return
	}
	th := &Thread{
		file:   f,
		id:     int(int32(f.arch.Order.Uint32(data[16+2*f.arch.PtrSize:]))),
		Signal: int(f.arch.Order.Uint16(data[12:])),
	}
	th.blocked = f.arch.Word(data[16+f.arch.PtrSize:])
	f.arch.KernelRegs[0].Get(f.arch, data[f.arch.PRStatusHeader():], &th.regs)
	n.threads = append(n.threads, th)
}

// registerSet returns the register set that notes of type typ hold; nil if they hold none.
func (f *file) registerSet(typ uint32) *arch.KernelRegs {
	i := slices.IndexFunc(f.arch.KernelRegs, func(k arch.KernelRegs) bool { return k.Note == typ })
	if i < 0 {
		return nil
	}
	return &f.arch.KernelRegs[i]
}

func text(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(bytes.TrimRight(b, " "))
}

// window reads a file from front to back, in blocks.
type window struct {
	r   io.ReaderAt
	end uint64 // where reading ends
	buf []byte
	at  uint64 // the offset of buf in the file
}

// bytes returns the n bytes at offset at, which must lie before w.end. They stay until the next
// call. bytes returns nil if the file lacks some.
func (w *window) bytes(at, n uint64) []byte {
	if at < w.at || at+n > w.at+uint64(len(w.buf)) {
		const block = 64 << 10
		buf, want := w.buf[:0], max(n, min(block, w.end-at))
		if uint64(cap(buf)) < want {
			buf = make([]byte, 0, want)
		}
		got, _ := w.r.ReadAt(buf[:want], int64(at))
		w.buf, w.at = buf[:got], at
		if uint64(got) < n {
			return nil
		}
	}
	return w.buf[at-w.at:][:n]
}
