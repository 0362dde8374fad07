package rust

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/sfwalk/sfwalk/arch/amd64"
	"github.com/sfwalk/sfwalk/internal/test/bounds"
	"github.com/sfwalk/sfwalk/internal/test/memtest"
	"github.com/sfwalk/sfwalk/language"
	"github.com/sfwalk/sfwalk/symbol"
	"github.com/sfwalk/sfwalk/target"
	"github.com/sfwalk/sfwalk/value"
)

// Addresses of the memory that is read: of all of it, of a table of tokio's, of a table of a dyn
// Future; and of the function that polls a task.
const (
	fuzzBase  = 0x7f0000000000
	fuzzTable = fuzzBase + 0x400
	fuzzDyn   = fuzzBase + 0x500
	fuzzPoll  = 0x1000
)

// fuzzProgram is a program whose futures have shapes of all kinds.
func fuzzProgram() (r *program, set, future, executing *value.Type) {
	r = &program{
		arch: amd64.Arch, modules: target.NewModules(nil, nil),
		shapes: map[*value.Type]*shape{}, codes: map[uint64]code{}, tables: map[uint64]*value.Type{},
		layouts: map[*value.Type]*layout{}, owners: map[*value.Type]*owned{}, cells: map[uint64]*cell{},
		described: map[uint64]symbol.Ref{}, asyncCells: map[uint64]*asyncCell{},
	}
	named := func() *value.Type { return &value.Type{Kind: value.Struct} }
	set, future, executing = named(), named(), named()
	header, several, pointer, table := named(), named(), named(), named()
	r.layouts[header] = &layout{state: 0, table: 16, poll: 0, trailer: 56, id: 72, hasID: true}
	r.owners[set] = &owned{heads: []uint64{0}, header: header, shards: &shards{8, 16, 24, 8}, pool: &pool{
		to: 32, kind: choice{16, 1, []variant{{labels: [][2]uint64{{0, 0x3f}}}, {}}}, queues: [][]uint64{{0, 8}, {24}},
		deque: deque{data: 0, capacity: 8, first: 16, last: 24, masked: true, size: 16, task: 8},
	}}
	by := &executor{[]uint64{8, 16}, executing}
	r.async = &executors{
		globals: []global{{fuzzBase, *by}},
		task:    &taskLayout{state: 0, awaiter: 8, table: 16, run: 0, layout: 56, future: 72, schedule: 80},
		active: map[*value.Type]*slab{executing: {data: 0, count: 8, size: 24, waker: 8, occupied: 1,
			kind: choice{0, 1, []variant{{labels: [][2]uint64{{0, 0}}}, {}}}}},
	}
	r.asyncCells[fuzzPoll] = &asyncCell{kind: "smol task", future: future, by: by, number: place{8, future}, name: place{16, future}, text: &text{0, 8}}
	r.cells[fuzzPoll] = &cell{kind: "tokio task", future: future, offset: 48}
	r.tables[fuzzDyn] = future
	r.shapes[pointer] = &shape{id: 3, way: byPointer, to: future}
	r.shapes[table] = &shape{id: 4, way: byTable}
	lock := &shape{id: 9, name: "Acquire", way: byLock}
	lockType := named()
	r.shapes[lockType] = lock
	r.shapes[several] = &shape{id: 2, name: "several",
		parts: []part{
			{0, r.shapes[pointer]}, {8, r.shapes[table]}, {24, &shape{id: 5, name: "join", way: byTask, parts: []part{{offset: 0}}}},
			{32, &shape{id: 6, name: "set", way: byLocalSet, to: set, parts: []part{{offset: 0}}}},
			{48, &shape{id: 10, name: "task", way: byAsyncTask, parts: []part{{offset: 8}}}},
			{40, &shape{id: 7, name: "list", way: byList, list: listed{heads: []uint64{0, 8}, next: 16, item: 24, typ: pointer}}},
		},
		choice: &choice{56, 1, []variant{{[][2]uint64{{0, 9}}, []part{{0, r.shapes[table]}}}, {nil, []part{{16, r.shapes[pointer]}}}}},
	}
	r.shapes[future] = &shape{id: 1, name: "future", way: byMachine, typ: future, machine: &machine{0, 1, []state{
		{number: 0, name: "Unresumed", line: 1}, {number: 1, name: "Returned"},
		{number: 3, name: "Suspend0", line: 3, awaitee: part{offset: 8}, typ: several},
		{number: 4, name: "Suspend1", line: 4, awaitee: part{offset: 8}, typ: pointer},
		{number: 5, name: "Suspend2", line: 5, awaitee: part{offset: 8}, typ: table},
		{number: 6, name: "Suspend3", line: 6, awaitee: part{offset: 8}, typ: lockType},
		{number: 7, name: "Suspend4", line: 7, awaitee: part{offset: 8}, typ: future, by: by},
	}}}
	return r, set, future, executing
}

