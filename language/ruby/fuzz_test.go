package ruby

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/format/elf"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
)

// base is where an image lies, and the structures in it.
const (
	base     = 0x10000
	context  = base + 0x100
	stack    = base + 0x400 // the control frames
	values   = base + 0x600 // environments
	iseq     = base + 0x800
	body     = base + 0x900
	method   = base + 0xa00
	class    = base + 0xa80
	texts    = base + 0xb80
	symbols  = base + 0xd00
	lists    = base + 0xe00
	ranks    = base + 0xf00
	infos    = base + 0xf80
	thread   = base + 0x1100
	machine  = base + 0x1400
	ractor   = base + 0x1500
	size     = 0x2000
	fiber    = base + 0x1900
	node     = base + 0x1c00
	shapes   = base + 0x1e00
	vmAt     = base + 0x40 // ruby_current_vm_ptr
	fibersAt = base + 0x48 // first_jit_cont
	numberOf = 200         // of the symbol "name"
)

// releases are the ones whose layouts are known.
var releases = [][2]int{{3, 1}, {3, 2}, {3, 3}, {3, 4}, {4, 0}}

// newImage returns memory with a context that has a function in C, and the method that has called
// it. If round, environments lead to each other.
func newImage(l *layout, round bool) []byte {
	b := make([]byte, size)
	put := func(at, word uint64) { binary.LittleEndian.PutUint64(b[at-base:], word) }
	text := func(at uint64, s string) { // embedded
		if l.stringEmbeddedMask != absent {
			put(at, l.typeString|uint64(len(s))<<l.stringEmbeddedShift)
		} else {
			put(at, l.typeString)
			put(at+l.stringLength, uint64(len(s)))
		}
		copy(b[at+l.stringEmbedded-base:], s)
	}
	list := func(at uint64, n, items uint64) {
		put(at, l.typeArray)
		put(at+l.arrayLength, n)
		put(at+l.arrayPointer, items)
	}
	internal := func(kind uint64) uint64 { return 0x1a | kind<<l.imemoShift }
	put(context+l.contextStack, stack)
	put(context+l.contextStackSize, 3*l.frameSize/8)
	put(context+l.contextFrame, stack)
	put(context+l.contextThread, thread)
	put(thread+l.threadContext, context)
	put(thread+l.threadVM, machine)
	put(thread+l.threadRactor, ractor)
	put(machine+l.vmMainRactor, ractor)
	put(vmAt, machine)
	put(fibersAt, node)
	put(machine+l.vmRactors, ractor+l.ractorNext)
	put(ractor+l.ractorNext, machine+l.vmRactors)
	put(ractor+l.ractorThreads, thread+l.threadNext)
	put(thread+l.threadNext, ractor+l.ractorThreads)
	if l.threadNative != absent {
		put(thread+l.threadNative, thread+0x280)
	}
	put(context+l.contextFiber, fiber) // of the thread's context; the other's has the same frames
	b[fiber+l.fiberStatusByte-base] = byte(l.statusResumed)
	own := fiber + l.fiberContext
	put(own+l.contextStack, stack)
	put(own+l.contextStackSize, 3*l.frameSize/8)
	put(own+l.contextFrame, stack)
	put(own+l.contextThread, thread)
	put(own+l.contextFiber, fiber)
	put(node, own)
	put(node+16, 0)
	if l.heapPages != absent && machine+l.vmHeap+8 < base+size {
		put(machine+l.vmHeap, base+0x1c80)
	}
	put(ractor+l.ractorRunning, thread)
	put(stack+l.frameEP, values+0x40)
	put(values+0x40, l.magicCFunc|l.flagLocal)
	put(values+0x40-16, method)
	second := stack + l.frameSize
	put(second+l.frameEP, values+0x80)
	put(second+l.frameISeq, iseq)
	put(second+l.framePC, ranks+8)
	put(values+0x80, l.flagFinish|l.flagLocal)
	put(values+0x80-16, method)
	if round {
		put(values+0x80, l.flagFinish)
		put(values+0x80-16, 0)
		put(values+0x80-8, values+0x80)
	}
	put(iseq, internal(l.imemoISeq))
	put(iseq+l.iseqBody, body)
	put(body+l.bodyType, l.iseqMethod|20<<32) // and its size
	put(body+l.bodyCode, ranks)
	put(body+l.bodyPath, texts)
	put(body+l.bodyLabel, texts+0x40)
	put(body+l.bodyLocal, iseq)
	put(body+l.bodyInfos, infos)
	put(body+l.bodyInfoCount, 1)
	put(infos, 7)
	text(texts, "a.rb")
	text(texts+0x40, "meth")
	put(method, internal(l.imemoMethod))
	put(method+l.methodDefinition, method+0x40)
	put(method+l.methodOwner, class)
	put(method+0x40+l.definitionName, numberOf<<l.idShift)
	put(class, l.typeClass)
	if l.extensionPath == absent && l.extensionVariables == absent {
		put(class, l.typeClass|1<<32)
		put(class+l.classEmbedded+l.extensionValues, shapes+0x80)
		put(shapes+0x80, texts+0x80)
		put(machine+l.vmShapes, shapes)
		put(shapes+l.shapeParent-4, (1<<32-1)<<32) // of the first shape, which has none
		put(shapes+l.shapeSize+l.shapeName, (numberOf+1)<<l.idShift)
		put(shapes+l.shapeSize+l.shapeCount, 1)
		put(shapes+l.shapeSize+l.shapeType, l.shapeVariable)
	} else if l.extensionPath != absent {
		put(class+l.classEmbedded+l.extensionPath, texts+0x80)
		b[class+l.classEmbedded+l.extensionPermanentByte-base] |= 1 << l.extensionPermanentBit
	} else {
		put(class+l.classExtension, machine+0x80)
		put(machine+0x80+l.extensionVariables, machine+0xc0)
		put(machine+0xc0+l.tableBound, 1)
		put(machine+0xc0+l.tableEntries, lists+0x60)
		put(lists+0x68, (numberOf+1)<<l.idShift)
		put(lists+0x70, texts+0x80)
	}
	text(texts+0x80, "Klass")
	text(texts+0xc0, "name")
	text(texts+0x100, "__classpath__")
	put(symbols+l.symbolsLast, numberOf+1)
	put(symbols+l.symbolsIDs, lists)
	list(lists, 1, lists+0x40)
	put(lists+0x40, lists+0x80)
	list(lists+0x80, 1024, base+0x1800-16*numberOf)
	put(base+0x1800, texts+0xc0)
	put(base+0x1810, texts+0x100)
	return b
}

