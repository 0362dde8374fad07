package racket

import (
	"encoding/binary"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/language/internal/structs"
)

const (
	lo     = 0x10000
	record = lo + 0x100 // of the thread
	text   = lo + 0x400 // a code object, and where its procedure goes on
	goesOn = text + codeText + 0x40
	shot   = lo + 0x600 // the code object of continuations
	old    = lo + 0x700 // a continuation, the last one, and Racket's record of a chain
	last   = old + 0x40
	chain  = old + 0x80
	names  = lo + 0x800
	stack  = lo + 0xa00 // and what a continuation has
	taken  = lo + 0xe00
	thread = lo + 0x1000
)

// spare has the pages of all inputs: making room anew would take most of the time.
var spare pages.Spare

// small returns memory with a procedure that has called itself, on two parts of a stack, and in a
// chain of Racket's.
func small() []byte {
	b := make([]byte, 0x1200)
	words := func(at uint64, list ...uint64) {
		for i, v := range list {
			binary.LittleEndian.PutUint64(b[at-lo+word*uint64(i):], v)
		}
	}
	object := func(at, tag uint64) uint64 { return at - word + tag }
	fixnum := func(n uint64) uint64 { return n << 3 }
	// A record of a thread: where the stack ends, registers, the stack.
	words(record+6*word, stack+0x30, 0, stack+0x400-slop)
	words(record+20*word, nilObject, object(names+0x190, pairTag))
	words(record+40*word, stack, nilObject, object(old, closureTag), 0x400)
	words(text, codeKind, 0x80, 0, object(names, typedTag), 8, 0, object(names+0x40, typedTag), nilObject)
	words(goesOn-2*word, goesOn-2*word-object(text, typedTag), 1|2<<2) // a frame of two words
	words(shot, codeKind|continuationFlag, 0x40)
	words(old, shot+codeText, taken, 0x20, 0x20, object(last, closureTag), goesOn)
	words(last, shot+codeText, 0, contShot)
	words(chain, object(names+0x100, typedTag), nilObject, object(old, closureTag))
	words(stack+0x30, goesOn)
	words(stack+0x20, goesOn)
	words(stack+0x10, goesOn)
	words(taken+0x10, goesOn)
	words(names, 4<<4|stringKind) // "work"
	for i, c := range "work" {
		binary.LittleEndian.PutUint32(b[names+word-lo+4*uint64(i):], uint32(c)<<8|charKind)
	}
	// code-info, source, file, path; the places at which the procedure goes on.
	words(names+0x40, object(names+0x100, typedTag), object(names+0x80, typedTag), 0, 0, 0, 0, object(names+0x140, typedTag))
	words(names+0x80, object(names+0x100, typedTag), object(names+0xb0, typedTag), fixnum(1), fixnum(2), fixnum(7), fixnum(3))
	words(names+0xb0, object(names+0x100, typedTag), object(names+0xd0, typedTag))
	words(names+0xd0, 5<<3|bytesKind)
	copy(b[names+0xd8-lo:], "a.rkt")
	words(names+0x100, object(names+0x100, typedTag), nilObject, fixnum(8*word))
	words(names+0x140, 1<<4, object(names+0x158, typedTag))
	words(names+0x158, object(names+0x100, typedTag), fixnum(goesOn-object(text, typedTag)), object(names+0x160+0x10, typedTag))
	words(names+0x170, object(names+0x100, typedTag), object(names+0xb0, typedTag), fixnum(1), fixnum(2), fixnum(9), fixnum(4))
	words(names+0x1b0, object(chain, typedTag), nilObject)
	words(record+21*word, object(names+0x1b0, pairTag))
	// A thread, its kind, and its engine.
	words(thread, object(thread+0x80, typedTag), falseObject, falseObject, falseObject, object(thread+0x100, closureTag), object(chain, typedTag), falseObject)
	words(thread+0x80, object(thread+0x80, typedTag), object(thread+0xa0, typedTag))
	words(thread+0xa0, 6<<4|stringKind)
	for i, c := range "thread" {
		binary.LittleEndian.PutUint32(b[thread+0xa8-lo+4*uint64(i):], uint32(c)<<8|charKind)
	}
	words(thread+0x100, 0, object(names+0x1b0, pairTag))
	return b
}

func read(b []byte) (frames []language.Frame, err error) {
	r := &reader{Reader: structs.New(amd64.Arch, memtest.Flat{Lo: lo, Data: b}, &spare), left: mostWork}
	defer r.Free()
	if c, ok := r.codeOf(goesOn + 4); ok {
		frames = append(frames, r.frame(c, 0))
	}
	c, ok := r.contextAt(record, stack+0x30)
	if !ok {
		return frames, nil
	}
	list, err := r.calls(c)
	for _, c := range list {
		frames = append(frames, r.frame(c.code, c.ra))
	}
	return frames, err
}

func tasks(b []byte) ([]language.Task, error) {
	r := &reader{Reader: structs.New(amd64.Arch, memtest.Flat{Lo: lo, Data: b}, &spare), left: mostTaskWork}
	defer r.Free()
	found := &threads{reader: r, kinds: map[uint64]bool{}}
	found.piece(lo, b)
	return found.tasks()
}

// TestSmallTask has a thread read.
func TestSmallTask(t *testing.T) {
	list, err := tasks(small())
	if err != nil || len(list) != 1 || list[0].ID != thread || list[0].State != "waiting" || len(list[0].Frames) != 2 || list[0].Early != "" {
		t.Errorf("%+v, %v", list, err)
	}
}

// FuzzTasks reads threads.
func FuzzTasks(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 256<<20, func() { tasks(b) })
	})
}

// TestSmall has frames read.
func TestSmall(t *testing.T) {
	frames, err := read(small())
	if err != nil || len(frames) != 8 {
		t.Fatalf("%+v, %v", frames, err)
	}
	for i, f := range frames {
		line, column := 9, 4
		if i == 0 {
			line, column = 7, 3 // the procedure's own
		}
		if f.Function != "work" || f.File != "a.rkt" || f.Line != line || f.Column != column {
			t.Errorf("%d: %+v", i, f)
		}
	}
}

// FuzzFrames reads frames, and the objects that they lead to.
func FuzzFrames(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 256<<20, func() { read(b) })
	})
}