// TestUntyped: a task that waits for a future whose type is not known says so.
func TestUntyped(t *testing.T) {
	for _, known := range []bool{true, false} {
		r, _, future, _ := fuzzProgram()
		if !known {
			r.tables[fuzzDyn] = nil
		}
		b := make([]byte, 0x600)
		b[0] = 5                                            // the future waits for a pointer to dyn Future
		binary.LittleEndian.PutUint64(b[8:], fuzzBase+0x40) // to one that has not begun
		binary.LittleEndian.PutUint64(b[16:], fuzzDyn)      // with its table
		x := r.newTasks(memtest.Flat{Lo: fuzzBase, Data: b})
		x.list = make([]language.Task, 1)
		x.chain(0, fuzzBase, future)
		x.Free()
		if got := x.list[0]; strings.Contains(got.Early, "dyn Future") == known || len(got.Frames) != 1 && !known || len(got.Frames) != 2 && known {
			t.Errorf("the type is known: %t, and the task is %+v", known, got)
		}
	}
}

// FuzzTasks reads what is in memory as tasks of tokio and of async-task, as executors and futures.
func FuzzTasks(f *testing.F) {
	seed := func(state byte) []byte {
		b := make([]byte, 0x600)
		for i := 0; i < len(b); i += 8 {
			binary.LittleEndian.PutUint64(b[i:], fuzzBase+uint64(i/8%5)*0x40)
		}
		put := func(at int, n uint64) { binary.LittleEndian.PutUint64(b[at:], n) }
		put(0x10, fuzzTable)                        // of a task at fuzzBase
		put(0x400, fuzzPoll)                        // its function that polls
		put(0x400+56, 0x80)                         // its trailer
		put(0x400+72, 0x28)                         // its number
		put(0x30, fuzzBase&^0xff|uint64(state)<<56) // the future
		b[0x30] = state
		put(0x30+16, fuzzDyn)
		return b
	}
	for state := range byte(8) {
		f.Add(seed(state))
	}
	r, set, future, executing := fuzzProgram()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		bounds.Hold(t, 48<<20+200*len(data), func() {
			m := memtest.Flat{Lo: fuzzBase, Data: data}
			x := r.newTasks(m)
			defer x.Free()
			x.steps = mostSteps - 1<<12 // what bounds the work is reached
			x.owner(fuzzBase, set)
			x.add(fuzzBase)
			x.executors(nil)
			x.state(fuzzBase, executing)
			x.addAsync(fuzzBase)
			for at := uint64(0); at < 0x80; at += 8 {
				var list []found
				x.parts(fuzzBase+at, r.shapeOf(future), &list, 0)
				x.suspended(fuzzBase+at, future)
				x.runsAt(fuzzBase+at, fuzzPoll, at, true)
			}
			x.rest()
			if len(x.list) > 1<<13 {
				t.Errorf("%d tasks", len(x.list))
			}
		})
	})
}
