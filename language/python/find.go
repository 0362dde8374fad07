package python

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/owncode"
	"github.com/sfwalk/sfwalk/target"
)

// Decorator finds CPython's run times.
type Decorator struct{}

// Name implements [language.Decorator].
func (Decorator) Name() string { return "python" }

// Find implements [language.Decorator].
func (Decorator) Find(p *language.Process, m *target.Module) ([]language.Runtime, error) {
	return find(p, m, newest)
}

// newest is the newest minor release whose structures are known.
const newest = 15

// find finds the run time of a module. A release later than newest is tried with newest's layout.
func find(p *language.Process, m *target.Module, newest int) ([]language.Runtime, error) {
	im, bias, err := m.PeekImage()
	if err != nil {
		return nil, nil // it is said elsewhere that the file cannot be read
	}
	at, ok := runtimeAddress(im)
	if !ok {
		return nil, nil
	}
	r := &interpreter{arch: p.Arch, module: m, modules: p.Modules, image: im, bias: bias, runtime: at + bias, own: owncode.New(m, im, bias, isOwn)}
	if r.layout, err = layoutOf(p, m, im, bias, r.runtime, newest); err != nil {
		return nil, err
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	r.evaluator = symbolAt(im, "_PyEval_EvalFrameDefault", bias)
	if l := r.layout; l.release != l.minor {
		if err := r.fits(p.Memory); err != nil {
			return nil, fmt.Errorf("the layout of Python 3.%d is not known, and the one of 3.%d does not fit: %w", l.release, l.minor, err)
		}
		return []language.Runtime{r}, fmt.Errorf("the layout of Python 3.%d is not known: the one of 3.%d fits as far as it was checked", l.release, l.minor)
	}
	return []language.Runtime{r}, nil
}

// fits reports whether the layout leads through all threads of a process, and through the frames of
// each: the structures lead back to each other, and to code objects.
func (r *interpreter) fits(of target.Memory) (err error) {
	const tries = 5 // the process runs meanwhile, and changes its frames
	m := &memory{Memory: of, order: r.arch.Order, size: r.arch.PtrSize, layout: r.layout}
	for range tries {
		frames := 0
		var wrong error
		err = r.eachThread(m, func(t *threadState) bool {
			c := chain{r: r, m: m}
			wrong = c.read(t)
			for i := range c.groups {
				frames += len(c.groups[i].Frames)
			}
			return wrong == nil
		})
		if err == nil {
			err = wrong
		}
		switch {
		case err == nil && frames > 0:
			return nil
		case err == nil:
			err = errors.New("no thread has a frame")
		}
	}
	return err
}

var runtimeSymbol = elf.Seldom("_PyRuntime")

// runtimeAddress returns the link-time address of _PyRuntime.
func runtimeAddress(im *elf.Image) (addr uint64, ok bool) {
	const section = ".PyRuntime"
	if im.MayHaveSymbol(runtimeSymbol) {
		for _, s := range im.Lookup(runtimeSymbol, 1) {
			return s.Addr, true
		}
	}
	// 3.11 on: the section has nothing else.
	for _, s := range im.ELF().Sections {
		if s.Name == section && s.Addr != 0 {
			return s.Addr, true
		}
	}
	return 0, false
}

// span is a range of run-time addresses.
type span struct{ lo, hi uint64 }

func (s span) has(addr uint64) bool { return addr-s.lo < s.hi-s.lo }

// symbolAt returns the range of a symbol, an empty one if there is none.
func symbolAt(im *elf.Image, name string, bias uint64) span {
	for _, s := range im.Lookup(name, 1) {
		return span{s.Addr + bias, s.Addr + s.Size + bias}
	}
	return span{}
}

// layoutOf returns the layout of a run time: as the process tells it, or by its release.
func layoutOf(p *language.Process, m *target.Module, im *elf.Image, bias, runtime uint64, newest int) (*layout, error) {
	l, err := told(p.Arch, p.Memory, runtime, newest)
	if l != nil || err != nil {
		return l, err
	}
	minor, ok := release(p, m, im, bias)
	if !ok {
		return nil, errors.New("it has Python's run time, but nothing tells its release")
	}
	if minor >= 13 {
		return nil, fmt.Errorf("the run time of Python 3.%d has not told the layout of its structures yet: it is just starting, or its memory is not there", minor)
	}
	if p.Arch.PtrSize != 8 {
		return nil, fmt.Errorf("the layout of Python 3.%d is known of 64-bit processors alone", minor)
	}
	return tableOf(minor, "")
}

// libraryName tells the release from names of files: python3.11, libpython3.11.so.1.0,
// libpython3.8d.so.
var libraryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`python3\.(\d{1,2})[a-z]*(\.so|\.a|$)`) })

