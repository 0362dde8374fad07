package v8

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/sfwalk/sfwalk/arch"
	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

// smallAsync is like V8 13.6's. The types of objects are numbers of one's own.
func smallAsync() *asyncLayout {
	return &asyncLayout{
		asyncTypes:      asyncTypes{promise: 2115, reaction: 162, fulfilled: 150, rejected: 151, capability: 161, function: 2110, generator: 2111, request: 146},
		functionContext: 40, state: 488,
		reactionNext: 16, reactionReject: 24, reactionFulfill: 32, reactionPromise: 40,
		spaceNew: 1, spaceOld: 2, spaceList: 40, pageHeap: 64, pageBegin: 72, pageFinish: 56, pageSpace: 80,
	}
}

// parked is a thread with nothing but a stack pointer.
type parked uint64

func (parked) ID() int      { return 7 }
func (parked) Name() string { return "node" }
func (sp parked) Registers(r *arch.Registers) error {
	if sp == 0 {
		return errors.New("there are none")
	}
	r.Set(amd64.RSP, uint64(sp))
	return nil
}

// makeTasks makes an isolate in which the function inner waits, which outer awaits, and another
// function waits for a promise that Promise.all makes of two such.
func makeTasks() (data []byte, sp uint64) {
	m := &maker{maps: map[uint16]uint64{}}
	async := smallAsync()
	undefined := m.object(131)
	builtin := m.object(282, small(5), 0, m.text("await"), 0, 0, 0, 0, 0)
	closure := func(first, second uint64) uint64 {
		context := m.object(225, small(4), undefined, undefined, first, second)
		return m.object(2065, undefined, undefined, 0, builtin, context, 0, 0)
	}
	functions := 0
	waits := func(name string, offset int) (generator, promise uint64) {
		functions++
		shared := m.object(282, small(5), 0, m.text(name), 0, 0, 0, 0, 0)
		fn := m.object(2065, undefined, undefined, 0, shared, m.object(225, small(2), undefined, undefined), 0, 0)
		promise = m.object(async.promise, undefined, undefined, small(0), small(0))
		generator = m.object(async.function, undefined, undefined, fn, undefined, undefined, small(offset), small(0), small(0), undefined, promise)
		return generator, promise
	}
	react := func(promise, next, fulfill uint64) uint64 {
		r := m.object(async.reaction, undefined, next, closure(undefined, undefined), fulfill, undefined)
		if promise != 0 {
			m.put(promise, promiseReactions, r)
		}
		return r
	}
	inner, innerPromise := waits("inner", 90)
	outer, outerPromise := waits("outer", 91)
	react(0, small(0), closure(inner, undefined))
	react(innerPromise, small(0), closure(outer, undefined))
	all, _ := waits("all", 92)
	combined := m.object(async.promise, undefined, undefined, small(0), small(0))
	react(combined, small(0), closure(all, undefined))
	capability := m.object(async.capability, combined, undefined, undefined)
	react(outerPromise, small(0), closure(small(2), capability))
	other, otherPromise := waits("other", 93)
	react(otherPromise, small(0), closure(small(2), capability))
	job := m.object(async.fulfilled, undefined, undefined, undefined, closure(other, undefined), undefined)
	m.object(247) // free memory
	// The Maps are objects, too.
	meta := m.room(80)
	binary.LittleEndian.PutUint16(m.data[meta-1-heapAt+12:], 272)
	m.put(meta, 0, meta)
	for _, v := range m.maps {
		m.put(v, 0, meta)
	}
	end := m.room(0) - 1

	// Behind the objects are the heap's structures, the isolate, and the stack.
	structure := func(words ...uint64) uint64 {
		at := m.room(8*len(words)) - 1
		for i, v := range words {
			m.put(at+1, 8*uint64(i), v)
		}
		return at
	}
	ring := structure(0, job, 0, 0, 0, 0, 0, 0)
	queue := structure(1, 1, leastCapacity, 1, ring, 0, 0, 0)
	m.put(queue+1, queueNext, queue)
	m.put(queue+1, queueBefore, queue)
	at := m.room(firstSpaces+32<<10) - 1
	sp = m.room(64) - 1
	heapOf := at + firstSpaces
	m.put(at+1, isolateSelf, at)
	m.put(at+1, stackLimit, sp)
	m.put(at+1, realLimit, sp)
	m.put(at+1, 600, m.maps[247])
	m.put(at+1, 608, m.maps[async.reaction])
	spaces := [4]uint64{}
	for i := 1; i <= 3; i++ {
		space := structure(make([]uint64, spaceWords+8)...)
		m.put(space+1, 8, heapOf)
		m.put(space+1, 16, uint64(i))
		spaces[i] = space
	}
	m.put(spaces[1]+1, 104, heapOf) // a half of the new space, which is empty
	m.put(spaces[1]+1, 112, 1)
	fifth := structure(0, heapOf, 5)
	page := structure(make([]uint64, pageWords+2)...)
	m.put(page+1, async.pageHeap, heapOf)
	m.put(page+1, async.pageBegin, heapAt)
	m.put(page+1, async.pageFinish, end)
	m.put(page+1, async.pageSpace, spaces[2])
	m.put(spaces[2]+1, async.spaceList, page)
	m.put(spaces[2]+1, async.spaceList+8, page)
	for i, v := range []uint64{0, spaces[1], spaces[2], spaces[3], 0, fifth, 0, 0} {
		m.put(at+1, firstSpaces+64+8*uint64(i), v)
	}
	m.put(at+1, firstSpaces+256, queue)
	m.put(sp+1, 16, at)
	return m.data, sp
}

// listed lists the tasks in a memory.
func listed(data []byte, sp uint64) ([]language.Task, error) {
	l := smallLayout()
	l.async = smallAsync()
	e := &engine{layout: l, arch: amd64.Arch, threads: func() ([]target.Thread, error) { return []target.Thread{parked(sp)}, nil }}
	return e.Tasks(memtest.Flat{Lo: heapAt, Data: data})
}

// TestMadeTasks: the isolate that the fuzz test begins with is a good one.
func TestMadeTasks(t *testing.T) {
	list, err := listed(makeTasks())
	if err != nil {
		t.Error(err)
	}
	byName := map[string]language.Task{}
	for _, x := range list {
		byName[x.Frames[0].Function] = x
	}
	inner, all, other := byName["inner"], byName["all"], byName["other"]
	if len(list) != 3 || len(inner.Frames) != 2 || inner.Frames[1].Function != "outer" || len(inner.AwaitedBy) != 1 || inner.AwaitedBy[0] != all.ID || inner.State != "waiting" ||
		len(other.AwaitedBy) != 1 || other.AwaitedBy[0] != all.ID || other.State != "ready" || other.Thread != 7 {
		t.Errorf("%+v", list)
	}
}

// FuzzTasks reads the heap of a malicious process.
func FuzzTasks(f *testing.F) {
	data, sp := makeTasks()
	f.Add(data, uint32(0), uint64(0))
	for i := uint32(0); i < uint32(len(data)); i += 4096 {
		f.Add(data, i, uint64(heapAt+1))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, word uint64) {
		if int(at)+8 <= len(data) {
			data = append([]byte(nil), data...)
			binary.LittleEndian.PutUint64(data[at:], word)
		}
		bounds.Hold(t, 64<<20+64*len(data), func() { listed(data, sp) })
	})
}