// decode reads the frames of an image, what it tells of the thread, and the tasks.
func decode(l *layout, b []byte) (c chain, tasks []language.Task, err error) {
	table := uint64(symbols)
	r := &runtime{layout: l, arch: amd64.Arch, image: &elf.Image{}}
	r.symbols.Store(&table)
	m := r.memory(memtest.Flat{Lo: base, Data: b})
	defer m.Free()
	c.m, m.vm = m, machine
	err = c.read(context)
	m.queued(ractor, thread)
	at, fibers := uint64(vmAt), uint64(fibersAt)
	r.machine.Store(&at)
	r.fibers.Store(&fibers)
	list, _ := r.Tasks(memtest.Flat{Lo: base, Data: b})
	m.className(class)
	m.ractor(ractor)
	return c, list, err
}

// TestImage reads the frames of each release, and environments that go round.
func TestImage(t *testing.T) {
	for _, release := range releases {
		l, err := layoutOf(release[0], release[1])
		if err != nil {
			t.Fatal(err)
		}
		c, tasks, err := decode(l, newImage(l, false))
		got := ""
		for _, f := range c.frames {
			got += fmt.Sprintf("%s %s:%d, ", f.Function, f.File, f.Line)
		}
		if got != "Klass#name a.rb:7, Klass#meth a.rb:7, " || err != nil || len(c.runs) != 1 || !c.runs[0].ends {
			t.Errorf("%v: %q, %+v, %v", release, got, c.runs, err)
		}
		if l.atLeast(3, 3) && (len(tasks) != 1 || tasks[0].State != "resumed" || len(tasks[0].Frames) != 2) {
			t.Errorf("%v: %+v", release, tasks)
		}
		if _, _, err := decode(l, newImage(l, true)); err == nil {
			t.Errorf("%v: environments that go round have a method", release)
		}
	}
}

func FuzzFrames(f *testing.F) {
	var list []*layout
	for i, release := range releases {
		l, err := layoutOf(release[0], release[1])
		if err != nil {
			f.Fatal(err)
		}
		list = append(list, l)
		f.Add(uint8(i), newImage(l, false))
		f.Add(uint8(i), newImage(l, true))
	}
	f.Fuzz(func(t *testing.T, release uint8, b []byte) {
		bounds.Hold(t, 2*mostTexts, func() { decode(list[int(release)%len(list)], b) })
	})
}