// release returns the minor release of a run time.
func release(p *language.Process, m *target.Module, im *elf.Image, bias uint64) (minor int, ok bool) {
	for _, s := range im.Lookup("Py_Version", 1) { // 3.11 on: a constant
		var word [8]byte
		size := p.Arch.PtrSize
		if im.ReadLoaded(s.Addr, word[:size]) < size {
			if n, _ := p.Memory.ReadMemory(s.Addr+bias, word[:size]); n < size {
				break
			}
		}
		v := uint64(p.Arch.Order.Uint32(word[:]))
		if size == 8 {
			v = p.Arch.Order.Uint64(word[:])
		}
		if v>>24 == 3 {
			return int(v >> 16 & 0xff), true
		}
	}
	for _, name := range []string{im.SOName(), m.Path} {
		if found := libraryName().FindStringSubmatch(name); found != nil {
			minor, err := strconv.Atoi(found[1])
			return minor, err == nil
		}
	}
	return 0, false
}

// needed are the fields without which there are no frames.
var needed = []field{
	runtimeInterpreters, interpreterNext, interpreterThreads, threadNext, threadInterpreter, threadID,
	codeFile, codeName, codeLines, codeFirstLine,
	objectType, typeName, bytesLength, bytesData, unicodeState, unicodeLength, unicodeASCIISize,
}

// maxRecord bounds the part of a structure that is read at once, bytes.
const maxRecord = 8 << 10

// check checks the layout, and works out how much of the structures is read.
func (r *interpreter) check() error {
	l := r.layout
	frames := []field{frameExecutable, framePrevious, frameInstr, frameOwner, codeInstructions}
	switch {
	case l.minor <= 10:
		frames = []field{threadFrameObject, frameObjectBack, frameObjectCode, frameObjectLast}
	case l.minor == 11:
		frames = append(frames, threadCFrame, cframeFrame, cframePrevious, frameIsEntry)
	case l.minor == 12:
		frames = append(frames, threadCFrame, cframeFrame)
	default:
		frames = append(frames, threadFrame)
	}
	list := append(frames, needed...)
	for _, f := range list {
		if !l.has(f) {
			return fmt.Errorf("the layout of Python 3.%d: the offset of %s is not known", l.minor, fieldNames[f])
		}
	}
	word := uint64(r.arch.PtrSize)
	r.threadPart = l.part(word, threadPrev, threadNext, threadInterpreter, threadFrame, threadCFrame, threadFrameObject, threadID, threadNativeID)
	r.framePart = l.part(word, framePrevious, frameExecutable, frameInstr, frameOwner, frameIsEntry, frameTLBC, frameObjectBack, frameObjectCode, frameObjectLast, objectBlockCount)
	r.codePart = l.part(word, objectType, codeFile, codeName, codeQualifiedName, codeLines, codeFirstLine, codeArguments, codeTLBC, codeHandlers)
	for _, n := range []int{r.threadPart, r.framePart, r.codePart, l.part(word, unicodeState, unicodeLength)} {
		if n > maxRecord {
			return fmt.Errorf("the layout of Python 3.%d: its structures are larger than %d bytes", l.minor, maxRecord)
		}
	}
	return nil
}

// part returns how many bytes of a structure have the fields that are there.
func (l *layout) part(word uint64, list ...field) int {
	n := word
	for _, f := range list {
		if l.has(f) {
			n = max(n, l.at[f]+word)
		}
	}
	return int(n)
}

// interpreter is a run time of CPython: all interpreters, sub-interpreters too, that share its
// code.
type interpreter struct {
	arch      *arch.Arch
	module    *target.Module
	modules   *target.Modules
	image     *elf.Image
	bias      uint64
	runtime   uint64 // the address of _PyRuntime
	layout    *layout
	evaluator span // empty if that is not known

	threadPart, framePart, codePart int // how many bytes are read of each structure

	known  codes
	names  threadNames
	states threadLists
	own    *owncode.Code
	waited waitedLocks
	pages  pages.Spare
	usual  atomic.Int64 // about how many frames the stack before had, at most mostUsual
}
