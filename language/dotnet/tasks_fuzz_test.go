package dotnet

import (
	"slices"
	"testing"

	"github.com/sfwalk/sfwalk/internal/coreclr"
	"github.com/sfwalk/sfwalk/internal/pages"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/target"
)

const fuzzBase = 0x10000

type bytesAt []byte

func (m bytesAt) ReadMemory(addr uint64, p []byte) (int, error) {
	if addr < fuzzBase || addr-fuzzBase >= uint64(len(m)) {
		return 0, target.ErrUnmapped
	}
	if n := copy(p, m[addr-fuzzBase:]); n < len(p) {
		return n, target.ErrUnmapped
	}
	return len(p), nil
}

// Where objects of the fuzz test have their fields, all types alike.
const (
	flagsAt, continuationAt, machineAt, otherAt = 8, 16, 24, 40
	objectSize                                  = 48
)

// fuzzTypes are the types of objects, which have numbers for addresses of records.
func fuzzTypes() map[uint64]*shape {
	at := func(offset uint32) uint32 { return offset - wordSize }
	task := &shape{table: 8, name: taskType, own: true, read: true, task: true, fields: map[string]uint32{"m_stateFlags": at(flagsAt), "m_continuationObject": at(continuationAt), "m_taskId": at(flagsAt)}}
	types := []*shape{
		task,
		{table: 16, name: boxType, own: true, read: true, task: true, box: true, parent: task, fields: map[string]uint32{"StateMachine": at(machineAt)}},
		{table: 24, name: pooledType, own: true, read: true, box: true, pooled: true, fields: map[string]uint32{"StateMachine": at(machineAt), "Context": at(otherAt)}},
		{table: 32, name: listType, own: true, read: true, fields: map[string]uint32{"_items": at(continuationAt), "_size": at(flagsAt)}},
		{table: 40, name: "System.Action", own: true, read: true, fields: map[string]uint32{"_target": at(continuationAt)}},
		{table: 48, name: "Continuation", own: true, read: true, fields: map[string]uint32{"m_task": at(continuationAt), "m_action": at(otherAt)}},
	}
	all := map[uint64]*shape{}
	for _, x := range types {
		all[x.table] = x
	}
	return all
}

// readAll reads the objects of b as a heap of async methods, one each 48 bytes.
func readAll(b []byte) []language.Task {
	r := &runtime{vm: coreclr.Fake(fuzzBase, fuzzBase), modules: &target.Modules{}, assemblies: map[uint64]*assembly{}, methods: map[methodKey]*method{}}
	var spare pages.Spare
	mem := spare.Of(bytesAt(b))
	t := newTasks(r, mem)
	t.at = fuzzTypes()
	for table, x := range t.at {
		if x.box {
			t.types[table] = &machine{number: int(table), offset: machineAt, object: x.pooled, awaiters: []uint32{8}, function: "f", lines: map[int32]language.Frame{1: {Function: "f", Line: 1}}}
		}
	}
	for at := uint64(fuzzBase); at < fuzzBase+uint64(len(b)); at += objectSize {
		if table := t.word(at); t.wanted(table) {
			t.add(at, table)
		}
	}
	t.link()
	return t.list()
}

// object returns an object of a type, with its fields.
func object(table, flags, continuation, state, awaits, other uint64) (b []byte) {
	for _, v := range []uint64{table, flags, continuation, state, awaits, other} {
		b = order.AppendUint64(b, v)
	}
	return b
}

func fuzzAt(i uint64) uint64 { return fuzzBase + objectSize*i }

// fuzzSeed has a method that awaits two others by way of a task, one of which is awaited by a list
// of actions.
func fuzzSeed() []byte {
	return slices.Concat(
		object(16, 0, 0, 1, fuzzAt(1), 0),
		object(8, 0, fuzzAt(0), 0, 0, 0),
		object(16, 0, fuzzAt(1), 1, 0, 0),
		object(16, 0, fuzzAt(4), 1, 0, 0),
		object(32, 2, fuzzAt(5), 0, 0, 0),
		object(0, 2, fuzzAt(6), fuzzAt(7), 0, 0),
		object(40, 0, fuzzAt(1), 0, 0, 0),
		object(48, 0, fuzzAt(1), 0, 0, 0),
		object(16, isDone, 0, 1, 0, 0),
		object(16, 0, fuzzAt(10), 1, 0, 0),
		object(16, 0, 0, 1, fuzzAt(9), 0),
	)
}

// TestTasksSeed holds that the tasks of the seed are found, so that FuzzTasks begins at what is
// right.
func TestTasksSeed(t *testing.T) {
	list := readAll(fuzzSeed())
	var by []uint64
	frames := 0
	for _, x := range list {
		by, frames = append(by, x.AwaitedBy...), frames+len(x.Frames)
	}
	if len(list) != 4 || frames != 5 || !slices.Equal(by, []uint64{fuzzAt(0), fuzzAt(0)}) || list[3].ID != fuzzAt(10) {
		t.Errorf("%+v", list)
	}
}

// FuzzTasks has objects of any content, which lead to each other in any way.
func FuzzTasks(f *testing.F) {
	f.Add(fuzzSeed())
	f.Fuzz(func(t *testing.T, b []byte) {
		bounds.Hold(t, 4<<20+1000*len(b), func() {
			n := 0
			for _, x := range readAll(b) {
				n += len(x.Frames)
			}
			if n > len(b)/objectSize+1 {
				t.Errorf("%d frames", n)
			}
		})
	})
}
